/**
 * Writes a batch of verdicts to the log, from the edge or from the queue. Each record is judged alone. A record that is
 * malformed, from another instance, of an unknown version, out of time or outside the batch's own range is refused with
 * a reason, counted and kept aside; the other records of the batch are not affected.
 */
import * as core from 'zod/v4/core';
import { rangeOf, type BatchRange } from '../../contract/edge/verdict-batch.ts';
import { CLOCK_SKEW_MAX_MS, VERDICT_RECORD_VERSION } from '../../contract/edge/record-bounds.ts';
import type { VerdictBatchResponse } from '../../contract/edge/edge-responses.ts';
import { type VerdictRecord, verdictRecord } from '../../contract/edge/verdict-record.ts';
import type { RefusalReason } from '../../contract/vocabulary.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { appendRows } from '../../store/event-log/client/append-verdicts.ts';
import { appendCounters, verdictLogOf } from '../../store/event-log/client/verdict-log.ts';
import { ARRIVAL_MAX_AGE_MS } from '../../store/event-log/retention.ts';
import { type NumberedRow, verdictRow } from '../../store/event-log/log-row.ts';
import { crowdRisk } from '../../store/risk-book/client/session-risk.ts';
import { keepRefused, type RefusedRecord } from './refused-records.ts';
import { quickCheck } from './quick-check.ts';
import type { ServiceStore } from '../environment.ts';

const isPlainRecord = quickCheck(verdictRecord);

/** Requests of one session, among the verdicts of a batch, that count as a burst. */
const BURST_MIN_REQUESTS = 10;

export interface IncomingBatch {
  batchId: string;
  /** What the batch says of its range: all four fields or none. */
  isolate?: string | undefined;
  firstSeq?: number | undefined;
  lastSeq?: number | undefined;
  held?: number | undefined;
  records: readonly unknown[];
  counters: Readonly<Record<string, number>>;
}

/** Idempotent by isolate and number: sending a batch again changes nothing. */
export async function acceptBatch(
  store: ServiceStore,
  instance: StoredInstance,
  batch: IncomingBatch,
  nowMs: number,
): Promise<VerdictBatchResponse> {
  const rows: NumberedRow[] = [];
  const requests = new Map<string, number>();
  const rejected: VerdictBatchResponse['rejected'] = [];
  const refused: RefusedRecord[] = [];
  const counters: Record<string, number> = { ...batch.counters };
  const range = rangeOf(batch);
  batch.records.forEach((given, index) => {
    const judged = judge(given, instance, range, nowMs);
    if (judged.ok) {
      const { jti, decision } = judged.value;
      rows.push(verdictRow(judged.value, instance.allowVerdicts === 'rows' || decision !== 'allow'));
      if (jti !== null) requests.set(jti, (requests.get(jti) ?? 0) + 1);
    } else {
      const reason = judged.error;
      rejected.push({ index, reason });
      refused.push({ reason, record: given });
      const name = `verdicts_rejected{reason="${reason}"}`;
      counters[name] = (counters[name] ?? 0) + 1;
    }
  });
  await keepRefused(store, instance.id, batch.batchId, refused, nowMs);
  const log = verdictLogOf(instance);
  const counts = await appendRows(store, log, rows, { retentionDays: instance.retentionDays, nowMs, range, counters });
  // Without a record to travel with, the counters count once per batch id.
  if (rows.length === 0) await appendCounters(store, log, batch.batchId, counters);
  if (counts.conflicting > 0) {
    await appendCounters(store, log, `${batch.batchId}/conflicting`, { verdicts_conflicting: counts.conflicting });
  }
  if (counts.accepted > 0) await reportBursts(store, instance, batch.batchId, requests, nowMs);
  return { accepted: counts.accepted, duplicates: counts.duplicates, rejected };
}

/**
 * Reports sessions with many requests in one batch to their risk books. The verdicts are stored by now, so a failed
 * report is counted and does not make the edge send the batch again.
 */
async function reportBursts(
  store: ServiceStore,
  instance: StoredInstance,
  batchId: string,
  requests: ReadonlyMap<string, number>,
  nowMs: number,
): Promise<void> {
  const bursts = [...requests].filter(([, count]) => count >= BURST_MIN_REQUESTS);
  const reports = await Promise.allSettled(bursts.map(([jti, count]) => crowdRisk(store, instance, jti, count, nowMs)));
  const missed = reports.filter(({ status }) => status === 'rejected').length;
  if (missed === 0) return;
  await appendCounters(store, verdictLogOf(instance), `${batchId}/bursts`, { risk_bursts_missed: missed });
}

function judge(
  given: unknown,
  instance: StoredInstance,
  range: BatchRange | null,
  nowMs: number,
): Result<VerdictRecord, RefusalReason> {
  if (typeof given !== 'object' || given === null) return failed('invalid-record');
  if ((given as { v?: unknown }).v !== VERDICT_RECORD_VERSION) return failed('unknown-version');
  const record = checked(given);
  if (record === null) return failed('invalid-record');
  if (record.instance_id !== instance.id) return failed('foreign-instance');
  // It would be outside every window that is read.
  if (record.timestamp > nowMs + CLOCK_SKEW_MAX_MS) return failed('timestamp-in-future');
  if (record.timestamp < nowMs - ARRIVAL_MAX_AGE_MS) return failed('timestamp-too-old');
  if (range !== null && !isWithin(record, range)) return failed('outside-batch');
  return ok(record);
}

function isWithin({ edge }: VerdictRecord, { isolate, firstSeq, lastSeq }: BatchRange): boolean {
  return edge.isolate === isolate && edge.seq >= firstSeq && edge.seq <= lastSeq;
}

function checked(given: object): VerdictRecord | null {
  if (isPlainRecord(given)) return given as VerdictRecord;
  const parsed = core.safeParse(verdictRecord, given);
  return parsed.success ? parsed.data : null;
}
