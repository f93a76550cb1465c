/**
 * Durations in steps that a count can be kept for: exact up to 32 ms, then sixteen steps for each doubling. A percentile
 * of such counts is at most a sixteenth too high, and never too low.
 */
const EXACT_MAX_MS = 32;
/** A day. No origin is waited for so long. */
const LONGEST_MS = 86_400_000;

/** The upper end of the step that a duration belongs to. */
export function latencyStep(ms: number): number {
  const whole = Math.min(LONGEST_MS, Math.max(0, Math.ceil(ms)));
  if (whole <= EXACT_MAX_MS) return whole;
  const size = 2 ** (Math.floor(Math.log2(whole)) - 4);
  return Math.ceil(whole / size) * size;
}

/** The step that holds the value of this rank: of 100 counted, the 95th for 0.95. `steps` rise. `null`: none. */
export function percentileOf(steps: readonly { ms: number; count: number }[], share: number): number | null {
  const total = steps.reduce((sum, { count }) => sum + count, 0);
  const rank = Math.max(1, Math.ceil(total * share));
  let seen = 0;
  for (const { ms, count } of steps) {
    seen += count;
    if (seen >= rank) return ms;
  }
  return null;
}
