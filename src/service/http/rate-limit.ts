/**
 * A limit per key, counted in the memory of one isolate. It costs no call, and it stops one caller from keeping an
 * isolate busy. A caller whose requests reach several isolates gets the limit in each. What must be exact (attempts,
 * waits, spends) is counted in the spend ledger instead.
 */
import type { RateLimitError } from './service-error.ts';

const WINDOW_MS = 60_000;
/** Per minute, site and address prefix. A school behind one address stays below it. */
export const CALLS_PER_WINDOW = 300;
/** About 100 bytes each. A full table is emptied, which only lets more calls through. */
const COUNTERS_MAX = 50_000;

export class RateLimit {
  readonly #callsPerWindow: number;
  readonly #what: string;
  #window = 0;
  #counters = new Map<string, number>();

  constructor(callsPerWindow: number = CALLS_PER_WINDOW, what: string = 'Too many calls from this network') {
    this.#callsPerWindow = callsPerWindow;
    this.#what = what;
  }

  /** Counts a call. `null`: the key is within its limit. */
  take(key: string, nowMs: number): RateLimitError | null {
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window !== this.#window || this.#counters.size >= COUNTERS_MAX) {
      this.#window = window;
      this.#counters = new Map();
    }
    const used = (this.#counters.get(key) ?? 0) + 1;
    this.#counters.set(key, used);
    if (used <= this.#callsPerWindow) return null;
    const retryAfterSeconds = Math.ceil(((window + 1) * WINDOW_MS - nowMs) / 1000);
    return { kind: 'rate-limited', what: this.#what, retryAfterSeconds };
  }
}
