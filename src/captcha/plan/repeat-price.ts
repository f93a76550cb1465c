/**
 * What a clearance costs an address that has asked for many. The first ones cost what the work of a session's first
 * allowance costs; those for as many pages more cost twice as much, and later ones four times, like the allowances of a
 * session. Nobody at another address pays for it. Each isolate of the service counts for itself, like `BurstPrice`.
 */
import { ownAddress } from '../../address/networks.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { PACE_WINDOW_MS } from '../../risk/pace.ts';

/** At the least difficulty a clearance is good for three pages: so many for an allowance of sixty. */
const CLEARANCES_OF_ALLOWANCE = 20;
const DOUBLINGS_MAX = 2;
/** Half steps of difficulty that are twice the squarings. */
const STEPS_OF_DOUBLING = 3;
const ADDRESSES_MAX = 50_000;

export class RepeatPrice {
  readonly #asked = new BoundedMap<{ sinceMs: number; count: number }>(ADDRESSES_MAX);

  /** Counts a challenge of the address and returns how many half steps of `powDifficulty` it costs more: 0, 3 or 6. */
  ask(scope: string, ip: string | null, nowMs: number): number {
    const key = `${scope} ${ownAddress(ip)}`;
    const known = this.#asked.get(key);
    const asked = known && nowMs - known.sinceMs < PACE_WINDOW_MS ? known : { sinceMs: nowMs, count: 0 };
    this.#asked.set(key, asked);
    const doublings = Math.floor(asked.count++ / CLEARANCES_OF_ALLOWANCE);
    return STEPS_OF_DOUBLING * Math.min(DOUBLINGS_MAX, doublings);
  }
}
