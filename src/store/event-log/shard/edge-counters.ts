/**
 * Sums of what edges counted, and which records isolates numbered but never delivered. The counters of a batch are
 * added once per batch id, so that a retry after a time-out does not count twice.
 */
import type { IsolateGap } from '../shard-rpc.ts';

/** Names per log. One edge sends at most 256; labels of several versions may add up. */
const COUNTERS_MAX = 2000;

/** What isolates numbered and delivered since the last write to the table. Rebuilt from the rows after a restart. */
export class IsolateCounts {
  readonly #isolates = new Map<string, { numbered: number; stored: number; lastTs: number }>();

  add(isolate: string, seq: number, timestamp: number): void {
    const seen = this.#isolates.get(isolate);
    if (seen === undefined) {
      this.#isolates.set(isolate, { numbered: seq + 1, stored: 1, lastTs: timestamp });
      return;
    }
    seen.numbered = Math.max(seen.numbered, seq + 1);
    seen.stored++;
    seen.lastTs = Math.max(seen.lastTs, timestamp);
  }

  /** Runs inside the transaction that moves the watermark. */
  write(sql: SqlStorage): void {
    for (const [isolate, { numbered, stored, lastTs }] of this.#isolates) {
      sql.exec(
        `INSERT INTO isolates (isolate, numbered, stored, last_ts) VALUES (?, ?, ?, ?)
         ON CONFLICT (isolate) DO UPDATE SET numbered = MAX(numbered, excluded.numbered),
           stored = stored + excluded.stored, last_ts = MAX(last_ts, excluded.last_ts)`,
        isolate,
        numbered,
        stored,
        lastTs,
      );
    }
  }

  /** The stored gaps and the pending ones. An isolate may appear in both. */
  gaps(sql: SqlStorage): IsolateGap[] {
    const pending = [...this.#isolates].map(([isolate, { numbered, stored }]) => ({ isolate, numbered, stored }));
    return [...isolateGaps(sql), ...pending];
  }
}

export function addCounters(
  storage: DurableObjectStorage,
  batchId: string,
  counters: Readonly<Record<string, number>>,
  nowMs: number,
): void {
  const { sql } = storage;
  storage.transactionSync(() => {
    const { rowsWritten } = sql.exec(
      'INSERT INTO counted_batches (id, at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING',
      batchId,
      nowMs,
    );
    if (rowsWritten === 0) return;
    const known = new Set(
      sql
        .exec<{ name: string }>('SELECT name FROM counters')
        .toArray()
        .map(({ name }) => name),
    );
    for (const [name, value] of Object.entries(counters)) {
      if (!Number.isFinite(value) || (!known.has(name) && known.size >= COUNTERS_MAX)) continue;
      known.add(name);
      sql.exec(
        'INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value',
        name,
        value,
      );
    }
  });
}

export function readCounters(sql: SqlStorage): Record<string, number> {
  const rows = sql.exec<{ name: string; value: number }>('SELECT name, value FROM counters ORDER BY name').toArray();
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}

function isolateGaps(sql: SqlStorage): IsolateGap[] {
  return sql
    .exec<{ isolate: string; numbered: number; stored: number }>('SELECT isolate, numbered, stored FROM isolates')
    .toArray();
}
