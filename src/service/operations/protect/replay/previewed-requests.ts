/**
 * What previews of rules, policies and limits have in common: their window, how far they reached, and logged requests.
 */
import * as z from 'zod/mini';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { verdictSources } from '../../../../contract/vocabulary.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import { everything, type RowFilter } from '../../../../store/event-log/row-filter.ts';
import { OperationError } from '../../operation-error.ts';
import { isoTime } from '../access-rules/rule-response.ts';
import type { LogTarget } from '../verdicts/verdict-log-query.ts';
import type { ReplayedOutcome } from './gate-replay.ts';
import type { RowKey } from '../../../../store/event-log/log-row.ts';
import type { LogName } from '../../../../store/event-log/client/shards.ts';
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import type { ServiceStore } from '../../../environment.ts';

const DAY_MS = 86_400_000;

export const previewedRequest = {
  requestId: z.string(),
  timestamp: z.string(),
  ip: z.nullable(z.string()),
  asn: z.nullable(z.int()),
  country: z.nullable(z.string()),
  userAgent: z.string(),
  requestPath: z.string(),
};
type PreviewedRequest = { [Field in keyof typeof previewedRequest]: z.infer<(typeof previewedRequest)[Field]> };

export function previewedRequestOf(record: VerdictRecord): PreviewedRequest {
  return {
    requestId: record.request_id,
    timestamp: isoTime(record.timestamp),
    ip: record.ip,
    asn: record.asn,
    country: record.country,
    userAgent: record.user_agent,
    requestPath: record.request_path,
  };
}

/** What a logged request got. A policy's redirect stands in the record as an allow that never called the origin. */
export function outcomeOfRecord({ decision, inputs, status, origin_ms: originMs }: VerdictRecord): ReplayedOutcome {
  const isRedirect = decision === 'allow' && originMs === null && status >= 300 && status < 400;
  return isRedirect && inputs?.policy?.verdict === 'allow' ? 'redirect' : decision;
}

/** No table was applied to the others. */
const judgedSources = verdictSources.filter((source) => source !== 'error' && source !== 'internal');

/** The requests of a window that policies and limits could have changed. */
export function judgedIn(window: PreviewWindow['filter']): RowFilter {
  return { ...everything, ...window, sources: judgedSources };
}

/** How far a preview reached. */
export const previewReach = {
  since: z.string(),
  until: z.string(),
  examined: z.int(),
  /** Every request from here to `until` was examined; `since`, when the preview is complete. */
  examinedSince: z.string(),
  /** Whether every request since `since` was examined. */
  complete: z.boolean(),
  /** Requests since `since`, counted by the log. */
  inWindow: z.int(),
  /** Examined requests that are left out: older edges did not record what they were decided from. */
  withoutInputs: z.int(),
  /** `false`: this instance keeps no rows of allowed requests, so the numbers do not include them. */
  allowedRequestsIncluded: z.boolean(),
};

type PreviewReach = { [Field in keyof typeof previewReach]: z.infer<(typeof previewReach)[Field]> };

/** What the walk over the log does not say by itself. */
export function previewReachOf(
  { since, until }: PreviewWindow,
  examinedSince: number,
  { allowVerdicts }: StoredInstance,
): Omit<PreviewReach, 'examined' | 'complete' | 'inWindow' | 'withoutInputs'> {
  return {
    since: isoTime(since),
    until: isoTime(until),
    examinedSince: isoTime(examinedSince),
    allowedRequestsIncluded: allowVerdicts === 'rows',
  };
}

export interface PreviewWindow {
  since: number;
  until: number;
  /** An edge's clock may be ahead: without an end, its newest requests count as well. */
  filter: { since: number; until?: number };
}

/** A day, unless the request says otherwise. @throws OperationError where nothing can be in it. */
export function previewWindow(
  given: { since?: number | undefined; until?: number | undefined },
  { horizon }: Pick<LogTarget, 'horizon'>,
  nowMs: number,
): PreviewWindow {
  const since = Math.max(given.since ?? nowMs - DAY_MS, horizon);
  const until = given.until ?? nowMs;
  if (since > until) {
    throw new OperationError('API.INVALID_BODY', 'The window is empty', [
      { path: 'since', message: since > nowMs ? 'is in the future' : 'is after until, or older than the log' },
    ]);
  }
  return { since, until, filter: { since, ...(given.until === undefined ? {} : { until }) } };
}

/** A few seconds of work. Of a busy site these are the last minutes, of a quiet site the whole week. */
const EXAMINED_MAX_RECORDS = 50_000;
const PAGE_RECORDS = 1000;

export interface Examined {
  examined: number;
  /** Every record from here on was examined; epoch milliseconds. */
  examinedSince: number;
  /** Whether no record of the filter is left. */
  complete: boolean;
}

/**
 * Goes through the newest records of a log that fit a filter, page by page, up to a limit. `isFull` says that the examiner
 * has no room for another one.
 */
export async function examineNewest(
  store: ServiceStore,
  log: LogName,
  filter: RowFilter,
  examine: (record: VerdictRecord) => void,
  isFull: () => boolean = () => false,
): Promise<Examined> {
  let examined = 0;
  let examinedSince = filter.since;
  let before: RowKey | null = null;
  while (examined < EXAMINED_MAX_RECORDS) {
    const page = await readPage(store, log, { filter, before, offset: 0, limit: PAGE_RECORDS, wantTotal: false });
    for (const row of page.rows) {
      if (isFull()) return { examined, examinedSince, complete: false };
      examine(JSON.parse(row.body) as VerdictRecord);
      examined += 1;
      examinedSince = row.timestamp;
    }
    before = page.next;
    if (before === null) return { examined, examinedSince: filter.since, complete: true };
  }
  return { examined, examinedSince, complete: false };
}

/** How many fit. */
export async function countRecords(store: ServiceStore, log: LogName, filter: RowFilter): Promise<number> {
  const page = await readPage(store, log, { filter, before: null, offset: 0, limit: 1, wantTotal: true });
  return page.total;
}
