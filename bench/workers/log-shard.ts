/**
 * The shard of `npm run bench -- log`: the real one, which can be loaded with made-up records, and in the same object a
 * plain table that is the floor of appends and pages.
 */
import { type StoredRow, verdictRow } from '../../src/store/event-log/log-row.ts';
import type { PackedBatch } from '../../src/store/event-log/packed-batch.ts';
import { LoadedShard } from './loaded-shard.ts';
import { madeRecords, type RecordSpan } from './log-traffic.ts';
import { writtenRows } from './written-rows.ts';

/** Packed batches of the Worker, which runs in the isolate of its objects. */
export const heldBatches: PackedBatch[] = [];
const RETENTION_DAYS = 30;

export class VerdictShard extends LoadedShard {
  load(span: RecordSpan): Promise<number> {
    return this.loadSegment(rowsOf(span));
  }

  async writtenRows(): Promise<number> {
    return writtenRows(this.ctx.storage.sql);
  }

  /** Appends the held batches as calls of the service do, each durable before the next, without the calls. */
  async storeHeld(): Promise<{ accepted: number; ms: number }> {
    const started = Date.now();
    let accepted = 0;
    for (const batch of heldBatches) {
      const answers = await this.append([batch], { retentionDays: RETENTION_DAYS });
      await this.ctx.storage.sync();
      if (answers[0]?.known.length === 0) accepted += batch.hashes.length;
    }
    return { accepted, ms: Date.now() - started };
  }

  async bareAppend(rows: StoredRow[]): Promise<{ accepted: number; duplicates: number }> {
    const { sql } = this.ctx.storage;
    sql.exec('CREATE TABLE IF NOT EXISTS bare (ts INTEGER, id TEXT, body TEXT, PRIMARY KEY (ts, id)) WITHOUT ROWID');
    this.ctx.storage.transactionSync(() => {
      for (const { timestamp, id, body } of rows) {
        sql.exec('INSERT INTO bare (ts, id, body) VALUES (?, ?, ?)', timestamp, id, body);
      }
    });
    return { accepted: rows.length, duplicates: 0 };
  }

  async barePage(limit: number): Promise<{ body: string }[]> {
    const { sql } = this.ctx.storage;
    return sql.exec<{ body: string }>('SELECT body FROM bare ORDER BY ts DESC, id DESC LIMIT ?', limit).toArray();
  }
}

function* rowsOf(span: RecordSpan) {
  for (const made of madeRecords(span)) {
    const { record, body } = verdictRow(made, true);
    yield { id: record.id, timestamp: record.timestamp, body };
  }
}
