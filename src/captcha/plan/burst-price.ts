/**
 * What a burst adds to the price of a proof of work: leaky buckets for the networks of the visitor, from their own to the
 * largest (`networksOf`). A visitor who asks for many challenges pays more for each, whether they stay in one network or
 * hop through many of a larger one. A larger network raises the price and refuses nobody, so that it is no weapon against
 * neighbours. Each isolate of the service counts for itself, because a price need not be as exact as a limit.
 */
import type { Network } from '../../address/networks.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';

/** Challenges a second that are always free: a school behind one address. A larger network has `times` as many. */
const LEAK_PER_SECOND = 1;
/** Fill levels that each add half a step of difficulty; a half step is a quarter more squarings. */
const STEPS_FROM = [30, 60, 120, 240] as const;
/** A full bucket is empty five minutes after the end of a burst. */
const FILL_MAX = 300;
/** Buckets of some 100 bytes. A flood of networks pushes out those that were not used lately. */
const BUCKETS_MAX = 50_000;

interface Bucket {
  /** Challenges. */
  fill: number;
  filledAtMs: number;
}

export class BurstPrice {
  readonly #buckets = new BoundedMap<Bucket>(BUCKETS_MAX);
  readonly #largerStepsMax: number;

  /** `largerStepsMax`: the most that a larger network adds, where each step is dear. */
  constructor(largerStepsMax: number = STEPS_FROM.length) {
    this.#largerStepsMax = largerStepsMax;
  }

  /**
   * Counts one challenge in each network and returns how many half steps of `powDifficulty` it costs more, by the fullest
   * bucket: 0 to 4. `scope` keeps the bursts of one site apart from those of another.
   */
  take(scope: string, networks: readonly Network[], nowMs: number): number {
    return Math.max(...networks.map((network) => this.#stepsOf(`${scope} ${network.prefix}`, network.times, nowMs)));
  }

  #stepsOf(key: string, times: number, nowMs: number): number {
    const bucket = this.#buckets.get(key) ?? { fill: 0, filledAtMs: nowMs };
    const leaked = (Math.max(0, nowMs - bucket.filledAtMs) / 1000) * LEAK_PER_SECOND * times;
    bucket.fill = Math.min(FILL_MAX * times, Math.max(0, bucket.fill - leaked) + 1);
    bucket.filledAtMs = Math.max(bucket.filledAtMs, nowMs);
    this.#buckets.set(key, bucket);
    const steps = STEPS_FROM.filter((from) => bucket.fill > from * times).length;
    return times === 1 ? steps : Math.min(steps, this.#largerStepsMax);
  }
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
