/**
 * What a session may ask for at a person's pace, and what its browser works for beyond that. Pages and calls are counted
 * in windows of ten minutes. A small part of the allowance is advanced; for the rest, the protect script solves small
 * pieces of work in the background, and the session's JWT says how many it has solved. Each further allowance costs twice
 * as much as the one before. Pure: the edge counts and decides with it, and the service decides whether more work is due.
 */
import type { PathType } from '../contract/vocabulary.ts';

export const PACE_WINDOW_MS = 600_000;

/** Pages, and calls for data, that one allowance holds. Where either is 0, sessions are not metered. */
export type PaceSettings = Readonly<Record<PathType, number>>;

/** Pieces of work that a session has solved in window number `window` and in the window before it. */
export interface PaidWork {
  window: number;
  before: number;
  now: number;
  /** The window of its last piece; 0: it has solved none. */
  worked: number;
  /** The last window that it has an advance for. */
  advanced: number;
}

/** The last advance of a session. `worked`: the window of the work that earned it. */
export interface Advance {
  window: number;
  worked: number;
}

/** Of an allowance: small enough that every page and every call is a whole number of them. */
export const ALLOWANCE_UNITS = 1_000_000;

/** What a session asked for in the same windows, in units. */
export interface PaceUse {
  before: number;
  now: number;
}

/** Four pages or forty calls at the defaults: what a session has before its browser has worked. */
const ADVANCE_SHARE = 1 / 15;
/** The script works ahead until this share of an allowance is left, so that ten tabs opened at once find room. */
const AHEAD_SHARE = 1 / 4;
const PIECES_OF_ALLOWANCE = 8;
/** Beyond them, work buys nothing until the window is over. */
const ALLOWANCES = 3;
/** A page of an application makes ten calls. Who makes more than an allowance of them in ten minutes is a program: half a page. */
const CALL_WEIGHT_LATER = 5;
/** 8 pieces for the first allowance, 16 for the second, 32 for the third. */
export const PIECES_MAX = PIECES_OF_ALLOWANCE * (2 ** ALLOWANCES - 1);

export function paceWindow(nowMs: number): number {
  return Math.floor(nowMs / PACE_WINDOW_MS);
}

export function isMetered({ html, json }: PaceSettings): boolean {
  return html > 0 && json > 0;
}

/** Units of one page, or of one call, which counts `callWeight` times. */
export function unitsOf(pathType: PathType, settings: PaceSettings, callWeight = 1): number {
  const times = pathType === 'json' ? callWeight : 1;
  return times * Math.max(1, Math.round(ALLOWANCE_UNITS / settings[pathType]));
}

/** The same work, seen from window number `window`. What is older than two windows counts nothing. */
export function paidWorkAt(paid: PaidWork, window: number): PaidWork {
  // The clock that minted the JWT is ahead: its window has not begun here.
  if (paid.window === window + 1) return { ...paid, window, before: 0, now: paid.before };
  if (paid.window >= window) return paid;
  return { ...paid, window, before: paid.window === window - 1 ? paid.now : 0, now: 0 };
}

/**
 * The advance of a session that is renewed in window number `window`. There is one for its opening, and one more for each
 * window in which it worked. So a session that is kept and never works has nothing more, and an old JWT brings none again.
 */
export function advanceAt(last: Advance | undefined, worked: number, window: number): Advance {
  const isEarned = last === undefined || (window > last.window && worked > last.worked);
  return isEarned ? { window, worked } : last;
}

/** Allowances that so many pieces of work are worth. */
function allowancesOf(pieces: number): number {
  let left = pieces;
  let allowances = 0;
  for (let price = PIECES_OF_ALLOWANCE; left > 0 && price <= PIECES_MAX; price *= 2) {
    allowances += Math.min(left, price) / price;
    left -= price;
  }
  return Math.min(ALLOWANCES, allowances);
}

/**
 * Units that are left now. Below 0 the session has used more than it worked for. What it had in the window before and did
 * not use is still there; what was used beyond it is forgotten.
 */
function unitsLeft({ window, before, now, advanced }: PaidWork, use: PaceUse): number {
  const carried = Math.max(0, unitsFor(before, advanced === window - 1) - use.before);
  return carried + unitsFor(now, advanced >= window) - use.now;
}

function unitsFor(pieces: number, hasAdvance: boolean): number {
  return Math.round((allowancesOf(pieces) + (hasAdvance ? ADVANCE_SHARE : 0)) * ALLOWANCE_UNITS);
}

/** `within`: nothing changes. `spent`: the site's challenge. `beyond`: 429, whatever was solved. */
export type PaceState = 'within' | 'spent' | 'beyond';

export interface PaceReading {
  state: PaceState;
  /** The script should work for more. */
  isWorkDue: boolean;
  /** How many times a call counts now. */
  callWeight: number;
}

/** `paid` is as of the window that `use` ends with. */
export function readPace(paid: PaidWork, use: PaceUse): PaceReading {
  const left = unitsLeft(paid, use);
  // The script works for a piece in each window that has an advance, so that it earns the next one.
  const isOwed = paid.advanced > paid.worked && paid.now === 0;
  const state = left > 0 ? 'within' : left > -ALLOWANCE_UNITS ? 'spent' : 'beyond';
  return {
    state,
    isWorkDue: (isOwed || left < AHEAD_SHARE * ALLOWANCE_UNITS) && paid.now < PIECES_MAX,
    callWeight: use.now < ALLOWANCE_UNITS ? 1 : CALL_WEIGHT_LATER,
  };
}

/** The work of a piece, as a `powDifficulty`: 0.67 s of a desktop browser's worker, 0.15 s of native code on one core. */
export const PIECE_DIFFICULTY = 7.5;
/** The least work of a clearance: as much as a session costs, so that nobody buys one in place of the other. */
export const CLEARANCE_DIFFICULTY = 5.5;
/** The most that a clearance is good for by itself. */
const CLEARANCE_SHARE_MAX = 1 / 4;

export interface PaidClearance {
  /** 0: it was waited for. */
  powDifficulty: number;
  issuedAtMs: number;
  /** When the visitor's first one was issued, of which this is a successor. */
  sinceMs: number;
}

/**
 * Whether a clearance that was used so much pays by itself for one more request of a session that is spent, or of none. It
 * does in the window in which it was issued and in the next, once in both together. One that was waited for is good
 * for as much as the least work, so that no neighbour takes away what its visitor has waited for.
 */
export function paysByItself(
  { powDifficulty, issuedAtMs }: PaidClearance,
  { window, before, now }: PaceUse & { window: number },
): boolean {
  if (isEarlier(issuedAtMs, window)) return false;
  return before + now < clearanceShare(powDifficulty) * ALLOWANCE_UNITS;
}

/** Whether the pages of the visitor's address pay. After work they begin later, because at once they would be worth far more than it cost. */
export function isPaidByAddress({ powDifficulty, sinceMs }: PaidClearance, window: number): boolean {
  return powDifficulty === 0 || isEarlier(sinceMs, window);
}

/** Whether a time lies before the window that precedes number `window`. */
function isEarlier(atMs: number, window: number): boolean {
  return paceWindow(atMs) < window - 1;
}

/**
 * What addresses have in each window for the rest of a clearance's day, in allowances: an address, its
 * network (/24 or /56) and the one around it (/16 or /48). Counted by address, so that a
 * stock of clearances buys nothing. A call counts as a page, because calls have no budget without a session.
 */
export const SHARES_OF_A_DAY = { own: 1 / 4, near: 1, around: 10 } as const;

/** A clearance is good for what its work would buy as pieces of the first allowance. */
function clearanceShare(powDifficulty: number): number {
  const difficulty = Math.max(powDifficulty, CLEARANCE_DIFFICULTY);
  return Math.min(CLEARANCE_SHARE_MAX, 2 ** ((difficulty - PIECE_DIFFICULTY) / 1.5) / PIECES_OF_ALLOWANCE);
}
