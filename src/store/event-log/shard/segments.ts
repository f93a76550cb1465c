/** Sealed segments: their objects in the bucket, and their manifests. `sealing.ts` says what goes into one. */
import type { SegmentSource } from '../parquet/segment-metadata.ts';
import { segmentKey, shardPlace } from '../segment-key.ts';
import { writeRowGroups } from './row-groups.ts';
import type { BuiltSegment } from './segment-build.ts';

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

export interface SealingSegment {
  no: number;
  object: string;
  /** Start of its UTC day; epoch milliseconds. */
  day: number;
}

/** Runs inside the caller's transaction. One object for each of these days, oldest first. */
export function beginSegments(
  sql: SqlStorage,
  shardName: string,
  days: readonly number[],
  chosen: string,
  nowMs: number,
): SealingSegment[] {
  const { last } = sql.exec<{ last: number }>('SELECT COALESCE(MAX(no), 0) AS last FROM segments').one();
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

/** Runs inside the caller's transaction and replaces what an earlier revision of the segment stored. */
export function recordManifest(sql: SqlStorage, no: number, object: string, built: BuiltSegment): void {
  writeRowGroups(sql, no, built.groups);
  built.index.write(sql, no);
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
