/**
 * Limits over requests of the past, in the order of their times. What is known of a request is counted as an edge counts
 * it. Where something is not known (a part of the key, the response, whether a policy applied), a second count takes the
 * case in which most requests meet: all of them asked, counted, and with the same value. A request that only the second
 * count stops may have been stopped or not. Pure.
 */
import type { LimitForm } from '../contract/management/policy-set/policy-set-form.ts';
import { newKeyCount, type Counting, type KeyCount } from './key-count.ts';
import type { Meter } from './sliding-log.ts';

/** A key of a request; `times` the count where it is that of a larger network. */
export interface ReplayedKey {
  key: string;
  times: number;
  isOwn: boolean;
}

export interface ReplayedUse {
  /** Place of the limit. */
  limit: number;
  /** Whether a policy surely asked it. */
  isAsked: boolean;
  /** Keys that nothing unknown is part of. */
  known: readonly ReplayedKey[];
  /** All of its keys, as if unknown parts had one value for everybody. */
  possible: readonly ReplayedKey[];
  /** Whether the request adds to the limit. `elsewhere`: other requests do, of which nothing is known. */
  adds: 'yes' | 'no' | 'unknown' | 'elsewhere';
}

export type Replayed = 'within' | 'above' | 'untold';

interface PossibleCount {
  count: KeyCount;
  /** Whether anything in it is not known. */
  isOpen: boolean;
}

export class LimitReplay {
  readonly #limits: readonly LimitForm[];
  readonly #open: ReadonlySet<number>;
  readonly #known = new Map<string, KeyCount>();
  readonly #possible = new Map<string, PossibleCount>();

  /** `open`: places of the limits of which something is not known in any of the requests. */
  constructor(limits: readonly LimitForm[], open: ReadonlySet<number>) {
    this.#limits = limits;
    this.#open = open;
  }

  /** What each limit says to one request. Requests come in the order of their times. */
  play(uses: readonly ReplayedUse[], nowMs: number): Replayed[] {
    const asked = uses.map((use): Replayed => (this.#isByUser(use) ? 'within' : this.#ask(use, nowMs)));
    const stops = (said: readonly Replayed[]): boolean =>
      uses.some(({ limit }, place) => said[place] === 'above' && this.#limits[limit]!.mode === 'enforce');
    // A form is read only for a request that no other limit stops.
    const said = stops(asked)
      ? asked
      : uses.map((use, place) => (this.#isByUser(use) ? this.#ask(use, nowMs) : asked[place]!));
    const isStopped = stops(said);
    uses.forEach((use, place) => {
      const isWithin = said[place] !== 'above' && !isStopped;
      if (isWithin && use.isAsked && use.adds === 'yes') this.#add(use, nowMs);
      if (this.#open.has(use.limit)) this.#addPossible(use, nowMs);
    });
    return said;
  }

  #isByUser({ limit }: ReplayedUse): boolean {
    return this.#limits[limit]!.key.includes('user');
  }

  #ask(use: ReplayedUse, nowMs: number): Replayed {
    const limit = this.#limits[use.limit]!;
    const isAbove = use.known.some((key) => this.#known.get(key.key)?.isFull(meterOf(limit, key), nowMs) ?? false);
    if (isAbove && use.isAsked) return 'above';
    if (use.adds === 'elsewhere') return 'untold';
    const mayBeAbove = use.possible.some((key) => {
      const counted = this.#possible.get(key.key);
      return counted?.count.isFull(meterOf(limit, key), nowMs) && (counted.isOpen || isUncertain(use));
    });
    return mayBeAbove ? 'untold' : 'within';
  }

  #add({ limit: place, known }: ReplayedUse, nowMs: number): void {
    const limit = this.#limits[place]!;
    for (const key of known) {
      let count = this.#known.get(key.key);
      if (count === undefined) this.#known.set(key.key, (count = newKeyCount(countingOf(limit, key))));
      count.add(meterOf(limit, key), nowMs);
    }
  }

  #addPossible(use: ReplayedUse, nowMs: number): void {
    if (use.adds === 'no' || use.adds === 'elsewhere') return;
    const limit = this.#limits[use.limit]!;
    for (const key of use.possible) {
      let counted = this.#possible.get(key.key);
      if (counted === undefined) {
        counted = { count: newKeyCount(countingOf(limit, key)), isOpen: false };
        this.#possible.set(key.key, counted);
      }
      counted.isOpen ||= isUncertain(use);
      counted.count.add(meterOf(limit, key), nowMs);
    }
  }
}

/** Whether something of it is not known. */
export function isUncertain({ isAsked, known, possible, adds }: ReplayedUse): boolean {
  return !isAsked || adds === 'unknown' || adds === 'elsewhere' || known.length < possible.length;
}

function meterOf({ count, windowSeconds }: LimitForm, { times }: ReplayedKey): Meter {
  return { count: count * times, windowMs: windowSeconds * 1000 };
}

/** Larger networks are counted fast, also for an exact limit. */
function countingOf({ algorithm, exact }: LimitForm, { isOwn }: ReplayedKey): Counting {
  if (algorithm === 'bucket') return 'bucket';
  return exact && isOwn ? 'log' : 'windows';
}
