/**
 * From the fields of a request to the terms of the log: which log, which window, which rows. The window never goes
 * further back than the instance's retention, so that rows and counts always end at the same time.
 */
import { OperationError } from '../../operation-error.ts';
import { instanceOfCall } from '../chosen-instance.ts';
import type { OperationContext } from '../../define-operation.ts';
import { SERIES_POINTS_MAX, type VerdictPageRequest } from '../../../../contract/management/verdict-query.ts';
import { type Decision, decisions, type VerdictSource, visitorSources } from '../../../../contract/vocabulary.ts';
import { canonicalIp } from '../../../../address/ip.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import { shortReferenceWindow } from '../../../../contract/edge/short-reference.ts';
import { everything, type RowFilter } from '../../../../store/event-log/row-filter.ts';
import { retentionHorizon } from '../../../../store/event-log/retention.ts';
import { verdictLogOf } from '../../../../store/event-log/client/verdict-log.ts';
import type { LogName } from '../../../../store/event-log/client/shards.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Between the time in a reference and the verdict's, at most. */
const REFERENCE_OFF_MS = 1000;
/** A wrong clock may date a verdict up to five minutes ahead. */
const AHEAD_MS = 300_000;

export interface LogTarget {
  log: LogName;
  instance: StoredInstance;
  /** Nothing older is kept; epoch milliseconds. */
  horizon: number;
}

/** The account's active instance and its log. @throws NoActiveInstanceError */
export async function logTarget(context: OperationContext<unknown>, siteKey: string | undefined): Promise<LogTarget> {
  const instance = await instanceOfCall(context, siteKey);
  return { log: verdictLogOf(instance), instance, horizon: retentionHorizon(instance.retentionDays, context.nowMs) };
}

type FilterFields = Partial<Omit<VerdictPageRequest, 'siteKey' | 'limit' | 'offset' | 'cursor'>>;

export function rowFilter(query: FilterFields, horizon: number): RowFilter {
  const { requestPath, requestId } = query;
  const prefix = requestPath?.endsWith('*') ?? false;
  const near = requestId === undefined ? everything : around(requestId);
  return {
    since: Math.max(query.since ?? 0, horizon, near.since),
    until: Math.min(query.until ?? everything.until, near.until),
    outcomes: outcomesOf(query.decision),
    sources: query.includeInternal === false ? visitorsAmong(query.sources) : (query.sources ?? null),
    firedRules: query.firedRules ?? null,
    asns: query.asn ?? null,
    devices: query.deviceType ?? null,
    bots: query.bot ?? null,
    proofs: query.proof ?? null,
    path: requestPath === undefined ? null : { text: prefix ? requestPath.slice(0, -1) : requestPath, prefix },
    minRulesFired: query.minRulesFired ?? 0,
    ip: query.ip === undefined ? null : requiredIp(query.ip),
    jti: query.jti ?? null,
    id: requestId ?? null,
    shortId: null,
  };
}

function visitorsAmong(sources: readonly VerdictSource[] = visitorSources): VerdictSource[] {
  return sources.filter((source) => source !== 'internal');
}

/** The rows of a short reference: those of the newest window that it can be of. */
export function shortReferenceFilter(horizon: number, nowMs: number, short: string): RowFilter {
  const window = shortReferenceWindow(short, nowMs + AHEAD_MS);
  return {
    ...everything,
    since: Math.max(horizon, window.since - REFERENCE_OFF_MS),
    until: window.until + REFERENCE_OFF_MS,
    shortId: short,
  };
}

/** A reference begins with the time of its request (UUIDv7), so that a few blocks are read and not the whole log. */
function around(requestId: string): { since: number; until: number } {
  if (requestId[14] !== '7') return everything;
  const atMs = Number.parseInt(requestId.replace('-', '').slice(0, 12), 16);
  return { since: atMs - REFERENCE_OFF_MS, until: atMs + REFERENCE_OFF_MS };
}

export function outcomesOf(decision: readonly Decision[] | undefined): number[] | null {
  return decision ? [...new Set(decision.map((name) => decisions.indexOf(name)))] : null;
}

export function requiredIp(text: string): string {
  const address = canonicalIp(text);
  if (address === null)
    throw new OperationError('API.INVALID_BODY', 'The address cannot be read', [
      { path: 'ip', message: 'must be an IP address' },
    ]);
  return address;
}

interface SeriesWindow {
  /** Epoch milliseconds, on bucket boundaries. */
  since: number;
  until: number;
  /** The part that is counted, in minutes since the epoch. */
  from: number;
  to: number;
  bucketMinutes: number;
}

/** Whole buckets around `since` and `until`. Default: the last 24 hours. */
export function seriesWindow(
  query: { since?: number | undefined; until?: number | undefined; bucket: number },
  horizon: number,
  nowMs: number,
): SeriesWindow {
  const bucketMs = query.bucket * 1000;
  const until = Math.ceil(Math.min(query.until ?? nowMs + 1, nowMs + DAY_MS) / bucketMs) * bucketMs;
  const asked = query.since ?? (query.until ?? nowMs) - DAY_MS;
  const since = Math.min(Math.floor(Math.max(asked, horizon) / bucketMs) * bucketMs, until);
  if ((until - since) / bucketMs > SERIES_POINTS_MAX) {
    throw new OperationError('API.INVALID_BODY', 'The window has too many buckets', [
      { path: 'bucket', message: `must divide the window into at most ${SERIES_POINTS_MAX} buckets` },
    ]);
  }
  // The first bucket may begin before the oldest row that is kept. Only the kept part of it is counted.
  const from = Math.min(Math.max(since, horizon), until) / MINUTE_MS;
  return { since, until, from, to: until / MINUTE_MS, bucketMinutes: query.bucket / 60 };
}

/** Whole minutes around `since` and `until`. The default end includes verdicts that wrong clocks date ahead. */
export function distinctWindow(
  query: { since: number; until?: number | undefined },
  horizon: number,
  nowMs: number,
): { since: number; until: number; from: number; to: number } {
  const to = Math.ceil((query.until ?? nowMs + AHEAD_MS) / MINUTE_MS);
  const from = Math.min(Math.floor(Math.max(query.since, horizon) / MINUTE_MS), to);
  return { since: from * MINUTE_MS, until: to * MINUTE_MS, from, to };
}
