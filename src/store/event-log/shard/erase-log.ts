/**
 * Erases a log whose instance was deleted, rows and sealed objects, without waiting for retention. The log is marked
 * first and erased by the alarm later, so that batches that started before the deletion have arrived by then.
 */
import { createShardTables, readMeta, writeMeta } from './schema.ts';
import { objectFolder } from './segments.ts';

/** Longer than any call to the service takes. */
const ERASE_AFTER_MS = 60_000;

/** When to erase the log; the first mark counts. */
export function markLogRetired(sql: SqlStorage, nowMs: number): number {
  if (readMeta(sql, 'erase_at') === null) writeMeta(sql, 'erase_at', String(nowMs + ERASE_AFTER_MS));
  return Number(readMeta(sql, 'erase_at'));
}

/** `null`: the log is in use. */
export function logEraseAt(sql: SqlStorage): number | null {
  const moment = readMeta(sql, 'erase_at');
  return moment === null ? null : Number(moment);
}

/** Leaves an empty log. Repeated after a failure, it continues with what is left. */
export async function eraseLog(storage: DurableObjectStorage, bucket: R2Bucket, shardName: string): Promise<void> {
  for (;;) {
    const { objects } = await bucket.list({ prefix: objectFolder(shardName) });
    if (objects.length === 0) break;
    await bucket.delete(objects.map(({ key }) => key));
  }
  await storage.deleteAll();
  createShardTables(storage.sql);
}
