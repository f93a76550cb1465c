/**
 * Applies the limits of a policy set to the newest requests of a window, and says who would have been above them. The log
 * is read from its end and limits count from the beginning, so what a request asks is kept until the walk is over: its
 * time, its keys and who sent it. Counts begin empty with the oldest request that was read.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { PolicySet } from '../../../../contract/management/policy-set/policy-set.ts';
import { isUncertain, LimitReplay, type Replayed, type ReplayedUse } from '../../../../limits/replay.ts';
import type { VerdictSource } from '../../../../contract/vocabulary.ts';
import type { ServiceStore } from '../../../environment.ts';
import { currentGate } from '../replay/current-gate.ts';
import { isUntouchable, policyParts, type ReplayGate } from '../replay/gate-replay.ts';
import {
  countRecords,
  type Examined,
  examineNewest,
  judgedIn,
  type PreviewWindow,
} from '../replay/previewed-requests.ts';
import type { LogTarget } from '../verdicts/verdict-log-query.ts';
import { loggedUses, unloggedParts } from './logged-uses.ts';

/** Some 40 MB with their counts. Three of 50,000 requests each, or one of IPv6 with its larger networks. */
const KEYS_MAX = 150_000;
/** Of each limit. */
const VISITORS_MAX = 10;

interface Visitor {
  ip: string | null;
  asn: number | null;
  country: string | null;
}

interface KeptRequest {
  atMs: number;
  requestId: string;
  visitor: Visitor;
  uses: readonly ReplayedUse[];
}

interface VisitorAbove {
  above: number;
  untold: number;
  /** Of the newest request above, or maybe above. */
  requestId: string;
  atMs: number;
}

interface LimitEffect {
  limit: string;
  mode: 'enforce' | 'monitor';
  requests: number;
  unsure: number;
  /** Requests that policies send to it and that something else stops before, by what stops them. */
  stopped: { by: VerdictSource; requests: number }[];
  above: number;
  untold: number;
  keys: number;
  addresses: number;
  visitors: (Visitor & VisitorAbove)[];
  unlogged: string[];
}

interface LimitTrial extends Examined {
  inWindow: number;
  /** Distinct requests above an enforced limit. */
  refused: number;
  /** Requests of which the log does not have what was decided from. */
  withoutInputs: number;
  effects: LimitEffect[];
}

export async function tryLimits(
  store: ServiceStore,
  { log, instance }: LogTarget,
  window: PreviewWindow['filter'],
  set: PolicySet,
  nowMs: number,
): Promise<LimitTrial> {
  const filter = judgedIn(window);
  const inWindow = await countRecords(store, log, filter);
  const gate = { ...(await currentGate(store, instance, nowMs)), ...policyParts(set) };
  const kept = new KeptRequests(set, gate);
  const done = await examineNewest(
    store,
    log,
    filter,
    (record) => kept.note(record),
    () => kept.isFull,
  );
  return { ...done, inWindow, withoutInputs: kept.withoutInputs, ...replayed(set, kept) };
}

/** What the requests of the walk asked of limits, up to a bound. */
export class KeptRequests {
  readonly #set: Pick<PolicySet, 'limits'>;
  readonly #gate: ReplayGate;
  readonly #keysMax: number;
  readonly #requests: KeptRequest[] = [];
  readonly #visitors = new Map<string | null, Visitor>();
  /** By place of the limit. */
  readonly #stopped: Map<VerdictSource, number>[];
  #keys = 0;
  #withoutInputs = 0;

  /** `gate`: with the policies of `set`. */
  constructor(set: Pick<PolicySet, 'limits'>, gate: ReplayGate, keysMax = KEYS_MAX) {
    this.#set = set;
    this.#gate = gate;
    this.#keysMax = keysMax;
    this.#stopped = set.limits.map(() => new Map());
  }

  get isFull(): boolean {
    return this.#keys >= this.#keysMax;
  }

  get withoutInputs(): number {
    return this.#withoutInputs;
  }

  note(record: VerdictRecord): void {
    if (isUntouchable(record, this.#gate)) return;
    if (record.inputs === undefined) {
      this.#withoutInputs += 1;
      return;
    }
    const { uses, stopped } = loggedUses(record, this.#gate, this.#set.limits);
    for (const { limit, by } of stopped) this.#stopped[limit]!.set(by, (this.#stopped[limit]!.get(by) ?? 0) + 1);
    if (uses.length === 0) return;
    for (const { possible } of uses) this.#keys += possible.length;
    const { ip, asn, country, timestamp: atMs, request_id: requestId } = record;
    let visitor = this.#visitors.get(ip);
    if (visitor === undefined) this.#visitors.set(ip, (visitor = { ip, asn, country }));
    this.#requests.push({ atMs, requestId, visitor, uses });
  }

  oldestFirst(): KeptRequest[] {
    return this.#requests.toReversed();
  }

  /** What stopped requests before they reached a limit, most often first. */
  stoppedBefore(limit: number): LimitEffect['stopped'] {
    return [...this.#stopped[limit]!]
      .map(([by, requests]) => ({ by, requests }))
      .toSorted((one, other) => other.requests - one.requests);
  }
}

function replayed({ limits }: PolicySet, kept: KeptRequests): Pick<LimitTrial, 'refused' | 'effects'> {
  const requests = kept.oldestFirst();
  const open = new Set(requests.flatMap(({ uses }) => uses.filter(isUncertain).map(({ limit }) => limit)));
  const replay = new LimitReplay(limits, open);
  const tallies = limits.map(() => new Tally());
  let refused = 0;
  for (const request of requests) {
    const said = replay.play(request.uses, request.atMs);
    request.uses.forEach((use, place) => tallies[use.limit]!.note(request, use, said[place]!));
    if (request.uses.some(({ limit }, place) => said[place] === 'above' && limits[limit]!.mode === 'enforce')) {
      refused += 1;
    }
  }
  const effects = limits.map((limit, place) => ({
    limit: limit.name,
    mode: limit.mode,
    ...tallies[place]!.sums(),
    stopped: kept.stoppedBefore(place),
    unlogged: unloggedParts(limit),
  }));
  return { refused, effects: effects.toSorted((one, other) => other.above - one.above || other.untold - one.untold) };
}

/** What one limit did. */
class Tally {
  readonly #sums = { requests: 0, unsure: 0, above: 0, untold: 0 };
  readonly #keys = new Set<string>();
  readonly #visitors = new Map<Visitor, VisitorAbove>();

  note({ visitor, requestId, atMs }: KeptRequest, use: ReplayedUse, said: Replayed): void {
    this.#sums.requests += 1;
    if (!use.isAsked) this.#sums.unsure += 1;
    if (said === 'within') return;
    this.#sums[said] += 1;
    if (said === 'above') for (const { key, isOwn } of use.known) if (isOwn) this.#keys.add(key);
    const known = this.#visitors.get(visitor) ?? { above: 0, untold: 0 };
    this.#visitors.set(visitor, { ...known, [said]: known[said] + 1, requestId, atMs });
  }

  sums(): Omit<LimitEffect, 'limit' | 'mode' | 'unlogged' | 'stopped'> {
    const visitors = [...this.#visitors].map(([visitor, above]) => ({ ...visitor, ...above }));
    const most = visitors.toSorted((one, other) => other.above - one.above || other.untold - one.untold);
    return {
      ...this.#sums,
      keys: this.#keys.size,
      addresses: visitors.filter(({ above }) => above > 0).length,
      visitors: most.slice(0, VISITORS_MAX),
    };
  }
}
