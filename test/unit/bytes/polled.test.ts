/** Waiting for what another request leaves in memory. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { polled, within } from '../../../src/bytes/polled.ts';
import { expectRows } from '../../support/rows.ts';

/** A clock that only sleeping moves. */
function clock() {
  const time = { nowMs: 0, pauses: 0 };
  const sleep = async (ms: number): Promise<void> => {
    time.nowMs += ms;
    time.pauses++;
  };
  return { time, sleep };
}

test('what is there already is found without a wait', async () => {
  const { time, sleep } = clock();
  expect(await polled(() => 'found', 100, sleep)).toBe('found');
  expect(time.nowMs).toBe(0);
});

test('what is there after a time is found a quarter later at most', () =>
  expectRows([1, 10, 400, 3000], async (afterMs) => {
    const { time, sleep } = clock();
    expect(await polled(() => (time.nowMs >= afterMs ? 'found' : undefined), 4000, sleep)).toBe('found');
    expect(time.nowMs).toBeLessThanOrEqual(afterMs * 1.25 + 2);
  }));

test('what never comes ends the wait on time, with few looks', async () => {
  const { time, sleep } = clock();
  expect(await polled(() => undefined, 1500, sleep)).toBeUndefined();
  expect(time.nowMs).toBe(1500);
  expect(time.pauses).toBeLessThan(60);
});

describe('work that is waited for with a limit', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('that ends in time gives its result, and leaves no timer', async () => {
    vi.useFakeTimers();
    expect(await within(Promise.resolve('done'), 1000)).toBe('done');
    expect(vi.getTimerCount()).toBe(0);
  });

  test('that fails in time fails the wait', async () => {
    await expect(within(Promise.reject(new Error('gone')), 1000)).rejects.toThrow('gone');
  });

  test('that takes longer ends the wait on time', async () => {
    vi.useFakeTimers();
    let waited = false;
    const wait = within(new Promise(() => {}), 1000).then(() => (waited = true));
    await vi.advanceTimersByTimeAsync(999);
    expect(waited).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(waited).toBe(true);
    await wait;
  });
});
