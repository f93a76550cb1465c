/** What a session has left, from what it asked for and what it worked for. */
import { array, assert, integer, oneof, property, record, constant } from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Advance,
  advanceAt,
  ALLOWANCE_UNITS,
  paidWorkAt,
  PIECES_MAX,
  readPace,
  unitsOf,
  type PaidWork,
} from '../../../src/risk/pace.ts';

const settings = { html: 60, json: 600 };
const WINDOW = 7;
/** With an advance in this window. */
const paid = (now: number, before = 0): PaidWork => ({
  window: WINDOW,
  before,
  now,
  worked: now > 0 ? WINDOW : before > 0 ? WINDOW - 1 : 0,
  advanced: WINDOW,
});
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
    expect(paidWorkAt(paid(5, 3), 8)).toMatchObject({ window: 8, before: 5, now: 0 });
    expect(paidWorkAt(paid(5, 3), 9)).toMatchObject({ window: 9, before: 0, now: 0 });
  });

  test('pays five times for a call once it has used an allowance', () => {
    const weightAfter = (calls: number) => readAfter(paid(24), calls).callWeight;
    expect([0, 599, 601, 1200].map(weightAfter)).toEqual([1, 1, 5, 5]);
    expect(unitsOf('json', settings, 5)).toBe(5 * CALL);
    expect(unitsOf('html', settings, 5)).toBe(unitsOf('html', settings));
  });

  test('is not worse off where the clock that minted its JWT is ahead', () => {
    expect(paidWorkAt(paid(5, 3), 6)).toMatchObject({ window: 6, before: 0, now: 3 });
    expect(reach(paidWorkAt(paid(0), 6))).toBe(40);
  });
});

describe('an advance', () => {
  const seenIn = (window: number, work: PaidWork) => paidWorkAt(work, window);

  test('is there once: what was not used of it in its window is there in the next, and not later', () => {
    expect(reach(seenIn(8, paid(0)), 10)).toBe(30);
    expect(reach(seenIn(8, paid(0)), 50)).toBe(0);
    expect(reach(seenIn(9, paid(0)))).toBe(0);
    expect(reach(seenIn(8, paid(2)), 150)).toBe(40);
  });

  test('is worked for in its window, however much is left of the window before', () => {
    const isDue = (work: PaidWork) => readAfter(work, 0).isWorkDue;
    expect(isDue(paid(0, 8))).toBe(true);
    expect(isDue({ ...paid(0, 8), advanced: WINDOW - 1 })).toBe(false);
    expect(isDue(paid(2, 8))).toBe(false);
  });

  test('is given for the opening, and for each window of work once', () => {
    const opening = advanceAt(undefined, 0, 7);
    expect(opening).toEqual({ window: 7, worked: 0 });
    expect(advanceAt(opening, 0, 8)).toBe(opening);
    expect(advanceAt(opening, 7, 7)).toBe(opening);
    const second = advanceAt(opening, 7, 30);
    expect(second).toEqual({ window: 30, worked: 7 });
    expect(advanceAt(second, 7, 30)).toBe(second);
    expect(advanceAt(second, 7, 31)).toBe(second);
  });

  test('is never given more often than the session has worked, whichever of its JWTs are renewed', () => {
    const step = record({
      act: oneof(constant('wait'), constant('work'), constant('renew')),
      jwt: integer({ min: 0 }),
    });
    assert(
      property(array(step, { maxLength: 60 }), (steps) => {
        let window = WINDOW;
        let advance: Advance = advanceAt(undefined, 0, window);
        const jwts = [paid(0)];
        const [advanced, worked] = [new Set([window]), new Set<number>()];
        for (const { act, jwt } of steps) {
          const known = paidWorkAt(jwts[jwt % jwts.length]!, window);
          if (act === 'wait') window += 1;
          if (act === 'work') {
            worked.add(window);
            jwts.push({ ...known, now: known.now + 1, worked: window });
          }
          if (act === 'renew') {
            advance = advanceAt(advance, known.worked, window);
            advanced.add(advance.window);
            jwts.push({ ...known, advanced: advance.window });
          }
        }
        expect(advanced.size).toBeLessThanOrEqual(1 + worked.size);
      }),
    );
  });

  test('comes back to a visitor who works when they are told to, however long they stay away', () => {
    assert(
      property(array(record({ away: integer({ min: 0, max: 30 }), pages: integer({ min: 1, max: 4 }) })), (visits) => {
        let [window, work, advance] = [WINDOW, paid(0), advanceAt(undefined, 0, WINDOW)];
        const used = new Map<number, number>();
        const read = () => readPace(work, { before: used.get(window - 1) ?? 0, now: used.get(window) ?? 0 });
        for (const [index, { away, pages }] of visits.entries()) {
          // It is opened by its first page.
          if (index > 0) window += away;
          work = paidWorkAt(work, window);
          advance = advanceAt(advance, work.worked, window);
          work = { ...work, advanced: advance.window };
          for (let page = 0; page < pages; page++) {
            expect(read().state).toBe('within');
            used.set(window, (used.get(window) ?? 0) + 10 * CALL);
          }
          while (read().isWorkDue) work = { ...work, now: work.now + 1, worked: window };
        }
      }),
    );
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
