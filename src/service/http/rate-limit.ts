/**
 * A limit per key or per visitor's networks, counted in the memory of one isolate. It costs no call, and it stops one
 * caller from keeping an isolate busy. A caller whose requests reach several isolates gets the limit in each. What must
 * be exact (attempts, waits, spends) is counted in the spend ledger instead.
 */
import { type Network, networksOf, reservesOf } from '../../address/networks.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import type { RateLimitError } from './service-error.ts';

const WINDOW_MS = 60_000;
/** Per minute, site and own network. A school behind one address stays below it. */
const CALLS_PER_WINDOW = 300;
/** Of one address, and of one session: a page with a form asks for a few challenges and solves them. */
const RESERVED_CALLS = 20;
/** About 100 bytes each. A flood of keys pushes out those that were not used lately. */
const COUNTERS_MAX = 50_000;

export class RateLimit {
  readonly #callsPerWindow: number;
  readonly #what: string;
  #window = 0;
  #counters = new BoundedMap<number>(COUNTERS_MAX);

  constructor(callsPerWindow: number = CALLS_PER_WINDOW, what: string = 'Too many calls from this network') {
    this.#callsPerWindow = callsPerWindow;
    this.#what = what;
  }

  /** Counts a call. `null`: the key is within its limit. */
  take(key: string, nowMs: number): RateLimitError | null {
    return this.#take([{ key, most: this.#callsPerWindow }], nowMs);
  }

  /**
   * Counts a call in each network of a visitor. A larger network has `times` the limit. A call that one of them refuses
   * counts in none, so that a caller who has used up their own network cannot use up the town’s with it.
   */
  takeIn(scope: string, ip: string | null, nowMs: number): RateLimitError | null {
    return this.#take(boundsOf(scope, networksOf(ip), this.#callsPerWindow), nowMs);
  }

  /**
   * As `takeIn`, after the reserve that each address has, and each session: nobody is refused for their neighbours' calls.
   * `payer`: id of the session, as an edge says.
   */
  takeReserved(scope: string, ip: string | null, payer: string | null, nowMs: number): RateLimitError | null {
    const isReserved = reservesOf(ip, payer).some(
      (reserve) => this.#take(boundsOf(`${scope} for`, reserve, RESERVED_CALLS), nowMs) === null,
    );
    return isReserved ? null : this.takeIn(scope, ip, nowMs);
  }

  #take(keys: readonly { key: string; most: number }[], nowMs: number): RateLimitError | null {
    const window = Math.floor(nowMs / WINDOW_MS);
    if (window !== this.#window) {
      this.#window = window;
      this.#counters = new BoundedMap(COUNTERS_MAX);
    }
    const used = keys.map(({ key }) => this.#counters.get(key) ?? 0);
    if (keys.every(({ most }, index) => used[index]! < most)) {
      for (const [index, { key }] of keys.entries()) this.#counters.set(key, used[index]! + 1);
      return null;
    }
    const retryAfterSeconds = Math.ceil(((window + 1) * WINDOW_MS - nowMs) / 1000);
    return { kind: 'rate-limited', what: this.#what, retryAfterSeconds };
  }
}

function boundsOf(scope: string, networks: readonly Network[], calls: number): { key: string; most: number }[] {
  return networks.map(({ prefix, times }) => ({ key: `${scope} ${prefix}`, most: calls * times }));
}
