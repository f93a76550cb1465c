/**
 * How many requests of one network count within a step: a /24 or /56 for 2 % of the rate below which nothing is an
 * attack, and the /16 or /48 around it for 20 %. So at that rate an attack has 50 networks in five larger ones, and a
 * network that sends any number of requests, or has them refused, switches nothing on.
 */
import { BoundedMap } from '../bytes/bounded-map.ts';
import { type AttackNetworks, STEP_MS } from './traffic.ts';

const NEAR_SHARE = 0.02;
const AROUND_SHARE = 0.2;
/** Networks of the last steps. Who uses so many is an attack. */
const NETWORKS_MAX = 50_000;

export class NetworkShares {
  readonly #counted = new BoundedMap<number>(NETWORKS_MAX);

  /** How many of these requests count. `step`: its number, with whatever else is counted apart. */
  take(step: string, { near, around }: AttackNetworks, requests: number, minimumRate: number): number {
    const shares = networkShares(minimumRate);
    const [nearKey, aroundKey] = [`${step} ${near}`, `${step} around ${around}`];
    const [ofNear, ofAround] = [this.#counted.get(nearKey) ?? 0, this.#counted.get(aroundKey) ?? 0];
    const taken = Math.max(0, Math.min(requests, shares.near - ofNear, shares.around - ofAround));
    if (taken === 0) return 0;
    this.#counted.set(nearKey, ofNear + taken);
    this.#counted.set(aroundKey, ofAround + taken);
    return taken;
  }
}

export function networkShares(minimumRate: number): { near: number; around: number } {
  const minimum = (minimumRate * STEP_MS) / 1000;
  const shareOf = (share: number): number => Math.max(1, Math.floor(minimum * share));
  return { near: shareOf(NEAR_SHARE), around: shareOf(AROUND_SHARE) };
}
