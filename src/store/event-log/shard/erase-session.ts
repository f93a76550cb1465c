/**
 * Erases one session: its rows, unsealed and sealed, and its part of the counts. In the captcha stream
 * these are the captcha with this jti and the captchas solved in this session. Affected segments are rewritten under
 * another key, and the old objects are deleted. The ids stay stored, so that a late copy of an erased record is not
 * stored again.
 */
import { Aggregate } from '../rollup-aggregate.ts';
import { addCaptcha, type HotRows } from './hot-rows.ts';
import { logRecord, outcomeOf } from '../log-record.ts';
import { deleteDoomed, doom, putSegment, recordManifest, segmentSource } from './segments.ts';
import { readRowGroup } from '../parquet/row-group-reader.ts';
import { schemaOf } from '../parquet/schema-of.ts';
import { readSegmentFooter } from '../parquet/segment-footer.ts';
import { nextRevision } from '../segment-key.ts';
import { buildSegment } from './segment-build.ts';
import { segmentsOfSession } from '../columns/key-lookup.ts';
import type { StoredRow } from '../log-row.ts';
import type { CaptchaRecord } from '../captcha-record.ts';
import type { PackedBatch, RowColumns } from '../packed-batch.ts';
import { PackedLines } from '../packed-lines.ts';
import type { RewrittenBatch } from './batch-tables.ts';

export async function eraseSessionRows(
  storage: DurableObjectStorage,
  hot: HotRows,
  bucket: R2Bucket,
  shardName: string,
  jti: string,
): Promise<number> {
  const { sql } = storage;
  let erased = eraseHot(sql, hot, jti);
  for (const segment of segmentsOfSession(sql, jti)) {
    erased += await eraseSealed(sql, hot, bucket, shardName, segment, jti);
  }
  await deleteDoomed(sql, bucket);
  return erased;
}

async function eraseSealed(
  sql: SqlStorage,
  hot: HotRows,
  bucket: R2Bucket,
  shardName: string,
  segment: number,
  jti: string,
): Promise<number> {
  const [known] = sql.exec<{ object: string }>(
    "SELECT object FROM segments WHERE no = ? AND state = 'sealed'",
    segment,
  );
  if (!known) return 0;
  const sealed = await bucket.get(known.object);
  if (!sealed) throw new Error(`Sealed segment ${known.object} is not in the bucket`);
  const bytes = new Uint8Array(await sealed.arrayBuffer());
  const source = segmentSource(sql, shardName, segment);
  const schema = schemaOf(source.stream);
  const { groups, extras } = readSegmentFooter(bytes);
  const kept: StoredRow[] = [];
  const away = new Aggregate();
  for (const group of groups) {
    for (const body of readRowGroup(schema, bytes.subarray(group.start, group.start + group.length), group, null)) {
      const record = logRecord(body);
      if (record.jti === jti || ('session' in record && record.session === jti))
        away.add(record, record.timestamp, outcomeOf(record.decision), -1);
      else kept.push({ id: record.id, timestamp: record.timestamp, body });
    }
  }
  if (away.rows === 0) return 0;
  const built = await buildSegment(source, kept, extras);
  const object = nextRevision(known.object);
  await putSegment(bucket, object, built);
  hot.mergePending(() => {
    hot.rollups.mergeAggregate(away);
    recordManifest(sql, segment, object, built);
    doom(sql, known.object);
  });
  return away.rows;
}

/**
 * Erases what is not sealed, and returns how many rows that were. Rows leave the batch that holds them, whose other rows
 * stay; its numbers stay known, so that a late copy of an erased record is not stored again.
 */
export function eraseHot(sql: SqlStorage, hot: HotRows, jti: string): number {
  const away = new Aggregate();
  const batches = withoutSession(sql, hot, jti, away);
  const captchas = captchasOf(hot, jti, away);
  const erase = (): void => {
    hot.rollups.mergeAggregate(away);
    for (const [no, batch] of batches) {
      hot.keys.forget(no);
      hot.batches.rewrite(no, batch);
    }
    hot.captchas.remove(captchas);
  };
  if (away.rows > 0) hot.mergePending(erase);
  return away.rows;
}

function withoutSession(sql: SqlStorage, hot: HotRows, jti: string, away: Aggregate): Map<number, RewrittenBatch> {
  const rewritten = new Map<number, RewrittenBatch>();
  for (const [no, { records }] of hot.batches.all()) {
    const keys = hot.keys.of(no);
    const gone = keys.filter((key) => key.jti === jti);
    if (gone.length === 0) continue;
    const row = sql
      .exec<{ columns: string; bodies: ArrayBuffer }>('SELECT columns, bodies FROM batches WHERE no = ?', no)
      .one();
    const bodies = new PackedLines(row.bodies);
    const columns = JSON.parse(row.columns) as RowColumns[];
    for (const key of gone) away.add(logRecord(bodies.at(key.line)), key.timestamp, key.outcome, -1);
    const lines = new Set(gone.map(({ line }) => line));
    rewritten.set(no, {
      rows: keys.length - gone.length,
      records: records - gone.length,
      columns: JSON.stringify(columns.filter((_, line) => !lines.has(line))),
      bodies: bodies.without(lines),
    });
  }
  return rewritten;
}

/** Captchas of this jti, and those that were solved in this session. */
function captchasOf(hot: HotRows, jti: string, away: Aggregate): CaptchaRecord[] {
  const found: CaptchaRecord[] = [];
  for (const { body } of hot.captchas.all()) {
    if (!body.includes(JSON.stringify(jti))) continue;
    const record = JSON.parse(body) as CaptchaRecord;
    if (record.jti !== jti && record.session !== jti) continue;
    addCaptcha(away, record, -1);
    found.push(record);
  }
  return found;
}

/** A report waits for seconds. */
export const ERASED_KEPT_MS = 3_600_000;

/**
 * Sessions that were erased lately. Reports wait for a moment in the isolates that received them, so one of an erased
 * session can still arrive; it is erased as it does.
 */
export class ErasedSessions {
  readonly #sql: SqlStorage;
  readonly #jtis: Set<string>;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    const rows = sql.exec<{ jti: string }>('SELECT jti FROM erased_sessions').toArray();
    this.#jtis = new Set(rows.map(({ jti }) => jti));
  }

  add(jti: string, nowMs: number): void {
    this.#jtis.add(jti);
    this.#sql.exec('INSERT OR REPLACE INTO erased_sessions (jti, at) VALUES (?, ?)', jti, nowMs);
  }

  /** Erased sessions that these batches have rows of. */
  among(batches: readonly PackedBatch[]): string[] {
    if (this.#jtis.size === 0) return [];
    const jtis = batches.flatMap(({ columns }) =>
      (JSON.parse(columns) as RowColumns[]).map(([, , , jti]) => jti ?? ''),
    );
    return [...new Set(jtis)].filter((jti) => this.#jtis.has(jti));
  }

  drop(nowMs: number): void {
    const gone = this.#sql.exec<{ jti: string }>(
      'DELETE FROM erased_sessions WHERE at <= ? RETURNING jti',
      nowMs - ERASED_KEPT_MS,
    );
    for (const { jti } of gone.toArray()) this.#jtis.delete(jti);
  }
}
