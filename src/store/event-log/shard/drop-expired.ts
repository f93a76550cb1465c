/**
 * Deletes what is older than the instance's retention: rows, sealed segments and their objects, rollups.
 * Readers already stop at the same moment, the start of an hour, so that rows and counts end together. The numbers of
 * isolates are kept until no copy of a record can arrive.
 */
import { ARRIVAL_MAX_AGE_MS, retentionHorizon } from '../retention.ts';
import { deleteDoomed, doom } from './segments.ts';
import { dropCaptchaColumns } from './captcha-segments.ts';
import type { HotRows } from './hot-rows.ts';
import { dropRowGroups } from './row-groups.ts';
import { readMeta, writeMeta } from './schema.ts';
import { dropIndex } from '../columns/segment-index.ts';
import { dropOldBounds } from '../columns/segment-keys.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** A queue holds a message for at most 14 days, so a copy can arrive until then. */
const COPY_MAX_AGE_MS = ARRIVAL_MAX_AGE_MS + 15 * DAY_MS;
const RETENTION_DAYS_DEFAULT = 30;
/** An audit search looks back 30 days; one day in reserve. */
const SEARCHED_AGE_MS = 31 * DAY_MS;

function horizonOf(sql: SqlStorage, nowMs: number): number {
  return retentionHorizon(Number(readMeta(sql, 'retention_days') ?? RETENTION_DAYS_DEFAULT), nowMs);
}

/** A segment that overlaps the horizon stays until its last row has passed it. */
export async function dropExpired(
  storage: DurableObjectStorage,
  hot: HotRows,
  bucket: R2Bucket,
  nowMs: number,
): Promise<void> {
  const { sql } = storage;
  const horizon = horizonOf(sql, nowMs);
  const arrivals = nowMs - COPY_MAX_AGE_MS;
  hot.transaction(() => {
    const expired = sql.exec<{ no: number; object: string }>(
      "SELECT no, object FROM segments WHERE state = 'sealed' AND max_ts < ?",
      horizon,
    );
    for (const { no, object } of expired.toArray()) {
      dropRowGroups(sql, no);
      dropIndex(sql, no);
      sql.exec("UPDATE segments SET state = 'expired' WHERE no = ?", no);
      doom(sql, object);
    }
    dropOldBounds(sql);
    dropCaptchaColumns(sql, nowMs - SEARCHED_AGE_MS);
    hot.rollups.dropBefore(Math.floor(horizon / MINUTE_MS));
    sweepValues(sql, hot, nowMs);
    sql.exec('DELETE FROM counted_batches WHERE at < ?', arrivals);
    hot.isolates.dropSilentSince(arrivals);
    hot.captchas.sealed.dropBefore(arrivals);
  });
  await deleteDoomed(sql, bucket);
}

/** Once a day, because it reads every hour that is kept. */
function sweepValues(sql: SqlStorage, hot: HotRows, nowMs: number): void {
  const today = String(Math.floor(nowMs / DAY_MS));
  if (readMeta(sql, 'values_swept') === today) return;
  hot.rollups.dropUnusedValues();
  writeMeta(sql, 'values_swept', today);
}
