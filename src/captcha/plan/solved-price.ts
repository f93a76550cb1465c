/**
 * What solved challenges add to the price of the next one, by leaky buckets: one for the session of the visitor who solved
 * them, or one for each of their networks. A visitor with a session neither pays for strangers at their address nor makes
 * them pay. Asking adds nothing, so nobody makes a challenge dearer for others without paying that price as well. Each
 * isolate of the service counts for itself, because a price need not be as exact as a limit.
 */
import type { Network } from '../../address/networks.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';

/** How the price of one kind of challenge rises. Prices are in half steps of `powDifficulty`, a quarter more squarings each. */
export interface Tariff {
  name: string;
  /** The networks that pay for what was solved in them without a session. */
  networksOf: (ip: string | null) => readonly Network[];
  /** Solved challenges in the bucket from which on the price is a step higher. A larger network has `times` as many. */
  stepsFrom: readonly number[];
  /** How many of them are forgotten in a second. */
  leakPerSecond: number;
  halfStepsOfStep: number;
  /** The most steps that a larger network adds. */
  largerStepsMax: number;
  /** A visitor with a session pays by what that session solved. It reaches a step after so many times `stepsFrom`. */
  timesOfSession: number;
}

/** The visitor whose price is read, and for whom a solved challenge counts. */
export interface Payer {
  /** Keeps the counts of one site apart from those of another. */
  scope: string;
  ip: string | null;
  /** Id of the visitor's session, where an edge has checked it. */
  session: string | null;
}

interface SolvedChallenge {
  id: string;
  /** What `SolvedPrice.halfSteps` was when the challenge was asked for. */
  halfSteps: number;
}

interface SolvedCount {
  /** The solution was not sent before. */
  isNew: boolean;
  /** The challenge was asked for when it cost more than one step less. It counts nowhere: the rest of the price is due. */
  isTooCheap: boolean;
}

/** A bucket is full at so many times the fill that its last step needs. */
const FULL = 1.25;
/** Buckets of some 100 bytes. A flood of networks pushes out those that were not used lately. */
const BUCKETS_MAX = 50_000;
/** Solutions that count no second time when they are sent again. */
const SOLVED_MAX = 20_000;

interface Bucket {
  /** Challenges. */
  fill: number;
  filledAtMs: number;
}

export class SolvedPrice {
  readonly #tariffs: readonly Tariff[];
  readonly #buckets = new BoundedMap<Bucket>(BUCKETS_MAX);
  /** Whether it counted. */
  readonly #solved = new BoundedMap<boolean>(SOLVED_MAX);

  /** `tariffs`: of the challenge. The highest of their prices counts. */
  constructor(...tariffs: readonly Tariff[]) {
    this.#tariffs = tariffs;
  }

  /**
   * How many half steps of `powDifficulty` the next challenge of the payer costs more. A visitor with a session pays for
   * what it solved, and not for strangers at their address.
   */
  halfSteps(payer: Payer, nowMs: number): number {
    return Math.max(...this.#tariffs.map((tariff) => tariff.halfStepsOfStep * this.#steps(tariff, payer, nowMs)));
  }

  /**
   * Counts a solved challenge where its visitor pays, once. A price may rise by a step while an honest visitor works, so who asks
   * for a stock in advance saves one step at most. Nobody is asked for the rest more than twice, because no price rises
   * by more than one step three times.
   */
  solve(payer: Payer, { id, halfSteps }: SolvedChallenge, nowMs: number): SolvedCount {
    const key = `${id} ${halfSteps}`;
    const counted = this.#solved.get(key);
    if (counted === true) return { isNew: false, isTooCheap: false };
    const stepMax = Math.max(...this.#tariffs.map(({ halfStepsOfStep }) => halfStepsOfStep));
    const isTooCheap = this.halfSteps(payer, nowMs) > halfSteps + stepMax;
    this.#solved.set(key, !isTooCheap);
    if (!isTooCheap) this.#count(payer, nowMs);
    return { isNew: counted === undefined, isTooCheap };
  }

  #steps(tariff: Tariff, payer: Payer, nowMs: number): number {
    const steps = bucketsOf(tariff, payer).map((network) => {
      // The challenge that is priced counts as if it were solved.
      const fill = this.#fill(tariff, payer.scope, network, 0, nowMs) + 1;
      const found = tariff.stepsFrom.filter((from) => fill > from * network.times).length;
      return network.times > 1 ? Math.min(found, tariff.largerStepsMax) : found;
    });
    return Math.max(...steps);
  }

  #count(payer: Payer, nowMs: number): void {
    for (const tariff of this.#tariffs) {
      for (const network of bucketsOf(tariff, payer)) this.#fill(tariff, payer.scope, network, 1, nowMs);
    }
  }

  /** The fill of a bucket after `added` challenges more. */
  #fill(tariff: Tariff, scope: string, { prefix, times }: Network, added: number, nowMs: number): number {
    const key = `${tariff.name} ${scope} ${prefix}`;
    const known = this.#buckets.get(key);
    if (known === undefined && added === 0) return 0;
    const bucket = known ?? { fill: 0, filledAtMs: nowMs };
    const leaked = (Math.max(0, nowMs - bucket.filledAtMs) / 1000) * tariff.leakPerSecond * times;
    const full = FULL * tariff.stepsFrom.at(-1)! * times;
    bucket.fill = Math.min(full, Math.max(0, bucket.fill - leaked) + added);
    bucket.filledAtMs = Math.max(bucket.filledAtMs, nowMs);
    if (known === undefined) this.#buckets.set(key, bucket);
    return bucket.fill;
  }
}

/** A session is counted like a network of its own. */
function bucketsOf({ networksOf, timesOfSession }: Tariff, { ip, session }: Payer): readonly Network[] {
  return session === null ? networksOf(ip) : [{ prefix: session, times: timesOfSession }];
}
