/**
 * A stock of sessions: what a script gets from one that it keeps for its day and uses evenly. Nobody can wait for a day, so
 * the pages are counted by the functions that the edge and the service count with, and the work at its measured price.
 */
import { instancePolicy } from '../../src/contract/management/instance-policy.ts';
import {
  type Advance,
  advanceAt,
  PACE_WINDOW_MS,
  type PaceUse,
  type PaidWork,
  paidWorkAt,
  readPace,
  unitsOf,
} from '../../src/risk/pace.ts';

const WINDOWS_OF_A_DAY = 86_400_000 / PACE_WINDOW_MS;

/** Pages of a session that works for so many pieces in each window of its day, and asks for all that it can get. */
export function pagesOfADay(piecesOfAWindow: number): number {
  const page = unitsOf('html', instancePolicy.parse({}).pace);
  let advance: Advance | undefined;
  let paid: PaidWork = { window: 0, before: 0, now: 0, worked: 0, advanced: 0 };
  let used: PaceUse = { before: 0, now: 0 };
  let pages = 0;
  for (let window = 1; window <= WINDOWS_OF_A_DAY; window++) {
    advance = advanceAt(advance, paid.worked, window);
    paid = { ...paidWorkAt(paid, window), advanced: advance.window, now: piecesOfAWindow };
    if (piecesOfAWindow > 0) paid.worked = window;
    used = { before: used.now, now: 0 };
    for (; readPace(paid, used).state === 'within'; used.now += page) pages += 1;
  }
  return pages;
}

export function piecesOfADay(piecesOfAWindow: number): number {
  return piecesOfAWindow * WINDOWS_OF_A_DAY;
}
