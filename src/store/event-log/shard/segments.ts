/**
 * Manifests of sealed segments, and the steps of sealing: choose rows, write the object, then record its manifest and
 * delete the rows in one transaction. A segment is `sealing` until that transaction. After a crash the same rows are
 * written again under the same key.
 */
import type { HotRows } from './hot-rows.ts';
import { compareNewestFirst } from '../log-row.ts';
import type { RowKey, StoredRow } from '../log-row.ts';
import { recordSealedIds } from './sealed-ids.ts';
import { buildSegment } from './segment-build.ts';
import type { BuiltSegment } from './segment-build.ts';
import { writeRowGroups } from './row-groups.ts';
import type { SegmentSource } from '../parquet/segment-metadata.ts';
import { nextDay, segmentKey, shardPlace } from '../segment-key.ts';

/** Isolates rarely send older records; late copies are found among the sealed ids. */
const VERDICT_SEAL_AGE_MS = 5000;
/** A captcha can change until its token expires: 30 minutes of rounds, 10 minutes of token, and some reserve. */
const CAPTCHA_SEAL_AGE_MS = 3_600_000;
/** Rows that are read from the table at once. */
const PAGE_ROWS = 500;

export interface SealingSegment {
  no: number;
  object: string;
  maxTs: number;
  maxId: string;
  maxSeq: number;
}

function sealAgeMs(shardName: string): number {
  return shardName.startsWith('captcha/') ? CAPTCHA_SEAL_AGE_MS : VERDICT_SEAL_AGE_MS;
}

/** Most rows of a busy captcha log can still change, so a segment is sealed only when it can be full. */
export function hasFullSegment(sql: SqlStorage, shardName: string, segmentRows: number, nowMs: number): boolean {
  const full = 'SELECT 1 FROM verdicts WHERE ts < ? LIMIT 1 OFFSET ?';
  return sql.exec(full, nowMs - sealAgeMs(shardName), segmentRows - 1).toArray().length > 0;
}

const BELONGS = '(ts, id) <= (?, ?) AND seq <= ?';

/** The segment that is being sealed, or a new one; `null` when there is nothing to seal. */
export function openSegment(
  storage: DurableObjectStorage,
  hot: HotRows,
  shardName: string,
  segmentRows: number,
  nowMs: number,
): SealingSegment | null {
  const { sql } = storage;
  const [open] = sql.exec<{ no: number; object: string; maxTs: number; maxId: string; maxSeq: number }>(
    `SELECT no, object, max_ts AS maxTs, max_id AS maxId, max_seq AS maxSeq FROM segments WHERE state = 'sealing'`,
  );
  if (open) return open;
  const { oldest } = sql.exec<{ oldest: number | null }>('SELECT MIN(ts) AS oldest FROM verdicts').one();
  const [last] = sql.exec<{ ts: number; id: string }>(
    `SELECT ts, id FROM (SELECT ts, id FROM verdicts WHERE ts < ? ORDER BY ts, id LIMIT ?)
     ORDER BY ts DESC, id DESC LIMIT 1`,
    Math.min(nowMs - sealAgeMs(shardName), nextDay(oldest ?? 0)),
    segmentRows,
  );
  if (!last) return null;
  return beginSegment(sql, shardName, { timestamp: last.ts, id: last.id }, hot.lastSeq, nowMs);
}

/** Records which rows the object will hold, before the object is written. */
export function beginSegment(
  sql: SqlStorage,
  shardName: string,
  newest: RowKey,
  maxSeq: number,
  nowMs: number,
): SealingSegment {
  const { no } = sql.exec<{ no: number }>('SELECT COALESCE(MAX(no), 0) + 1 AS no FROM segments').one();
  const segment = {
    no,
    object: segmentKey(shardName, newest.timestamp, no),
    maxTs: newest.timestamp,
    maxId: newest.id,
    maxSeq,
  };
  sql.exec(
    `INSERT INTO segments (no, state, object, rows, bytes, min_ts, max_ts, max_id, max_seq, created_at)
     VALUES (?, 'sealing', ?, 0, 0, ?, ?, ?, ?, ?)`,
    no,
    segment.object,
    segment.maxTs,
    segment.maxTs,
    segment.maxId,
    segment.maxSeq,
    nowMs,
  );
  return segment;
}

/** The segment's rows that readers may see, oldest first. */
function* segmentRowsOf(sql: SqlStorage, segment: SealingSegment): Generator<StoredRow> {
  let after = { timestamp: -1, id: '' };
  for (;;) {
    const page = sql
      .exec<{ id: string; timestamp: number; body: string }>(
        `SELECT id, ts AS timestamp, body FROM verdicts
         WHERE ${BELONGS} AND (ts, id) > (?, ?) AND kept = 1 ORDER BY ts, id LIMIT ?`,
        segment.maxTs,
        segment.maxId,
        segment.maxSeq,
        after.timestamp,
        after.id,
        PAGE_ROWS,
      )
      .toArray();
    const last = page.at(-1);
    if (!last) return;
    yield* page;
    after = last;
  }
}

export async function writeSegment(
  sql: SqlStorage,
  bucket: R2Bucket,
  shardName: string,
  segment: SealingSegment,
): Promise<BuiltSegment> {
  const built = await buildSegment(segmentSource(shardName, segment.no), segmentRowsOf(sql, segment));
  await putSegment(bucket, segment.object, built);
  return built;
}

export function segmentSource(shardName: string, no: number): SegmentSource {
  const { stream, owner } = shardPlace(shardName);
  return { stream, owner, shard: shardName, no };
}

export async function putSegment(bucket: R2Bucket, object: string, built: BuiltSegment): Promise<void> {
  await bucket.put(object, built.bytes, {
    httpMetadata: { contentType: 'application/vnd.apache.parquet' },
    customMetadata: { rows: String(built.rows) },
  });
}

/**
 * One transaction deletes the rows, records the manifest and merges the counts. `false`: a row was erased or changed
 * since the segment was built, so it must be built again. (Rows up to `maxSeq` can only become fewer.)
 */
export function commitSegment(sql: SqlStorage, hot: HotRows, segment: SealingSegment, built: BuiltSegment): boolean {
  const bound = [segment.maxTs, segment.maxId, segment.maxSeq];
  const { n } = sql
    .exec<{ n: number }>(`SELECT COUNT(*) AS n FROM verdicts WHERE ${BELONGS} AND kept = 1`, ...bound)
    .one();
  if (n !== built.rows) return false;
  hot.mergePending(() => {
    const sealed = sql.exec<{ id: string; timestamp: number; body: string }>(
      `SELECT id, ts AS timestamp, body FROM verdicts WHERE ${BELONGS}`,
      ...bound,
    );
    recordSealed(sql, hot, segment, built, sealed.toArray());
    sql.exec(`DELETE FROM verdicts WHERE ${BELONGS}`, ...bound);
  });
  const newest = { timestamp: segment.maxTs, id: segment.maxId };
  hot.forget((key) => key.seq <= segment.maxSeq && compareNewestFirst(key, newest) >= 0);
  return true;
}

/** What a sealed segment leaves in the database; runs inside the transaction that counts its rows. */
export function recordSealed(
  sql: SqlStorage,
  hot: HotRows,
  segment: SealingSegment,
  built: BuiltSegment,
  rows: readonly StoredRow[],
): void {
  recordSealedIds(sql, segment.no, rows);
  recordManifest(sql, segment.no, segment.object, built);
  hot.raiseSealedThrough(segment.maxTs, rows);
}

/** Runs inside the caller's transaction and replaces what an earlier revision of the segment stored. */
export function recordManifest(sql: SqlStorage, no: number, object: string, built: BuiltSegment): void {
  writeRowGroups(sql, no, built.groups);
  built.index.write(sql, no);
  sql.exec(
    `UPDATE segments SET state = 'sealed', object = ?, rows = ?, bytes = ?, min_ts = ? WHERE no = ?`,
    object,
    built.rows,
    built.bytes.length,
    built.groups[0]?.minTs ?? 0,
    no,
  );
}
