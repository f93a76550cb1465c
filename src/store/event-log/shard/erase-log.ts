/**
 * The end of a log: with its instance deleted nobody can read it any more, so it is erased, rows and
 * sealed objects, and does not wait for retention. Marked first and done by the alarm, a while later:
 * a batch that was let in before the deletion has arrived by then.
 */
import { createShardTables, readMeta, writeMeta } from './schema.ts';
import { objectFolder } from './segments.ts';

/** No call to the service lasts as long. */
const ERASE_AFTER_MS = 60_000;

/** When to erase it; the moment it was marked first counts. */
export function markLogRetired(sql: SqlStorage, nowMs: number): number {
  if (readMeta(sql, 'erase_at') === null) writeMeta(sql, 'erase_at', String(nowMs + ERASE_AFTER_MS));
  return Number(readMeta(sql, 'erase_at'));
}

/** `null`: the log is in use. */
export function logEraseAt(sql: SqlStorage): number | null {
  const moment = readMeta(sql, 'erase_at');
  return moment === null ? null : Number(moment);
}

/** Leaves an empty log behind; repeated after a failure it goes on with what is left. */
export async function eraseLog(storage: DurableObjectStorage, bucket: R2Bucket, shardName: string): Promise<void> {
  for (;;) {
    const { objects } = await bucket.list({ prefix: objectFolder(shardName) });
    if (objects.length === 0) break;
    await bucket.delete(objects.map(({ key }) => key));
  }
  await storage.deleteAll();
  createShardTables(storage.sql);
}
