/** Waiting times of both windows at their edges, where a property test rarely looks. */
import { expect, test } from 'vitest';
import { takeBucket } from '../../../src/limits/bucket.ts';
import { takeSliding } from '../../../src/limits/sliding-log.ts';
import { oneFits, rolled, untilOneFits } from '../../../src/limits/two-windows.ts';

test('an exact limit keeps a few uses to the millisecond, and many in a bounded number of groups', () => {
  let log: readonly number[] = [];
  const useAt = (nowMs: number): void => {
    ({ log } = takeSliding(log, { count: 1000, windowMs: 64_000 }, 1, nowMs));
  };
  for (const nowMs of [0, 1, 3]) useAt(nowMs);
  expect(log).toEqual([0, 1, 1, 1, 3, 1]);
  for (let nowMs = 10; nowMs < 9000; nowMs += 10) useAt(nowMs);
  expect(log.length).toBeLessThanOrEqual(2 * 128);
});

test('after its count was lowered, an exact limit waits until enough uses have left', () => {
  const log = [0, 1, 10, 1, 20, 1];
  const waiting = (count: number): number => takeSliding(log, { count, windowMs: 100 }, 1, 50).retryAfterMs;
  expect([4, 3, 2, 1].map(waiting)).toEqual([50, 50, 60, 70]);
});

test('a use leaves an exact window at its end, not before', () => {
  const meter = { count: 1, windowMs: 100 };
  expect(takeSliding([0, 1], meter, 1, 99)).toMatchObject({ granted: 0, remaining: 0, retryAfterMs: 1 });
  expect(takeSliding([0, 1], meter, 1, 100)).toMatchObject({ granted: 1, log: [100, 1] });
});

test('a fast limit with room for one more use waits for nothing', () => {
  const meter = { count: 5, windowMs: 100 };
  expect(untilOneFits({ window: 1, before: 0, now: 4 }, meter, 150)).toBe(0);
  expect(untilOneFits({ window: 1, before: 4, now: 0 }, meter, 100)).toBe(0);
  // As after a clock that was set back into the window before.
  expect(untilOneFits({ window: 1, before: 4, now: 0 }, meter, 60)).toBe(0);
});

test('a fast limit fits one use up to its count, and none above it', () => {
  const meter = { count: 5, windowMs: 100 };
  expect([3, 4, 5].map((now) => oneFits({ window: 1, before: 0, now }, meter, 150))).toEqual([true, true, false]);
  expect([2, 3].map((now) => oneFits({ window: 1, before: 4, now }, meter, 150))).toEqual([true, false]);
});

test('two windows keep what still counts when they roll', () => {
  const sums = { window: 5, before: 7, now: 3 };
  expect([400, 500, 599].map((nowMs) => rolled(sums, nowMs, 100))).toEqual([sums, sums, sums]);
  expect(rolled(sums, 600, 100)).toEqual({ window: 6, before: 3, now: 0 });
  expect(rolled(sums, 700, 100)).toEqual({ window: 7, before: 0, now: 0 });
  expect(rolled(sums, 399, 100)).toEqual({ window: 3, before: 3, now: 0 });
});

test('a bucket with room left waits for nothing', () => {
  const meter = { count: 2, windowMs: 100 };
  expect(takeBucket({ level: 0, atMs: 0 }, meter, 1, 0)).toMatchObject({ granted: 1, remaining: 1, retryAfterMs: 0 });
  expect(takeBucket({ level: 0, atMs: 0 }, meter, 3, 0)).toMatchObject({ granted: 2, remaining: 0, retryAfterMs: 50 });
});
