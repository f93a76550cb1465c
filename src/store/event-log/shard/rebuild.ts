/**
 * Builds what a shard derives from its sealed segments again, from their objects: manifests, index, counts, the numbers
 * of isolates and the sums of counters. It works for a shard that lost its index and for an empty one. An object that is
 * no segment of this shard is left alone and reported.
 */
import { dropIndex, SegmentIndex } from '../columns/segment-index.ts';
import { type LogRecord, logRecord, outcomeOf } from '../log-record.ts';
import type { RowKey } from '../log-row.ts';
import { UnreadableSegmentError } from '../parquet/byte-cursor.ts';
import { readRowGroup } from '../parquet/row-group-reader.ts';
import { schemaOf } from '../parquet/schema-of.ts';
import { readSegmentFooter, type SegmentFooter } from '../parquet/segment-footer.ts';
import { Aggregate } from '../rollup-aggregate.ts';
import { segmentFileName, shardParts } from '../segment-key.ts';
import type { RebuiltSegments, SkippedObject } from '../shard-rpc.ts';
import type { HotRows } from './hot-rows.ts';
import { dropRowGroups, type StoredRowGroup } from './row-groups.ts';
import { readMeta, shardBirth, writeMeta } from './schema.ts';
import { keepLastSegment, recordManifest } from './segments.ts';

/** Counters of the shard that was lost, from its newest segment so far: `{birth, no, counters}`. */
const LOST_COUNTERS = 'lost_counters';
/** Births of shards whose counters were added, so that a second rebuild does not add them again. */
const RESTORED_BIRTHS = 'restored_births';
const REBUILDING = 'rebuilding';

interface LostCounters {
  birth: string;
  no: number;
  counters: Record<string, number>;
}

export function isRebuilding(sql: SqlStorage): boolean {
  return readMeta(sql, REBUILDING) !== null;
}

/** Unsealed rows, and counts of them, stay. */
export function beginRebuild(sql: SqlStorage, hot: HotRows, nowMs: number): void {
  hot.recount(() => {
    keepLastSegment(sql, nowMs);
    for (const { no } of sql.exec<{ no: number }>("SELECT no FROM segments WHERE state = 'sealed'").toArray()) {
      dropRowGroups(sql, no);
      dropIndex(sql, no);
    }
    sql.exec("DELETE FROM segments WHERE state = 'sealed'");
    writeMeta(sql, REBUILDING, '[]');
  });
}

/** Sessions that are erased while segments are missing; they are erased once more at the end. */
export function noteErasure(sql: SqlStorage, jti: string): void {
  const noted = JSON.parse(readMeta(sql, REBUILDING) ?? '[]') as string[];
  writeMeta(sql, REBUILDING, JSON.stringify([...new Set([...noted, jti])]));
}

/** Returns the sessions that were erased since the beginning. `forgetErasures` follows when they are erased once more. */
export function endRebuild(storage: DurableObjectStorage, hot: HotRows): string[] {
  const { sql } = storage;
  storage.transactionSync(() => {
    const lost = JSON.parse(readMeta(sql, LOST_COUNTERS) ?? 'null') as LostCounters | null;
    if (lost !== null) {
      hot.counters.restore(lost.counters);
      const births = JSON.parse(readMeta(sql, RESTORED_BIRTHS) ?? '[]') as string[];
      writeMeta(sql, RESTORED_BIRTHS, JSON.stringify([...births, lost.birth]));
    }
    sql.exec('DELETE FROM meta WHERE key = ?', LOST_COUNTERS);
  });
  return JSON.parse(readMeta(sql, REBUILDING) ?? '[]') as string[];
}

export function forgetErasures(sql: SqlStorage): void {
  sql.exec('DELETE FROM meta WHERE key = ?', REBUILDING);
}

/** Reads objects again, one after another. */
export async function rebuildSegments(
  storage: DurableObjectStorage,
  hot: HotRows,
  bucket: R2Bucket,
  shardName: string,
  objects: readonly string[],
): Promise<RebuiltSegments> {
  const result: RebuiltSegments = { segments: 0, rows: 0, skipped: [] };
  for (const object of objects) {
    const no = segmentFileName(object)?.no ?? 0;
    const known = stateOf(storage.sql, no, object);
    if (known !== null) {
      if (known !== 'held') result.skipped.push({ object, reason: known });
      continue;
    }
    const read = await readSegment(bucket, shardName, object, no);
    if ('reason' in read) {
      result.skipped.push(read);
      continue;
    }
    hot.mergePending(() => recordRebuilt(storage.sql, hot, object, read));
    result.segments++;
    result.rows += read.built.rows;
  }
  return result;
}

/** `null`: not known. `held`: nothing to do. Otherwise the reason why it cannot be taken. */
function stateOf(sql: SqlStorage, no: number, object: string): string | null {
  const [doomed] = sql.exec('SELECT 1 FROM doomed_objects WHERE object = ?', object);
  if (doomed) return 'held';
  const [known] = sql.exec<{ object: string }>('SELECT object FROM segments WHERE no = ?', no);
  if (!known) return null;
  return known.object === object ? 'held' : `The shard has ${known.object} under the same number`;
}

interface ReadSegment {
  no: number;
  footer: SegmentFooter;
  built: { bytes: { length: number }; rows: number; groups: StoredRowGroup[]; index: SegmentIndex };
  counts: Aggregate;
  captchas: { jti: string; timestamp: number }[];
}

async function readSegment(
  bucket: R2Bucket,
  shardName: string,
  object: string,
  no: number,
): Promise<ReadSegment | SkippedObject> {
  const stored = await bucket.get(object);
  if (stored === null) return { object, reason: 'It is no longer there' };
  const bytes = new Uint8Array(await stored.arrayBuffer());
  try {
    return await decoded(bytes, shardName, no);
  } catch (error) {
    if (!(error instanceof UnreadableSegmentError)) throw error;
    return { object, reason: error.message };
  }
}

async function decoded(bytes: Uint8Array, shardName: string, no: number): Promise<ReadSegment> {
  const footer = readSegmentFooter(bytes);
  if (footer.source.shard !== shardName || footer.source.no !== no) {
    throw new UnreadableSegmentError(`It is segment ${footer.source.no} of ${footer.source.shard}`);
  }
  const { stream } = shardParts(shardName);
  const groups: StoredRowGroup[] = [];
  const index = new SegmentIndex();
  const counts = new Aggregate();
  const captchas: ReadSegment['captchas'] = [];
  let rows = 0;
  for (const group of footer.groups) {
    let oldest: RowKey | null = null;
    let newest: RowKey | null = null;
    const part = bytes.subarray(group.start, group.start + group.length);
    for (const body of readRowGroup(schemaOf(stream), part, group, null)) {
      const record = recordOf(body);
      index.add(record);
      counts.add(record, record.timestamp, outcomeOf(record.decision));
      if (stream === 'captcha') captchas.push({ jti: record.jti ?? '', timestamp: record.timestamp });
      oldest ??= record;
      newest = record;
      rows++;
    }
    if (oldest === null || newest === null) continue;
    groups.push({ ...group, minTs: oldest.timestamp, maxTs: newest.timestamp, maxId: newest.id });
    // Between two row groups the shard can append.
    await scheduler.wait(0);
  }
  for (const entry of footer.extras.unkept) counts.addEntry(entry);
  return { no, footer, built: { bytes, rows, groups, index }, counts, captchas };
}

function recordOf(body: string): LogRecord {
  try {
    return logRecord(body);
  } catch (error) {
    throw new UnreadableSegmentError('A row is no record', { cause: error });
  }
}

function recordRebuilt(sql: SqlStorage, hot: HotRows, object: string, read: ReadSegment): void {
  const { no, footer, built, counts, captchas } = read;
  const { extras, source } = footer;
  // One without rows has counts, and expires with its day.
  const maxTs = built.groups.at(-1)?.maxTs ?? segmentFileName(object)?.day ?? 0;
  sql.exec(
    `INSERT INTO segments (no, state, object, rows, bytes, min_ts, max_ts, max_id, created_at)
     VALUES (?, 'sealed', ?, 0, 0, ?, ?, '', ?)`,
    no,
    object,
    maxTs,
    maxTs,
    maxTs,
  );
  recordManifest(sql, no, object, built);
  hot.rollups.mergeAggregate(counts);
  hot.captchas.sealed.record(captchas.filter((captcha) => !hot.captchas.sealed.has(captcha)));
  for (const { isolate, covered, numbered } of extras.isolates) {
    hot.isolates.restore(isolate, covered, numbered, maxTs);
  }
  const births = JSON.parse(readMeta(sql, RESTORED_BIRTHS) ?? '[]') as string[];
  const lost = JSON.parse(readMeta(sql, LOST_COUNTERS) ?? 'null') as LostCounters | null;
  const isNewest = Object.keys(extras.counters).length > 0 && no > (lost?.no ?? 0);
  if (isNewest && source.birth !== shardBirth(sql) && !births.includes(source.birth)) {
    writeMeta(sql, LOST_COUNTERS, JSON.stringify({ birth: source.birth, no, counters: extras.counters }));
  }
}
