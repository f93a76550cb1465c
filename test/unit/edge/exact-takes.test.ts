/** Takes from exact limits: one call for many, refusals that are remembered, and an object that does not answer. */
import { describe, expect, test } from 'vitest';
import type { LimitTake, LimitTakings } from '../../../src/contract/edge/limits.ts';
import { ExactTakes } from '../../../src/edge/limits/exact-takes.ts';
import { serviceSaid } from '../../support/service-client.ts';

const NOW_MS = 1_800_000_000_000;
const wish = (key = 'a', count = 50) => ({ key, algorithm: 'sliding' as const, count, windowMs: 60_000 });

/** `left`: uses of each key that the object still grants; `null`: it does not answer. */
function takesWith(left: Record<string, number> | null) {
  const clock = { nowMs: NOW_MS };
  const calls: (readonly LimitTake[])[] = [];
  const counted: string[] = [];
  const works: Promise<unknown>[] = [];
  const answer = (wanted: readonly LimitTake[]): LimitTakings | null =>
    left &&
    wanted.map(({ key, asked: uses }) => {
      const granted = Math.min(uses, left[key] ?? 0);
      left[key] = (left[key] ?? 0) - granted;
      return [granted, left[key], left[key] > 0 ? 0 : 30_000] as const;
    });
  const takes = new ExactTakes({
    ask: async (wanted) => {
      calls.push(wanted);
      return serviceSaid(answer(wanted));
    },
    now: () => clock.nowMs,
    sleep: () => Promise.resolve(),
    count: (name) => counted.push(name),
  });
  /** Milliseconds to wait; `null`: the object did not answer. */
  const take = async (key?: string, count?: number): Promise<number | null> => {
    const taking = await takes.take(wish(key, count), clock.nowMs, (work) => works.push(work));
    return taking.ok ? taking.value : null;
  };
  return { take, calls, counted, clock, works };
}

describe('takes of one isolate', () => {
  test('for one key at once are one question, and as many pass as were granted', async () => {
    const { take, calls, works } = takesWith({ a: 50 });
    const answers = await Promise.all(Array.from({ length: 200 }, () => take()));
    expect(answers.filter((waitMs) => waitMs === 0)).toHaveLength(50);
    expect(answers.filter((waitMs) => waitMs === 30_000)).toHaveLength(150);
    expect(calls).toEqual([[{ ...wish(), asked: 200 }]]);
    expect(works).toHaveLength(1);
  });

  test('for several keys at once are one call', async () => {
    const { take, calls } = takesWith({ a: 1, b: 0 });
    expect(await Promise.all([take('a'), take('b'), take('a')])).toEqual([0, 30_000, 30_000]);
    expect(calls).toHaveLength(1);
  });

  test('for more keys than a call holds are several calls', async () => {
    const { take, calls } = takesWith(Object.fromEntries(Array.from({ length: 100 }, (_, key) => [`k${key}`, 1])));
    const answers = await Promise.all(Array.from({ length: 100 }, (_, key) => take(`k${key}`)));
    expect(new Set(answers)).toEqual(new Set([0]));
    expect(calls.map((asked) => asked.length)).toEqual([64, 36]);
  });
});

test('a key that was refused is not asked for again until it could be granted', async () => {
  const { take, calls, clock } = takesWith({ a: 1 });
  await take();
  clock.nowMs += 10_000;
  expect(await take()).toBe(20_000);
  expect(calls).toHaveLength(1);
  clock.nowMs += 20_000;
  await take();
  expect(calls).toHaveLength(2);
});

test('a limit that was raised is asked again at once', async () => {
  const { take, calls } = takesWith({ a: 1 });
  await take('a', 3);
  expect(await take('a', 3)).toBe(30_000);
  await take('a', 100);
  expect(calls).toHaveLength(2);
});

test('a refusal ends when the clock goes back', async () => {
  const { take, calls, clock } = takesWith({ a: 1 });
  await take();
  clock.nowMs -= 3_600_000;
  await take();
  expect(calls).toHaveLength(2);
});

test('an object that does not answer is left alone for two seconds', async () => {
  const { take, calls, counted, clock } = takesWith(null);
  expect(await Promise.all([take(), take()])).toEqual([null, null]);
  clock.nowMs += 1000;
  expect(await take()).toBeNull();
  expect([calls.length, counted]).toEqual([1, ['limit_take_failures']]);
  clock.nowMs += 1000;
  await take();
  expect(calls).toHaveLength(2);
});

test('a request whose batch is lost with the request that opened it goes on without an answer', async () => {
  const { clock } = takesWith({ a: 50 });
  const takes = new ExactTakes({
    ask: () => new Promise(() => {}),
    now: () => clock.nowMs,
    sleep: (ms) => (ms > 1 ? Promise.resolve() : new Promise(() => {})),
    count: () => {},
  });
  void takes.take(wish(), NOW_MS, () => {});
  expect(await takes.take(wish(), NOW_MS + 1, () => {})).toMatchObject({ ok: false });
});
