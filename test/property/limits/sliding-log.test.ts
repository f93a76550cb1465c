/** The sliding log against a list of every use, on clocks that stand still, run and go back. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type SlidingLog, takeSliding } from '../../../src/limits/sliding-log.ts';

interface Ask {
  afterMs: number;
  asked: number;
}

const meter = fc.record({ count: fc.integer({ min: 1, max: 400 }), windowMs: fc.integer({ min: 1000, max: 60_000 }) });
const asks = (least: number) =>
  fc.array(fc.record({ afterMs: fc.integer({ min: least, max: 3000 }), asked: fc.integer({ min: 1, max: 40 }) }), {
    minLength: 1,
    maxLength: 300,
  });

/** The times of the uses that passed. */
function passed({ count, windowMs }: { count: number; windowMs: number }, all: readonly Ask[], startMs: number) {
  let log: SlidingLog = [];
  let nowMs = startMs;
  const uses: number[] = [];
  const answers = all.map(({ afterMs, asked }) => {
    nowMs += afterMs;
    const taking = takeSliding(log, { count, windowMs }, asked, nowMs);
    log = taking.log;
    for (let use = 0; use < taking.granted; use++) uses.push(nowMs);
    return { nowMs, asked, ...taking };
  });
  return { uses, answers };
}

/** Whether no window holds more than `count` of them. `uses` ascend. */
function isWithin(uses: readonly number[], count: number, windowMs: number): boolean {
  return uses.every((timeMs, index) => index < count || timeMs - uses[index - count]! >= windowMs);
}

describe('a sliding log', () => {
  test('lets no more than the count through in any window', () => {
    fc.assert(
      fc.property(meter, asks(0), (given, all) => {
        const { uses } = passed(given, all, 1_700_000_000_000);
        expect(isWithin(uses, given.count, given.windowMs)).toBe(true);
      }),
    );
  });

  test('lets as many through as asked for while there is room, to a 64th of the window', () => {
    fc.assert(
      fc.property(meter, asks(0), (given, all) => {
        const { answers } = passed(given, all, 1_700_000_000_000);
        const { count, windowMs } = given;
        const sureMs = windowMs + Math.ceil(windowMs / 64);
        const earlier: number[] = [];
        for (const { nowMs, asked, granted } of answers) {
          const counted = earlier.filter((timeMs) => timeMs > nowMs - sureMs).length;
          expect(granted).toBeGreaterThanOrEqual(Math.min(asked, count - counted));
          for (let use = 0; use < granted; use++) earlier.push(nowMs);
        }
      }),
    );
  });

  test('with up to 128 times in a window it is exact to the millisecond', () => {
    const exact = fc.record({ count: fc.integer({ min: 1, max: 128 }), windowMs: fc.constant(10_000) });
    fc.assert(
      fc.property(exact, asks(0), (given, all) => {
        const earlier: number[] = [];
        for (const { nowMs, asked, granted, remaining } of passed(given, all, 5_000_000).answers) {
          const counted = earlier.filter((timeMs) => timeMs > nowMs - given.windowMs).length;
          expect(granted).toBe(Math.min(asked, given.count - counted));
          expect(remaining).toBe(given.count - counted - granted);
          for (let use = 0; use < granted; use++) earlier.push(nowMs);
        }
      }),
    );
  });

  test('says when the next use passes, not earlier and not later', () => {
    fc.assert(
      fc.property(meter, asks(0), (given, all) => {
        const { answers } = passed(given, all, 1_700_000_000_000);
        const { nowMs, log, remaining, retryAfterMs } = answers.at(-1)!;
        expect(remaining === 0).toBe(retryAfterMs > 0);
        expect(takeSliding(log, given, 1, nowMs + retryAfterMs).granted).toBe(1);
        if (remaining === 0) expect(takeSliding(log, given, 1, nowMs + retryAfterMs - 1).granted).toBe(0);
      }),
    );
  });

  test('a clock that goes back gives nobody another window, and locks nobody out for longer than one', () => {
    fc.assert(
      fc.property(meter, fc.integer({ min: 1, max: 10 ** 9 }), (given, backMs) => {
        const { count, windowMs } = given;
        const nowMs = 1_700_000_000_000;
        const { log } = takeSliding([], given, count, nowMs);
        const after = takeSliding(log, given, 1, nowMs - backMs);
        expect(after.granted).toBe(0);
        expect(after.retryAfterMs).toBeLessThanOrEqual(windowMs);
        expect(takeSliding(after.log, given, count, nowMs - backMs + windowMs).granted).toBe(count);
      }),
    );
  });

  test('keeps few groups however many uses there are', () => {
    let log: SlidingLog = [];
    for (let nowMs = 1_000_000; nowMs < 1_060_000; nowMs += 7) {
      log = takeSliding(log, { count: 1_000_000, windowMs: 60_000 }, 3, nowMs).log;
      expect(log.length).toBeLessThanOrEqual(2 * 129);
    }
  });

  test('a count that was lowered refuses until enough uses have left', () => {
    const { log } = takeSliding([], { count: 100, windowMs: 1000 }, 100, 5000);
    const lowered = takeSliding(log, { count: 10, windowMs: 1000 }, 1, 5400);
    expect(lowered).toMatchObject({ granted: 0, remaining: 0, retryAfterMs: 600 });
  });
});
