/**
 * What a burst adds to the price of a proof of work, by leaky buckets. Who asks for many challenges pays more for each:
 * that counts for their own address. What was solved counts for their networks, from their own to the largest
 * (`networksOf`), so that hopping through them is no cheaper. Challenges that nobody solves therefore raise no
 * neighbour's price. Each isolate of the service counts for itself, because a price need not be as exact as a limit.
 */
import { networksOf, ownAddress } from '../../address/networks.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';

/** Challenges a second that are always free: a school behind one address. A larger network has `times` as many. */
const LEAK_PER_SECOND = 1;
/** Fill levels that each add half a step of difficulty; a half step is a quarter more squarings. */
const STEPS_FROM = [30, 60, 120, 240] as const;
/** A full bucket is empty five minutes after the end of a burst. */
const FILL_MAX = 300;
/** Buckets of some 100 bytes. A flood of networks pushes out those that were not used lately. */
const BUCKETS_MAX = 50_000;
/** Solutions that count no second time when they are sent again. */
const SOLVED_MAX = 20_000;
/** A price may rise while an honest visitor works. So who asks for a stock in advance saves one step at most. */
const STEPS_LATE_MAX = 1;

interface Bucket {
  /** Challenges. */
  fill: number;
  filledAtMs: number;
}

interface SolvedChallenge {
  id: string;
  steps: number;
}
type SolvedCount = 'counted' | 'again' | 'too-cheap';

export class BurstPrice {
  readonly #buckets = new BoundedMap<Bucket>(BUCKETS_MAX);
  readonly #solved = new BoundedMap<true>(SOLVED_MAX);
  readonly #largerStepsMax: number;

  /** `largerStepsMax`: the most that a larger network adds, where each step is dear. */
  constructor(largerStepsMax: number = STEPS_FROM.length) {
    this.#largerStepsMax = largerStepsMax;
  }

  /**
   * Counts one challenge for the address that asks and returns how many half steps of `powDifficulty` it costs more, by
   * what the address asked for and its networks solved: 0 to 4. `scope` keeps the bursts of one site apart from those of another.
   */
  ask(scope: string, ip: string | null, nowMs: number): number {
    const own = this.#fill(`${scope} asks ${ownAddress(ip)}`, 1, 1, nowMs);
    return Math.max(stepsAt(own, 1), this.#networkSteps(scope, ip, nowMs));
  }

  /**
   * Counts a solved challenge in each network, once. `too-cheap`: it was asked for when it cost much less, and counts
   * nowhere: the visitor has to solve one at the price of now. `steps`: what `ask` returned.
   */
  solve(scope: string, ip: string | null, { id, steps }: SolvedChallenge, nowMs: number): SolvedCount {
    if (this.#solved.get(id)) return 'again';
    if (this.#networkSteps(scope, ip, nowMs) > steps + STEPS_LATE_MAX) return 'too-cheap';
    this.#solved.set(id, true);
    for (const { prefix, times } of networksOf(ip)) this.#fill(`${scope} ${prefix}`, times, 1, nowMs);
    return 'counted';
  }

  #networkSteps(scope: string, ip: string | null, nowMs: number): number {
    const steps = networksOf(ip).map(({ prefix, times }) => {
      // One more, as that of the visitor will be.
      const found = stepsAt(this.#fill(`${scope} ${prefix}`, times, 0, nowMs) + 1, times);
      return times === 1 ? found : Math.min(found, this.#largerStepsMax);
    });
    return Math.max(...steps);
  }

  /** The fill of a bucket after `added` challenges more. */
  #fill(key: string, times: number, added: number, nowMs: number): number {
    const known = this.#buckets.get(key);
    if (known === undefined && added === 0) return 0;
    const bucket = known ?? { fill: 0, filledAtMs: nowMs };
    const leaked = (Math.max(0, nowMs - bucket.filledAtMs) / 1000) * LEAK_PER_SECOND * times;
    bucket.fill = Math.min(FILL_MAX * times, Math.max(0, bucket.fill - leaked) + added);
    bucket.filledAtMs = Math.max(bucket.filledAtMs, nowMs);
    if (known === undefined) this.#buckets.set(key, bucket);
    return bucket.fill;
  }
}

function stepsAt(fill: number, times: number): number {
  return STEPS_FROM.filter((from) => fill > from * times).length;
}

const BASE_DIFFICULTY = 5.5;
/** 1.5 difficulties are twice the squarings. */
const BURST_STEP_DIFFICULTY = 1.5;
const DIFFICULTY_MAX = 10;

/**
 * What a session costs, as the `powDifficulty` of its time-lock. Everybody's first page pays it, so it is small: a quarter
 * of a second of a desktop core in Chromium. A network that opens sessions in a burst pays twice as much for each at every step, because
 * a session is worth more than one form: it lasts a day.
 * @param burstSteps as `BurstPrice` counts them.
 */
export function sessionDifficulty(burstSteps: number): number {
  return Math.min(DIFFICULTY_MAX, BASE_DIFFICULTY + burstSteps * BURST_STEP_DIFFICULTY);
}
