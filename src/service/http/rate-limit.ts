/**
 * A limit per site and address prefix, counted in this isolate's memory: it costs no call and stops
 * one network from keeping an isolate busy. A visitor who is spread over many isolates gets the limit
 * in each; what must be exact (attempts, waits, spends) is counted in the ledger instead.
 */
import { ApiError } from './api-error.ts';

const WINDOW_MS = 60_000;
/** Per minute, site and prefix: a school behind one address still passes. */
export const CALLS_PER_WINDOW = 300;
/** Counters per isolate, some 100 bytes each; a full table is emptied, which only forgives. */
const COUNTERS_MAX = 50_000;

export class RateLimit {
  readonly #callsPerWindow: number;
  readonly #refusal: string;
  #window = 0;
  #counters = new Map<string, number>();

  constructor(
    callsPerWindow: number = CALLS_PER_WINDOW,
    refusal: string = 'Too many calls from this network; wait a little',
  ) {
    this.#callsPerWindow = callsPerWindow;
    this.#refusal = refusal;
  }

  /** @throws 429 with `Retry-After` when the key has used up its window. */
  take(key: string, nowMs: number): void {
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window !== this.#window || this.#counters.size >= COUNTERS_MAX) {
      this.#window = window;
      this.#counters = new Map();
    }
    const used = (this.#counters.get(key) ?? 0) + 1;
    this.#counters.set(key, used);
    if (used <= this.#callsPerWindow) return;
    const seconds = Math.ceil(((window + 1) * WINDOW_MS - nowMs) / 1000);
    throw new ApiError('API.RATE_LIMITED', this.#refusal, undefined, {
      'retry-after': String(seconds),
    });
  }
}
