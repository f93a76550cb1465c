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

export function windowOf(nowMs: number, windowMs: number): number {
  return Math.floor(nowMs / windowMs);
}

/**
 * The sums as of now. A clock that was set back by less than a window changes nothing. After a longer step, what was
 * counted last counts as of the window before.
 */
export function rolled(sums: TwoWindows, nowMs: number, windowMs: number): TwoWindows {
  const window = windowOf(nowMs, windowMs);
  if (sums.window === window || sums.window === window + 1) return sums;
  const isNear = sums.window === window - 1 || sums.window > window;
  return { window, before: isNear ? sums.now : 0, now: 0 };
}

/** Uses within the last `windowMs`, not a whole number. `sums` are as of now. */
export function usedWithin({ window, before, now }: TwoWindows, nowMs: number, windowMs: number): number {
  return before * (1 - passedPart(window, nowMs, windowMs)) + now;
}

/** Milliseconds until one more use fits. */
export function untilOneFits({ window, before, now }: TwoWindows, { count, windowMs }: Meter, nowMs: number): number {
  const room = count - 1;
  const startMs = window * windowMs;
  if (now <= room) {
    const atMs = before <= room - now ? nowMs : startMs + windowMs * (1 - (room - now) / before);
    return Math.max(0, Math.ceil(atMs - nowMs));
  }
  return Math.ceil(startMs + windowMs * (2 - room / now) - nowMs);
}

function passedPart(window: number, nowMs: number, windowMs: number): number {
  return Math.min(Math.max(nowMs / windowMs - window, 0), 1);
}
