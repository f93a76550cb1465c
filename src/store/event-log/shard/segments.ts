/**
 * Sealed segments: their objects in the bucket, and their manifests. `sealing.ts` says what goes into one. An object to
 * delete is marked in the transaction that stops naming it and deleted afterwards, so that a crash between the two leaves
 * no object behind.
 */
import type { SegmentSource } from '../parquet/segment-footer.ts';
import { segmentKey, shardParts } from '../segment-key.ts';
import type { SealedSegment } from '../columns/segment-search.ts';
import type { RowKey } from '../log-row.ts';
import { writeRowGroups } from './row-groups.ts';
import { readMeta, shardBirth, writeMeta } from './schema.ts';
import type { BuiltSegment } from './segment-build.ts';

export function segmentSource(sql: SqlStorage, shardName: string, no: number): SegmentSource {
  const { stream, owner } = shardParts(shardName);
  return { stream, owner, shard: shardName, no, birth: shardBirth(sql) };
}

export async function putSegment(bucket: R2Bucket, object: string, built: BuiltSegment): Promise<void> {
  await bucket.put(object, built.bytes, {
    httpMetadata: { contentType: 'application/vnd.apache.parquet' },
    customMetadata: { rows: String(built.rows) },
  });
}

interface SegmentQuery {
  /** Epoch milliseconds, `until` exclusive. */
  since: number;
  until: number;
  /** Only segments whose newest row is older; `null`: any. */
  after: RowKey | null;
  /** Highest number. */
  last: number;
  limit: number;
}

/** The sealed segments that overlap the window, newest first. */
export function segmentsBetween(sql: SqlStorage, { since, until, after, last, limit }: SegmentQuery): SealedSegment[] {
  return sql
    .exec<SealedSegment & Record<string, SqlStorageValue>>(
      `SELECT no, object, rows, min_ts AS minTs, max_ts AS maxTs, max_id AS maxId FROM segments
       WHERE state = 'sealed' AND rows > 0 AND (max_ts, max_id) < (?, ?) AND no <= ? AND max_ts >= ? AND min_ts < ?
       ORDER BY max_ts DESC, max_id DESC LIMIT ?`,
      after?.timestamp ?? Number.MAX_SAFE_INTEGER,
      after?.id ?? '',
      last,
      since,
      until,
      limit,
    )
    .toArray();
}

export interface SealingSegment {
  no: number;
  object: string;
  /** Start of its UTC day; epoch milliseconds. */
  day: number;
}

const LAST_SEGMENT = 'last_segment';

/** The numbers of a new shard begin with the steps since this moment; the index has room for 16 years of them. */
const FIRST_NUMBER_AT_MS = Date.UTC(2026, 0, 1);
const NUMBER_STEP_MS = 15_000;

/**
 * The highest number that was used. A shard that was lost and begins anew takes no number that it had: on average no
 * shard seals a segment every 15 seconds, which is 1,300 records a second.
 */
function lastSegment(sql: SqlStorage, nowMs: number): number {
  const { held } = sql.exec<{ held: number | null }>('SELECT MAX(no) AS held FROM segments').one();
  const kept = readMeta(sql, LAST_SEGMENT);
  if (held === null && kept === null) return Math.floor((nowMs - FIRST_NUMBER_AT_MS) / NUMBER_STEP_MS);
  return Math.max(held ?? 0, Number(kept ?? 0));
}

/** Runs inside the transaction that drops segments whose objects stay. */
export function keepLastSegment(sql: SqlStorage, nowMs: number): void {
  writeMeta(sql, LAST_SEGMENT, String(lastSegment(sql, nowMs)));
}

/** Runs inside the caller's transaction. One object for each of these days, oldest first. */
export function beginSegments(
  sql: SqlStorage,
  shardName: string,
  days: readonly number[],
  chosen: string,
  nowMs: number,
): SealingSegment[] {
  const last = lastSegment(sql, nowMs);
  return days.map((day, index) => {
    const no = last + 1 + index;
    const object = segmentKey(shardName, day, no);
    sql.exec(
      `INSERT INTO segments (no, state, object, rows, bytes, min_ts, max_ts, max_id, created_at, chosen)
       VALUES (?, 'sealing', ?, 0, 0, ?, ?, '', ?, ?)`,
      no,
      object,
      day,
      day,
      nowMs,
      chosen,
    );
    return { no, object, day };
  });
}

/** What the manifest keeps of a segment. */
export type RecordedSegment = Omit<BuiltSegment, 'bytes'> & { bytes: { length: number } };

/** Runs inside the caller's transaction and replaces what an earlier revision of the segment stored. */
export function recordManifest(sql: SqlStorage, no: number, object: string, built: RecordedSegment): void {
  writeRowGroups(sql, no, built.groups);
  if (built.index.write(sql, no)) raiseIndexRevision(sql);
  const [oldest, newest] = [built.groups[0], built.groups.at(-1)];
  sql.exec(
    `UPDATE segments SET state = 'sealed', object = ?1, rows = ?2, bytes = ?3, min_ts = COALESCE(?4, min_ts),
       max_ts = COALESCE(?5, max_ts), max_id = ?6, chosen = NULL WHERE no = ?7`,
    object,
    built.rows,
    built.bytes.length,
    oldest?.minTs ?? null,
    newest?.maxTs ?? null,
    newest?.maxId ?? '',
    no,
  );
}

/** Rises when the index of a sealed segment is replaced. A search that is under way then starts again. */
export function indexRevision(sql: SqlStorage): number {
  return Number(readMeta(sql, 'index_revision') ?? 0);
}

function raiseIndexRevision(sql: SqlStorage): void {
  writeMeta(sql, 'index_revision', String(indexRevision(sql) + 1));
}

/** R2 deletes this many keys in one call. */
const OBJECTS_PER_DELETE = 1000;

export function doom(sql: SqlStorage, object: string): void {
  sql.exec('INSERT INTO doomed_objects (object) VALUES (?) ON CONFLICT DO NOTHING', object);
}

export async function deleteDoomed(sql: SqlStorage, bucket: R2Bucket): Promise<void> {
  for (;;) {
    const doomed = sql
      .exec<{ object: string }>('SELECT object FROM doomed_objects LIMIT ?', OBJECTS_PER_DELETE)
      .toArray();
    if (doomed.length === 0) return;
    await bucket.delete(doomed.map(({ object }) => object));
    for (const { object } of doomed) sql.exec('DELETE FROM doomed_objects WHERE object = ?', object);
  }
}
