/**
 * Erases what is not sealed of one session. Rows leave the batch that holds them, whose other rows stay; its numbers
 * stay known, so that a late copy of an erased record is not stored again.
 */
import type { CaptchaRecord } from '../captcha-record.ts';
import { logRecord } from '../log-record.ts';
import type { RowColumns } from '../packed-batch.ts';
import { PackedLines } from '../packed-lines.ts';
import { Aggregate } from '../rollup-aggregate.ts';
import type { RewrittenBatch } from './batch-tables.ts';
import { addCaptcha, type HotRows } from './hot-rows.ts';

/** Returns how many rows it erased. */
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
