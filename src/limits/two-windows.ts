/**
 * A sliding window from the sums of two fixed ones: the window before counts by the part of it that still lies within
 * the last `windowMs`. It needs two numbers for a key, whatever the limit, and many isolates can add to them. Just below
 * twice the limit passes in the worst case: a burst at the end of a window, and an even stream after it. Pure.
 */
import type { Meter } from './sliding-log.ts';

export interface TwoWindows {
  /** Number of the window since the epoch. */
  window: number;
  /** Uses of the window before. */
  before: number;
  now: number;
}

export function windowNumber(nowMs: number, windowMs: number): number {
  return Math.floor(nowMs / windowMs);
}

/**
 * The sums as of now. A clock that was set back by less than a window changes nothing. After a longer step, what was
 * counted last counts as of the window before.
 */
export function rolled(sums: TwoWindows, nowMs: number, windowMs: number): TwoWindows {
  const window = windowNumber(nowMs, windowMs);
  if (sums.window === window || sums.window === window + 1) return sums;
  const isNear = sums.window === window - 1 || sums.window > window;
  return { window, before: isNear ? sums.now : 0, now: 0 };
}

/** Whether one more use stays within the count, in whole numbers. `sums` are as of now. */
export function oneFits({ window, before, now }: TwoWindows, { count, windowMs }: Meter, nowMs: number): boolean {
  return before * (windowMs - passedMs(window, windowMs, nowMs)) <= (count - 1 - now) * windowMs;
}

/** Milliseconds until one more use fits. */
export function untilOneFits({ window, before, now }: TwoWindows, { count, windowMs }: Meter, nowMs: number): number {
  const room = count - 1;
  const startMs = window * windowMs;
  if (now > room) return startMs + 2 * windowMs - Math.floor((room * windowMs) / now) - nowMs;
  if (before <= room - now) return 0;
  return Math.max(0, startMs + windowMs - Math.floor(((room - now) * windowMs) / before) - nowMs);
}

function passedMs(window: number, windowMs: number, nowMs: number): number {
  return Math.min(Math.max(nowMs - window * windowMs, 0), windowMs);
}
