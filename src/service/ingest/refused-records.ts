/**
 * Records that the log refused, kept as they came: a newer edge's version, a clock that was wrong. They
 * count nowhere, but nothing that an edge sent is lost; an operator can read them, mend them and send
 * them again. One object per batch, so that a batch that comes again writes the same object.
 */
import type { ServiceStore } from '../environment.ts';

/** As long as verdicts by default. */
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const PREFIX = 'refused/';
/** R2 lists and deletes this many keys in one call. */
const OBJECTS_PER_CALL = 1000;
/** Deleting goes on in the next run: one run must not eat the sub-requests of all others. */
const CALLS_PER_RUN_MAX = 20;

export type RefusalReason =
  | 'invalid-record'
  | 'unknown-version'
  | 'foreign-instance'
  | 'timestamp-in-future'
  | 'timestamp-too-old';

export interface RefusedRecord {
  reason: RefusalReason;
  record: unknown;
}

/** Key: `refused/{YYYY-MM-DD}/{instance}/{batchId}.ndjson`, a `{reason, record}` a line. */
export async function keepRefused(
  store: Pick<ServiceStore, 'SEGMENTS'>,
  instanceId: string,
  batchId: string,
  refused: readonly RefusedRecord[],
  nowMs: number,
): Promise<void> {
  if (refused.length === 0) return;
  const key = `${PREFIX}${dayOf(nowMs)}/${instanceId}/${encodeURIComponent(batchId)}.ndjson`;
  await store.SEGMENTS.put(key, refused.map((line) => `${JSON.stringify(line)}\n`).join(''), {
    httpMetadata: { contentType: 'application/x-ndjson' },
  });
}

/** Keys sort by day, so what is due is at the front of the list. */
export async function dropOldRefused(store: Pick<ServiceStore, 'SEGMENTS'>, nowMs: number): Promise<void> {
  const oldestKept = `${PREFIX}${dayOf(nowMs - KEPT_DAYS * DAY_MS)}`;
  for (let call = 0; call < CALLS_PER_RUN_MAX; call++) {
    const { objects } = await store.SEGMENTS.list({ prefix: PREFIX, limit: OBJECTS_PER_CALL });
    const due = objects.map(({ key }) => key).filter((key) => key < oldestKept);
    if (due.length === 0) return;
    await store.SEGMENTS.delete(due);
  }
}

/** What was refused of a deleted instance: with the instance its reader is gone. */
export async function dropRefusedOf(
  store: Pick<ServiceStore, 'SEGMENTS'>,
  instanceId: string,
  nowMs: number,
): Promise<void> {
  for (let day = 0; day <= KEPT_DAYS; day++) {
    const prefix = `${PREFIX}${dayOf(nowMs - day * DAY_MS)}/${instanceId}/`;
    const { objects } = await store.SEGMENTS.list({ prefix, limit: OBJECTS_PER_CALL });
    if (objects.length > 0) await store.SEGMENTS.delete(objects.map(({ key }) => key));
  }
}

function dayOf(timestamp: number): string {
  return new Date(timestamp).toISOString().slice(0, 10);
}
