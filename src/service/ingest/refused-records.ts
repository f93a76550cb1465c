/**
 * Records that the log refused, kept as they arrived: from a newer edge, or from a wrong clock. They count nowhere, but
 * they are not lost: an operator can read them, correct them and send them again. One object per batch, so that a batch
 * that arrives again writes the same object.
 */
import type { RefusalReason } from '../../contract/vocabulary.ts';
import type { ServiceStore } from '../environment.ts';

/** As long as the default retention of verdicts. */
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;
const PREFIX = 'refused/';
/** R2 lists and deletes this many keys in one call. */
const OBJECTS_PER_CALL = 1000;
/** One task must not use up the subrequests of the whole run; the next run continues. */
const CALLS_PER_RUN_MAX = 20;

export interface RefusedRecord {
  reason: RefusalReason;
  record: unknown;
}

/** Key: `refused/{YYYY-MM-DD}/{instance}/{batchId}.ndjson`, with one `{reason, record}` per line. */
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

/** Keys sort by day, so the objects to delete come first in the list. */
export async function dropOldRefused(store: Pick<ServiceStore, 'SEGMENTS'>, nowMs: number): Promise<void> {
  const oldestKept = `${PREFIX}${dayOf(nowMs - KEPT_DAYS * DAY_MS)}`;
  for (let call = 0; call < CALLS_PER_RUN_MAX; call++) {
    const { objects } = await store.SEGMENTS.list({ prefix: PREFIX, limit: OBJECTS_PER_CALL });
    const due = objects.map(({ key }) => key).filter((key) => key < oldestKept);
    if (due.length === 0) return;
    await store.SEGMENTS.delete(due);
  }
}

/** Deletes the refused records of a deleted instance. */
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
