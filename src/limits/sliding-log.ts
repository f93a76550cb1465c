/**
 * A sliding window that is exact: the times of the uses that are still in it. Never more than `count` uses pass in any
 * window, and as many as that pass where they are asked for. Many uses are kept in groups, and a group counts from its
 * latest use: then a use counts for up to a 64th of the window longer, never for a shorter time. Pure.
 */

/** Times and numbers of uses in turn, oldest first: `[timeMs, uses, timeMs, uses, …]`. */
export type SlidingLog = readonly number[];

export interface Meter {
  /** Uses of one window. */
  count: number;
  windowMs: number;
}

/** What became of a wish for some uses. */
export interface Taking {
  granted: number;
  /** Uses that are left. */
  remaining: number;
  /** When the next use can pass, where none is left; else 0. */
  retryAfterMs: number;
}

/** Up to this many uses at different times are kept one by one. */
const GROUPS_MAX = 128;
const SLOTS = 64;

/**
 * A use at time t is in the windows that end before `t + windowMs`. Where the clock was set back, uses of the future
 * count as uses of now: they count longer than they should, and never for a shorter time.
 */
export function takeSliding(
  log: SlidingLog,
  { count, windowMs }: Meter,
  asked: number,
  nowMs: number,
): Taking & { log: SlidingLog } {
  const kept: number[] = [];
  let used = 0;
  for (let at = 0; at < log.length; at += 2) {
    const timeMs = Math.min(log[at]!, nowMs);
    if (timeMs <= nowMs - windowMs) continue;
    used += log[at + 1]!;
    add(kept, timeMs, log[at + 1]!);
  }
  const granted = Math.max(0, Math.min(asked, count - used));
  if (granted > 0) add(kept, nowMs, granted);
  const remaining = Math.max(0, count - used - granted);
  const retryAfterMs = remaining > 0 ? 0 : waitMs(kept, used + granted - count, windowMs, nowMs);
  return { log: kept.length > 2 * GROUPS_MAX ? inSlots(kept, windowMs) : kept, granted, remaining, retryAfterMs };
}

function add(log: number[], timeMs: number, uses: number): void {
  if (log.at(-2) === timeMs) log[log.length - 1]! += uses;
  else log.push(timeMs, uses);
}

/** Until more than `excess` uses have left the window. */
function waitMs(log: SlidingLog, excess: number, windowMs: number, nowMs: number): number {
  let left = 0;
  for (let at = 0; at < log.length; at += 2) {
    left += log[at + 1]!;
    if (left > excess) return log[at]! + windowMs - nowMs;
  }
  return windowMs;
}

/** Joins the groups of one slot. The slots stand still, so a use is never moved further than to the end of its slot. */
function inSlots(log: SlidingLog, windowMs: number): number[] {
  const slotMs = Math.max(1, Math.ceil(windowMs / SLOTS));
  const joined: number[] = [];
  for (let at = 0; at < log.length; at += 2) {
    const isSameSlot = joined.length > 0 && Math.floor(joined.at(-2)! / slotMs) === Math.floor(log[at]! / slotMs);
    if (isSameSlot) {
      joined[joined.length - 2] = log[at]!;
      joined[joined.length - 1]! += log[at + 1]!;
    } else joined.push(log[at]!, log[at + 1]!);
  }
  return joined;
}
