/**
 * Limits of one isolate: whether a request is above those that its policies name, and what it adds to them. A request
 * that is stopped adds to none. Fast limits are counted here; exact ones are asked for, after the fast ones let the
 * request through. Larger networks and companions of a key are counted fast, also for an exact limit. While a request
 * waits for an exact limit, or for the response that says whether its log-in failed, it holds a place in its counts:
 * parallel requests are no way around a limit.
 */
import type { WaitUntil } from '../../bytes/polled.ts';
import type { VerdictRecord } from '../../contract/edge/verdict-record.ts';
import { limitKeys, type KeySource, type LimitKeys } from '../../limits/limit-keys.ts';
import { restrictiveness } from '../../rules/decision-table.ts';
import type { CompiledLimit, CompiledLimits, CountedMeter } from '../config/compiled-limits.ts';
import type { Count } from '../feed/upstream.ts';
import type { ExactTakes } from './exact-takes.ts';
import type { LimitCounts } from './limit-counts.ts';

/** What a request above a limit is told. `waitMs`: until one more request passes. */
export type Above =
  | { kind: 'counted'; limit: CompiledLimit; verdict: CompiledLimit['verdict']; waitMs: number }
  /** Nobody could count the request, and the limit lets no such request pass. */
  | { kind: 'uncounted'; limit: CompiledLimit; verdict: 'block' };

/** A limit and the keys of one request. */
export interface Counted {
  limit: CompiledLimit;
  keys: LimitKeys;
  /** It may be a log-in, and holds a place until the response says whether it failed. */
  isPending?: boolean;
}

export class Limits {
  readonly #counts: LimitCounts;
  readonly #takes: ExactTakes | null;
  readonly #count: Count;
  readonly #now: () => number;

  /** `takes`: `null` where there is no object to ask. */
  constructor(counts: LimitCounts, takes: ExactTakes | null, count: Count, now: () => number) {
    this.#counts = counts;
    this.#takes = takes;
    this.#count = count;
    this.#now = now;
  }

  /** Those that the request is above, as far as this isolate knows. Adds nothing. */
  above(asked: readonly Counted[]): Above[] {
    const nowMs = this.#now();
    return asked.flatMap(({ limit, keys }): Above[] => {
      const waits = metersOf(limit, keys).map(([key, meter]) => this.#counts.waitMs(key, meter, nowMs));
      if (limit.exact) waits.push(...keys.own.map((key) => this.#takes?.refusedMs(wishOf(limit, key), nowMs) ?? 0));
      const waitMs = Math.max(0, ...waits);
      return waitMs > 0 ? [{ kind: 'counted', limit, verdict: limit.verdict, waitMs }] : [];
    });
  }

  /**
   * Those that the request is above. Where `stops` does not stop it, it has been added to the others, and the origin's
   * response is to be told to `responded`.
   */
  async ask(
    asked: readonly Counted[],
    stops: (above: readonly Above[]) => boolean,
    waitUntil: WaitUntil,
  ): Promise<Above[]> {
    const above = this.above(asked);
    if (stops(above)) return above;
    const isWithin = ({ limit }: Counted): boolean => !above.some((one) => one.limit === limit);
    const within = asked.filter(isWithin);
    // The smallest first: a visitor above their own small limit takes nothing from a large one of everybody.
    const exact = within
      .filter(({ limit }) => limit.exact)
      .toSorted((one, other) => one.limit.count - other.limit.count);
    if (exact.length > 0) {
      const placed = within.filter(({ limit, isPending }) => limit.on === 'request' || isPending);
      this.#hold(placed, 1);
      try {
        for (const one of exact) {
          const refused = await this.#refusal(one, waitUntil);
          if (refused) above.push(refused);
          if (refused && stops(above)) return above;
        }
      } finally {
        this.#hold(placed, -1);
      }
    }
    this.#hold(
      within.filter(({ isPending }) => isPending),
      1,
    );
    for (const one of within) if (one.limit.on === 'request' && isWithin(one)) this.#add(one);
    return above;
  }

  /** What the origin responded to a request that `ask` let through; `null` where it did not. */
  responded(asked: readonly Counted[], response: Response | null): void {
    this.#hold(
      asked.filter(({ isPending }) => isPending),
      -1,
    );
    if (response) for (const one of asked) if (one.limit.isCounted?.(response)) this.#add(one);
  }

  /** A visitor's solution or token was refused. */
  challengeFailed({ ofChallenges, sign }: CompiledLimits, from: KeySource): void {
    for (const limit of ofChallenges) this.#add({ limit, keys: limitKeys(limit, from, sign) });
  }

  /** Sends what was counted, behind the response. */
  report(nowMs: number, waitUntil: WaitUntil): void {
    this.#counts.report(nowMs, waitUntil);
  }

  /** Time of the count, and not of the request: its body or its response may have taken longer than the window. */
  #add({ limit, keys }: Counted): void {
    for (const [key, meter] of metersOf(limit, keys)) this.#counts.take(key, meter, this.#now());
  }

  #hold(asked: readonly Counted[], places: 1 | -1): void {
    for (const { limit, keys } of asked) {
      for (const [key, meter] of metersOf(limit, keys)) this.#counts.hold(key, meter, places, this.#now());
    }
  }

  /** `null`: the object granted a use of each key, or did not answer and the limit lets such requests pass. */
  async #refusal({ limit, keys }: Counted, waitUntil: WaitUntil): Promise<Above | null> {
    for (const key of keys.own) {
      const taking = await this.#takes?.take(wishOf(limit, key), this.#now(), waitUntil);
      if (taking?.ok && taking.value > 0)
        return { kind: 'counted', limit, verdict: limit.verdict, waitMs: taking.value };
      if (taking?.ok) continue;
      this.#count('limits_unreachable');
      if (limit.ifUnreachable === 'closed') return { kind: 'uncounted', limit, verdict: 'block' };
    }
    return null;
  }
}

/** The strictest enforced one; the first of equals. */
export function strictest(above: readonly Above[]): Above | null {
  let found: Above | null = null;
  for (const one of above) {
    if (one.limit.mode !== 'enforce') continue;
    if (!found || restrictiveness[one.verdict] > restrictiveness[found.verdict]) found = one;
  }
  return found;
}

/** For the log: every limit that the request was above. */
export function firedOf(above: readonly Above[]): VerdictRecord['fired_rules'] {
  return above.map(({ limit, verdict }) => ({ id: `limit:${limit.name}`, verdict, mode: limit.mode }));
}

/** What is counted here. */
function metersOf(limit: CompiledLimit, { own, wider }: LimitKeys): (readonly [key: string, meter: CountedMeter])[] {
  const around = wider.map(({ key, times }) => [key, limit.meter(times)] as const);
  return limit.exact ? around : [...own.map((key) => [key, limit.meter(1)] as const), ...around];
}

function wishOf({ algorithm, count, windowSeconds }: CompiledLimit, key: string) {
  return { key, algorithm, count, windowMs: windowSeconds * 1000 };
}
