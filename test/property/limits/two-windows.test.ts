/** The sliding window from two sums: its bound, its waiting time, and clocks that go back. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { oneFits, rolled, type TwoWindows, untilOneFits } from '../../../src/limits/two-windows.ts';

const WINDOW_MS = 10_000;
const START_MS = 170_000_000 * WINDOW_MS;
const empty: TwoWindows = { window: 0, before: 0, now: 0 };

function take(sums: TwoWindows, count: number, nowMs: number): TwoWindows | null {
  const current = rolled(sums, nowMs, WINDOW_MS);
  return oneFits(current, { count, windowMs: WINDOW_MS }, nowMs) ? { ...current, now: current.now + 1 } : null;
}

describe('two windows', () => {
  test('let less than twice the count through in any sliding window, and the count in a fixed one', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 300 }),
        (count, gaps) => {
          let sums = empty;
          let nowMs = START_MS;
          const uses: number[] = [];
          for (const gap of gaps) {
            nowMs += gap;
            const taken = take(sums, count, nowMs);
            if (!taken) continue;
            sums = taken;
            uses.push(nowMs);
          }
          for (const [index, timeMs] of uses.entries()) {
            const within = uses.slice(index).filter((other) => other < timeMs + WINDOW_MS).length;
            expect(within).toBeLessThan(2 * count + 1);
          }
          const byWindow = Map.groupBy(uses, (timeMs) => Math.floor(timeMs / WINDOW_MS));
          for (const [, inWindow] of byWindow) expect(inWindow.length).toBeLessThanOrEqual(count);
        },
      ),
    );
  });

  test('say when one more use fits: then it does, and not a millisecond before', () => {
    const sums = fc.record({ before: fc.nat(60), now: fc.nat(60), passedMs: fc.integer({ min: 0, max: 9999 }) });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), sums, (count, { before, now, passedMs }) => {
        const nowMs = START_MS + passedMs;
        const given = { window: START_MS / WINDOW_MS, before, now };
        const waitMs = untilOneFits(given, { count, windowMs: WINDOW_MS }, nowMs);
        const fits = (atMs: number): boolean => take(given, count, atMs) !== null;
        expect(fits(nowMs + waitMs)).toBe(true);
        if (waitMs > 0) expect(fits(nowMs + waitMs - 1)).toBe(false);
      }),
    );
  });

  test('a clock that goes back gives nobody another window, and locks nobody out for longer than three', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 10 ** 9 }), (count, backMs) => {
        let sums = empty;
        for (let use = 0; use < count; use++) sums = take(sums, count, START_MS) ?? sums;
        expect(take(sums, count, START_MS)).toBeNull();
        const backAtMs = START_MS - backMs;
        const current = rolled(sums, backAtMs, WINDOW_MS);
        expect(current.before + current.now).toBe(count);
        expect(take(current, count, backAtMs + 3 * WINDOW_MS)).not.toBeNull();
      }),
    );
  });
});
