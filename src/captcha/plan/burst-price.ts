/**
 * What a burst adds to the price of a proof of work: a leaky bucket per site and network (/24, /64). A visitor who asks
 * for many challenges pays more for each, everybody else pays nothing. Each isolate of the service counts for itself,
 * because a price need not be as exact as a limit.
 */

/** Challenges a second that are always free: a school behind one address. */
const LEAK_PER_SECOND = 1;
/** Fill levels that each add half a step of difficulty; a half step is a quarter more squarings. */
const STEPS_FROM = [30, 60, 120, 240] as const;
/** A full bucket is empty five minutes after the end of a burst. */
const FILL_MAX = 300;
/** Buckets of some 100 bytes. A full table is emptied, which only makes challenges cheaper. */
const BUCKETS_MAX = 50_000;

export class BurstPrice {
  #buckets = new Map<string, { fill: number; filledAtMs: number }>();

  /** Counts one challenge and returns how many half steps of `powDifficulty` it costs more: 0 to 4. */
  take(key: string, nowMs: number): number {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      if (this.#buckets.size >= BUCKETS_MAX) this.#buckets = new Map();
      this.#buckets.set(key, { fill: 1, filledAtMs: nowMs });
      return 0;
    }
    const leaked = (Math.max(0, nowMs - bucket.filledAtMs) / 1000) * LEAK_PER_SECOND;
    bucket.fill = Math.min(FILL_MAX, Math.max(0, bucket.fill - leaked) + 1);
    bucket.filledAtMs = Math.max(bucket.filledAtMs, nowMs);
    return STEPS_FROM.filter((from) => bucket.fill > from).length;
  }
}
