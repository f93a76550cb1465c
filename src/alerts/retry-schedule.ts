/**
 * When an alert that was not accepted is sent again: soon at first, then once an hour, for a day. A receiver that is
 * down over night gets everything in the morning, and one that is gone costs thirty calls.
 */
const FIRST_RETRY_MS = 30_000;
const RETRY_MAX_MS = 3_600_000;
const GIVEN_UP_AFTER_MS = 24 * 3_600_000;
/** Half of the time is random, so that a receiver which comes back is not called by everybody at once. */
const JITTER = 0.5;

/**
 * `attempts`: how many failed. `firstAt`: when the first one was due. `random`: from 0 to 1.
 * @returns when to try again, or `null` when the day is over.
 */
export function retryAt(attempts: number, firstAt: number, nowMs: number, random: number): number | null {
  const whole = Math.min(RETRY_MAX_MS, FIRST_RETRY_MS * 2 ** Math.min(attempts - 1, 20));
  const next = nowMs + Math.round(whole * (1 - JITTER * random));
  return next - firstAt > GIVEN_UP_AFTER_MS ? null : next;
}
