/** What a session has left, from what it asked for and what it worked for. */
import { assert, integer, property } from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ALLOWANCE_UNITS, paidWorkAt, PIECES_MAX, readPace, unitsOf, type PaidWork } from '../../../src/risk/pace.ts';

const settings = { html: 60, json: 600 };
const paid = (now: number, before = 0): PaidWork => ({ window: 7, before, now });
const CALL = unitsOf('json', settings);
/** After so many calls. */
const readAfter = (work: PaidWork, now: number, before = 0) =>
  readPace(work, { before: before * CALL, now: now * CALL });
const state = (work: PaidWork, now: number, before = 0) => readAfter(work, now, before).state;
/** Calls until the state is no longer `within`. */
const reach = (work: PaidWork, before = 0): number => {
  let units = 0;
  while (state(work, units, before) === 'within') units += 1;
  return units;
};

describe('a session without work', () => {
  test('has four pages or forty calls', () => {
    expect(reach(paid(0))).toBe(40);
    expect(Math.round(unitsOf('html', settings) / CALL)).toBe(10);
  });

  test('has a fifteenth of its own allowance, however many pages and calls that is', () => {
    const ofPages = (html: number) => Math.round(ALLOWANCE_UNITS / unitsOf('html', { html, json: 600 }));
    expect([1, 60, 600, 1000, 100_000].map(ofPages)).toEqual([1, 60, 600, 1000, 100_000]);
  });

  test('is challenged after that, and refused after one more allowance', () => {
    expect([39, 40, 639, 640].map((used) => state(paid(0), used))).toEqual(['within', 'spent', 'spent', 'beyond']);
  });
});

describe('a session that works', () => {
  test('gets an allowance for 8 pieces, another for 16, and another for 32', () => {
    expect([8, 24, 56].map((pieces) => reach(paid(pieces)))).toEqual([640, 1240, 1840]);
    expect(reach(paid(500))).toBe(1840);
  });

  test('is told to work until a quarter of an allowance is left, and not after the last piece', () => {
    const isDue = (pieces: number, used: number) => readAfter(paid(pieces), used).isWorkDue;
    expect([isDue(0, 0), isDue(1, 0), isDue(2, 0)]).toEqual([true, true, false]);
    expect([isDue(8, 488), isDue(8, 489), isDue(8, 490)]).toEqual([false, false, true]);
    expect([isDue(PIECES_MAX - 1, 5000), isDue(PIECES_MAX, 5000)]).toEqual([true, false]);
  });

  test('keeps what it did not use for one window, and no debt', () => {
    expect(reach(paid(0, 2), 100)).toBe(40 + 50);
    expect(reach(paid(0, 2), 1000)).toBe(40);
    expect(paidWorkAt(paid(5, 3), 8)).toEqual({ window: 8, before: 5, now: 0 });
    expect(paidWorkAt(paid(5, 3), 9)).toEqual({ window: 9, before: 0, now: 0 });
  });

  test('pays five times for a call once it has used an allowance', () => {
    const weightAfter = (calls: number) => readAfter(paid(24), calls).callWeight;
    expect([0, 599, 601, 1200].map(weightAfter)).toEqual([1, 1, 5, 5]);
    expect(unitsOf('json', settings, 5)).toBe(5 * CALL);
    expect(unitsOf('html', settings, 5)).toBe(unitsOf('html', settings));
  });

  test('is not worse off where the clock that minted its JWT is ahead', () => {
    expect(paidWorkAt(paid(5, 3), 6)).toEqual({ window: 6, before: 0, now: 3 });
  });
});

test('more work never leaves less, and more use never leaves more', () => {
  const ranks = { beyond: 0, spent: 1, within: 2 };
  const some = integer({ min: 0, max: 70 });
  const units = integer({ min: 0, max: 3000 });
  assert(
    property(some, some, units, units, (before, now, usedBefore, used) => {
      const rank = (work: PaidWork, of: number) => ranks[state(work, of, usedBefore)];
      expect(rank(paid(now + 1, before), used)).toBeGreaterThanOrEqual(rank(paid(now, before), used));
      expect(rank(paid(now, before), used + 1)).toBeLessThanOrEqual(rank(paid(now, before), used));
    }),
  );
});
