/** What a day of traffic costs, item by item: pure arithmetic with the prices and the usage below and in `usage.ts`. */
import { isolateRate, type Traffic } from './traffic.ts';
import {
  BYTES_PER_SESSION,
  D1_ROWS_PER_SERVICE_CALL,
  EDGE_CPU_MS,
  EVENTS_PER_CHALLENGE,
  EVENTS_WINDOW_SECONDS,
  INDEX_BYTES_PER_VERDICT,
  OBJECT_CALLS_PER_CHALLENGE,
  OBJECT_CALLS_PER_PICTURE,
  OBJECT_CALLS_PER_POLL,
  OBJECT_CALLS_PER_SESSION,
  OBJECT_GIGABYTES,
  OBJECT_MS_PER_CALL,
  PICTURES_SHARE,
  POLLS_PER_LOCATION,
  REPORTS_PER_SESSION,
  REPORTS_WINDOW_SECONDS,
  ROWS_PER_BATCH,
  ROWS_PER_NEW_TEXT,
  ROWS_PER_SEGMENT,
  ROWS_PER_SESSION,
  ROWS_SPENT_PER_CHALLENGE,
  ROWS_SPENT_PER_PICTURE,
  SEALED_BYTES_PER_REPORT,
  SEALED_BYTES_PER_VERDICT,
  SEGMENT_VERDICTS,
  SERVICE_CALLS_PER_CHALLENGE,
  SERVICE_CALLS_PER_SESSION,
  SERVICE_CPU_MS_PER_BATCH,
  SERVICE_CPU_MS_PER_CALL,
  SESSIONS_KEPT_MAX,
  WATCH_BUSY_FROM,
  WATCH_BUSY_SECONDS,
  WATCH_QUIET_SECONDS,
} from './usage.ts';

/**
 * List prices of Workers Paid in dollars, as of November 2026. The only place that has them: the `cost` command and the
 * table of docs/operations.md are computed from here. The plan's own 5 dollars a month, and what they include, are left
 * out.
 */
const MILLION = 1_000_000;

const prices = {
  workerRequest: 0.3 / MILLION,
  workerCpuMs: 0.02 / MILLION,
  objectRequest: 0.15 / MILLION,
  objectGigabyteSecond: 12.5 / MILLION,
  objectRowWritten: 1 / MILLION,
  objectGigabyteMonth: 0.2,
  r2Write: 4.5 / MILLION,
  r2GigabyteMonth: 0.015,
  d1RowRead: 0.001 / MILLION,
} as const;

const DAYS_PER_MONTH = 30;
const GIGABYTE = 1e9;

export interface Item {
  name: string;
  dollars: number;
  /** The arithmetic, with N for the requests of a day. */
  how: string;
}

/** Dollars a day. */
export function billOf(traffic: Traffic): Item[] {
  const { perDay, retentionDays } = traffic;
  const sessions = shareOf(perDay, traffic.sessionsPer);
  const challenges = shareOf(perDay, traffic.challengesPer);
  const polls = traffic.locations * POLLS_PER_LOCATION;
  const pictures = challenges * PICTURES_SHARE;
  // One isolate of the service batches what one isolate of the edge causes.
  const batchesOf = (records: number, windowSeconds: number): number =>
    records / (1 + (isolateRate(traffic.batch) * windowSeconds * records) / perDay);
  const edgeBatches = perDay / traffic.batch;
  const reportBatches = batchesOf(REPORTS_PER_SESSION * sessions, REPORTS_WINDOW_SECONDS);
  const eventBatches = batchesOf(EVENTS_PER_CHALLENGE * challenges, EVENTS_WINDOW_SECONDS);
  // Each shard ends a segment at midnight, however few verdicts are in it.
  const segments = perDay / SEGMENT_VERDICTS + traffic.shards;
  const edgeCalls = SERVICE_CALLS_PER_SESSION * sessions + SERVICE_CALLS_PER_CHALLENGE * challenges + polls;
  const watchSeconds = isolateRate(traffic.batch) >= WATCH_BUSY_FROM ? WATCH_BUSY_SECONDS : WATCH_QUIET_SECONDS;
  const watchCalls = Math.min(edgeBatches, batchesOf(perDay, watchSeconds));
  const objectCalls =
    edgeBatches +
    watchCalls +
    reportBatches +
    eventBatches +
    OBJECT_CALLS_PER_SESSION * sessions +
    OBJECT_CALLS_PER_CHALLENGE * challenges +
    OBJECT_CALLS_PER_PICTURE * pictures +
    OBJECT_CALLS_PER_POLL * polls;
  const objectSeconds = (objectCalls * OBJECT_MS_PER_CALL) / 1000;
  const sessionsKept = Math.min(sessions * retentionDays, SESSIONS_KEPT_MAX);
  const row = prices.objectRowWritten;
  return [
    { name: 'edge requests', dollars: perDay * prices.workerRequest, how: 'N × 0.30/M' },
    { name: 'edge CPU', dollars: perDay * EDGE_CPU_MS * prices.workerCpuMs, how: `N × ${EDGE_CPU_MS} ms × 0.02/M` },
    {
      name: 'service requests',
      dollars: traffic.serviceBinding ? 0 : (edgeBatches + edgeCalls) * prices.workerRequest,
      how: `nothing over a service binding; else (N/b + ${SERVICE_CALLS_PER_SESSION} × sessions + ${SERVICE_CALLS_PER_CHALLENGE} × challenges + polls) × 0.30/M`,
    },
    {
      name: 'service CPU',
      dollars: (edgeBatches * SERVICE_CPU_MS_PER_BATCH + edgeCalls * SERVICE_CPU_MS_PER_CALL) * prices.workerCpuMs,
      how: `${SERVICE_CPU_MS_PER_BATCH} ms a batch, ${SERVICE_CPU_MS_PER_CALL} ms another call`,
    },
    {
      name: 'object requests',
      dollars: objectCalls * prices.objectRequest,
      how: `(batches + sums for the watch + ${OBJECT_CALLS_PER_SESSION} × sessions + ${OBJECT_CALLS_PER_CHALLENGE} × challenges + ${OBJECT_CALLS_PER_PICTURE} × pictures + ${OBJECT_CALLS_PER_POLL} × polls) × 0.15/M`,
    },
    {
      name: 'object duration',
      dollars: objectSeconds * OBJECT_GIGABYTES * prices.objectGigabyteSecond,
      how: `those × ${OBJECT_MS_PER_CALL} ms × ${OBJECT_GIGABYTES} GB × 12.50/M`,
    },
    {
      name: 'rows written: verdicts',
      dollars: (edgeBatches * ROWS_PER_BATCH + segments * ROWS_PER_SEGMENT) * row,
      how: `${ROWS_PER_BATCH} a batch, ${ROWS_PER_SEGMENT} a segment`,
    },
    {
      name: 'rows written: new values',
      dollars: shareOf(perDay, traffic.textsPer) * ROWS_PER_NEW_TEXT * row,
      how: `${ROWS_PER_NEW_TEXT} for each`,
    },
    {
      name: 'rows written: sessions',
      dollars: sessions * ROWS_PER_SESSION * row,
      how: `${ROWS_PER_SESSION} a session`,
    },
    {
      name: 'rows written: reports',
      dollars: reportBatches * ROWS_PER_BATCH * row,
      how: `${REPORTS_PER_SESSION} a session, in batches of ${REPORTS_WINDOW_SECONDS} seconds`,
    },
    {
      name: 'rows written: captchas',
      dollars:
        (challenges * ROWS_SPENT_PER_CHALLENGE + pictures * ROWS_SPENT_PER_PICTURE + eventBatches * ROWS_PER_BATCH) *
        row,
      how: `${ROWS_SPENT_PER_CHALLENGE} a challenge, ${ROWS_SPENT_PER_PICTURE} with pictures, ${EVENTS_PER_CHALLENGE} events in batches of a second`,
    },
    { name: 'R2 writes', dollars: segments * prices.r2Write, how: `N/${SEGMENT_VERDICTS} and S segments × 4.50/M` },
    {
      name: 'R2 kept',
      dollars: dailyOf(
        (perDay * SEALED_BYTES_PER_VERDICT + REPORTS_PER_SESSION * sessions * SEALED_BYTES_PER_REPORT) * retentionDays,
        prices.r2GigabyteMonth,
      ),
      how: `${SEALED_BYTES_PER_VERDICT} B a verdict, ${SEALED_BYTES_PER_REPORT} B a report`,
    },
    {
      name: 'object storage',
      dollars: dailyOf(
        perDay * retentionDays * INDEX_BYTES_PER_VERDICT + sessionsKept * BYTES_PER_SESSION,
        prices.objectGigabyteMonth,
      ),
      how: `${INDEX_BYTES_PER_VERDICT} B a verdict, ${BYTES_PER_SESSION} B a session, ${SESSIONS_KEPT_MAX / 1e6} million sessions at most`,
    },
    {
      name: 'D1 rows read',
      dollars: (edgeBatches + edgeCalls) * D1_ROWS_PER_SERVICE_CALL * prices.d1RowRead,
      how: `${D1_ROWS_PER_SERVICE_CALL} a call of the service`,
    },
  ];
}

/** One for so many requests; none for 0. */
function shareOf(perDay: number, requests: number): number {
  return requests === 0 ? 0 : perDay / requests;
}

/** Of a price per gigabyte and month. */
function dailyOf(bytes: number, price: number): number {
  return ((bytes / GIGABYTE) * price) / DAYS_PER_MONTH;
}

export function totalOf(items: readonly Item[]): number {
  return items.reduce((sum, { dollars }) => sum + dollars, 0);
}
