/**
 * What a burst adds to the price of a proof of work: a leaky bucket per site and network (/24, /64), so that
 * who asks for many challenges pays more for each, and everybody else nothing. Counted where it is kept,
 * by the service in each isolate: a price, not a limit, need not be exact.
 */

/** Challenges a second that are free for ever: a school behind one address. */
const LEAK_PER_SECOND = 1;
/** Fill from which each half step of difficulty is added; a half step is a quarter more squarings. */
const STEPS_FROM = [30, 60, 120, 240] as const;
/** A full bucket is empty five minutes after the last of a burst. */
const FILL_MAX = 300;
/** Buckets of some 100 bytes; a full table is emptied, which only forgives. */
const BUCKETS_MAX = 50_000;

export class BurstPrice {
  #buckets = new Map<string, { fill: number; at: number }>();

  /** Counts one challenge; how many half steps of `powDifficulty` it costs more, 0 to 4. */
  take(key: string, nowMs: number): number {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      if (this.#buckets.size >= BUCKETS_MAX) this.#buckets = new Map();
      this.#buckets.set(key, { fill: 1, at: nowMs });
      return 0;
    }
    const leaked = (Math.max(0, nowMs - bucket.at) / 1000) * LEAK_PER_SECOND;
    bucket.fill = Math.min(FILL_MAX, Math.max(0, bucket.fill - leaked) + 1);
    bucket.at = Math.max(bucket.at, nowMs);
    return STEPS_FROM.filter((from) => bucket.fill > from).length;
  }
}
