/**
 * A batch of verdicts on its way into the log, from the edge directly or by way of the queue. Every
 * record is judged alone (design 7): one that is malformed, foreign, of an unknown version or out of
 * time is refused with a reason, counted and kept aside, and costs its neighbours nothing.
 */
import * as core from 'zod/v4/core';
import type { VerdictBatchAnswer } from '../../contract/edge/edge-api.ts';
import { VERDICT_RECORD_VERSION, verdictRecord } from '../../contract/edge/verdict-record.ts';
import type { VerdictRecord } from '../../contract/edge/verdict-record.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { appendCounters, appendRows, verdictLogOf } from '../../store/event-log/client/verdict-log.ts';
import { ARRIVAL_MAX_AGE_MS } from '../../store/event-log/retention.ts';
import { verdictRow } from '../../store/event-log/log-row.ts';
import type { LogRow } from '../../store/event-log/log-row.ts';
import { crowdRisk } from '../../store/risk-book/client/session-risk.ts';
import { keepRefused } from './refused-records.ts';
import type { RefusalReason, RefusedRecord } from './refused-records.ts';
import { quickCheck } from './quick-check.ts';
import type { ServiceStore } from '../environment.ts';

/** Clocks of two data centres differ by less; anything further ahead would hide from every window. */
const CLOCK_SKEW_MAX_MS = 300_000;

const isPlainRecord = quickCheck(verdictRecord);

/** Of the hundred verdicts that an isolate sends at once. */
const BURST_IN_BATCH = 10;

export interface IncomingBatch {
  batchId: string;
  records: readonly unknown[];
  counters: Readonly<Record<string, number>>;
}

/** Idempotent by event id and batch id: given twice, the second time changes nothing. */
export async function acceptBatch(
  store: ServiceStore,
  instance: StoredInstance,
  batch: IncomingBatch,
  nowMs: number,
): Promise<VerdictBatchAnswer> {
  const rows: LogRow[] = [];
  const requests = new Map<string, number>();
  const rejected: VerdictBatchAnswer['rejected'] = [];
  const refused: RefusedRecord[] = [];
  const counters: Record<string, number> = { ...batch.counters };
  batch.records.forEach((given, index) => {
    const judged = judge(given, instance, nowMs);
    if (typeof judged === 'string') {
      rejected.push({ index, reason: judged });
      refused.push({ reason: judged, record: given });
      const name = `verdicts_rejected{reason="${judged}"}`;
      counters[name] = (counters[name] ?? 0) + 1;
    } else {
      rows.push(verdictRow(judged, instance.allowVerdicts === 'rows' || judged.decision !== 'allow'));
      if (judged.jti !== null) requests.set(judged.jti, (requests.get(judged.jti) ?? 0) + 1);
    }
  });
  await keepRefused(store, instance.id, batch.batchId, refused, nowMs);
  const log = verdictLogOf(instance);
  const counts = await appendRows(store, log, rows, instance.retentionDays);
  if (counts.conflicting > 0) counters['verdicts_conflicting'] = counts.conflicting;
  await appendCounters(store, log, batch.batchId, counters);
  if (counts.accepted > 0) await tellBursts(store, instance, batch.batchId, requests, nowMs);
  return { accepted: counts.accepted, duplicates: counts.duplicates, rejected };
}

/**
 * Sessions with few requests in a batch are no burst, and not worth a call each. The verdicts are in by now: a
 * hint that fails is counted, and no reason to have the batch sent again.
 */
async function tellBursts(
  store: ServiceStore,
  instance: StoredInstance,
  batchId: string,
  requests: ReadonlyMap<string, number>,
  nowMs: number,
): Promise<void> {
  const busy = [...requests].filter(([, count]) => count >= BURST_IN_BATCH);
  const told = await Promise.allSettled(busy.map(([jti, count]) => crowdRisk(store, instance, jti, count, nowMs)));
  const failed = told.filter(({ status }) => status === 'rejected').length;
  if (failed === 0) return;
  await appendCounters(store, verdictLogOf(instance), `${batchId}/bursts`, { risk_bursts_missed: failed });
}

function judge(given: unknown, instance: StoredInstance, nowMs: number): VerdictRecord | RefusalReason {
  if (typeof given !== 'object' || given === null) return 'invalid-record';
  if ((given as { v?: unknown }).v !== VERDICT_RECORD_VERSION) return 'unknown-version';
  const record = checked(given);
  if (record === null) return 'invalid-record';
  if (record.instance_id !== instance.id) return 'foreign-instance';
  if (record.timestamp > nowMs + CLOCK_SKEW_MAX_MS) return 'timestamp-in-future';
  if (record.timestamp < nowMs - ARRIVAL_MAX_AGE_MS) return 'timestamp-too-old';
  return record;
}

function checked(given: object): VerdictRecord | null {
  if (isPlainRecord(given)) return given as VerdictRecord;
  const parsed = core.safeParse(verdictRecord, given);
  return parsed.success ? parsed.data : null;
}
