/**
 * Erases a log whose instance was deleted, rows and sealed objects, without waiting for retention. The log is marked
 * first and erased by the alarm later, so that batches that started before the deletion have arrived by then.
 */
import { migrateObject } from '../../object-schema.ts';
import { readMeta, shardSchema, writeMeta } from './schema.ts';
import { isOfShard, ownerFolder } from '../segment-key.ts';

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
  let cursor: string | undefined;
  do {
    const listed = await bucket.list({ prefix: ownerFolder(shardName), ...(cursor === undefined ? {} : { cursor }) });
    const own = listed.objects.map(({ key }) => key).filter((key) => isOfShard(shardName, key));
    if (own.length > 0) await bucket.delete(own);
    cursor = listed.truncated ? listed.cursor : undefined;
  } while (cursor !== undefined);
  await storage.deleteAll();
  migrateObject(storage, shardSchema);
}
