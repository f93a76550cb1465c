/**
 * Records that the log refused, kept as they came: a newer edge's version, a clock that was wrong. They
 * count nowhere, but nothing that an edge sent is lost; an operator can read them, mend them and send
 * them again. One object per batch, so that a batch that comes again writes the same object.
 */

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
  env: Pick<ServiceEnv, 'SEGMENTS'>,
  instanceId: string,
  batchId: string,
  refused: readonly RefusedRecord[],
  now: number,
): Promise<void> {
  if (refused.length === 0) return;
  const key = `${PREFIX}${dayOf(now)}/${instanceId}/${encodeURIComponent(batchId)}.ndjson`;
  await env.SEGMENTS.put(key, refused.map((line) => `${JSON.stringify(line)}\n`).join(''), {
    httpMetadata: { contentType: 'application/x-ndjson' },
  });
}

/** Keys sort by day, so what is due is at the front of the list. */
export async function dropOldRefused(env: Pick<ServiceEnv, 'SEGMENTS'>, now: number): Promise<void> {
  const oldestKept = `${PREFIX}${dayOf(now - KEPT_DAYS * DAY_MS)}`;
  for (let call = 0; call < CALLS_PER_RUN_MAX; call++) {
    const { objects } = await env.SEGMENTS.list({ prefix: PREFIX, limit: OBJECTS_PER_CALL });
    const due = objects.map(({ key }) => key).filter((key) => key < oldestKept);
    if (due.length === 0) return;
    await env.SEGMENTS.delete(due);
  }
}

/** What was refused of a deleted instance: with the instance its reader is gone. */
export async function dropRefusedOf(env: Pick<ServiceEnv, 'SEGMENTS'>, instanceId: string, now: number): Promise<void> {
  for (let day = 0; day <= KEPT_DAYS; day++) {
    const prefix = `${PREFIX}${dayOf(now - day * DAY_MS)}/${instanceId}/`;
    const { objects } = await env.SEGMENTS.list({ prefix, limit: OBJECTS_PER_CALL });
    if (objects.length > 0) await env.SEGMENTS.delete(objects.map(({ key }) => key));
  }
}

function dayOf(timestamp: number): string {
  return new Date(timestamp).toISOString().slice(0, 10);
}
