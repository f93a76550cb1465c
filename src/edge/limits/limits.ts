/**
 * Limits of one isolate: whether a request is above those that its policies name, and what it adds to them. A request
 * that an enforced limit refuses adds to none. Fast limits are counted here; exact ones are asked for, after the fast
 * ones let the request through. Larger networks and companions of a key are counted fast, also for an exact limit.
 */
import type { VerdictRecord } from '../../contract/edge/verdict-record.ts';
import { limitKeys } from '../../limits/limit-keys.ts';
import type { KeySource, LimitKeys } from '../../limits/limit-keys.ts';
import { restrictiveness } from '../../rules/decision-table.ts';
import type { CompiledLimit, CompiledLimits, CountedMeter } from '../config/compiled-limits.ts';
import type { ExactTakes } from './exact-takes.ts';
import type { LimitCounts } from './limit-counts.ts';

/** What a request above a limit is told. */
export interface Above {
  limit: CompiledLimit;
  /** Milliseconds until one more request passes; 0: the object did not answer. */
  waitMs: number;
}

export interface LimitReading {
  /** The strictest enforced one; the first of equals. */
  above: Above | null;
  /** Every limit that the request is above. */
  fired: VerdictRecord['fired_rules'];
  /** What the response may add to. */
  counted: readonly Counted[];
}

/** A limit and the keys of one request. */
export interface Counted {
  limit: CompiledLimit;
  keys: LimitKeys;
}

export interface LimitsPorts {
  counts: LimitCounts;
  /** `null` where there is no object to ask. */
  takes: ExactTakes | null;
  count: (name: string) => void;
}

export class Limits {
  readonly #ports: LimitsPorts;

  constructor(ports: LimitsPorts) {
    this.#ports = ports;
  }

  async ask(
    { byName, sign }: CompiledLimits,
    names: readonly string[],
    from: (limit: CompiledLimit) => KeySource,
    nowMs: number,
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<LimitReading> {
    const asked = names.flatMap((name): Counted[] => {
      const limit = byName.get(name);
      return limit ? [{ limit, keys: limitKeys(limit, from(limit), sign) }] : [];
    });
    const above: Above[] = [];
    for (const { limit, keys } of asked) {
      const waitMs = Math.max(
        0,
        ...this.#metersOf(limit, keys).map(([key, meter]) => this.#ports.counts.waitMs(key, meter, nowMs)),
      );
      if (waitMs > 0) above.push({ limit, waitMs });
    }
    for (const { limit, keys } of asked) {
      if (!limit.exact || refuses(above) || above.some((one) => one.limit === limit)) continue;
      const waitMs = await this.#taken(limit, keys, nowMs, waitUntil);
      if (waitMs !== null) above.push({ limit, waitMs });
    }
    const isRefused = refuses(above);
    const within = asked.filter(({ limit }) => !above.some((one) => one.limit === limit));
    for (const { limit, keys } of within) {
      if (limit.on === 'request' && !isRefused) this.#add(limit, keys, nowMs);
    }
    return {
      above: strictest(above),
      fired: above.map(({ limit }) => ({ id: `limit:${limit.name}`, verdict: limit.verdict, mode: limit.mode })),
      counted: within.filter(({ limit }) => limit.isCounted !== null),
    };
  }

  /** The origin has responded. */
  responded(counted: readonly Counted[], response: Response, nowMs: number): void {
    for (const { limit, keys } of counted) if (limit.isCounted?.(response)) this.#add(limit, keys, nowMs);
  }

  /** A visitor's solution or token was refused. */
  challengeFailed({ ofChallenges, sign }: CompiledLimits, from: KeySource, nowMs: number): void {
    for (const limit of ofChallenges) this.#add(limit, limitKeys(limit, from, sign), nowMs);
  }

  /** Sends what was counted, behind the response. */
  report(nowMs: number, waitUntil: (work: Promise<unknown>) => void): void {
    this.#ports.counts.report(nowMs, waitUntil);
  }

  #add(limit: CompiledLimit, keys: LimitKeys, nowMs: number): void {
    for (const [key, meter] of this.#metersOf(limit, keys)) this.#ports.counts.take(key, meter, nowMs);
  }

  /** What is counted here. */
  #metersOf(limit: CompiledLimit, { own, wider }: LimitKeys): (readonly [key: string, meter: CountedMeter])[] {
    const around = wider.map(({ key, times }) => [key, limit.meter(times)] as const);
    return limit.exact ? around : [...own.map((key) => [key, limit.meter(1)] as const), ...around];
  }

  /** `null`: the object granted a use of each key, or did not answer and the limit lets such requests pass. */
  async #taken(
    limit: CompiledLimit,
    { own }: LimitKeys,
    nowMs: number,
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<number | null> {
    const { algorithm, count, windowSeconds } = limit;
    const { takes, count: countMetric } = this.#ports;
    for (const key of own) {
      const wish = { key, algorithm, count, windowMs: windowSeconds * 1000 };
      const waitMs = (await takes?.take(wish, nowMs, waitUntil)) ?? null;
      if (waitMs === null) countMetric('limits_unreachable');
      if (waitMs === null && limit.ifUnreachable === 'closed') return 0;
      if (waitMs !== null && waitMs > 0) return waitMs;
    }
    return null;
  }
}

function refuses(above: readonly Above[]): boolean {
  return above.some(({ limit }) => limit.mode === 'enforce' && limit.verdict === 'block');
}

function strictest(above: readonly Above[]): Above | null {
  let found: Above | null = null;
  for (const one of above) {
    if (one.limit.mode !== 'enforce') continue;
    if (!found || restrictiveness[one.limit.verdict] > restrictiveness[found.limit.verdict]) found = one;
  }
  return found;
}
