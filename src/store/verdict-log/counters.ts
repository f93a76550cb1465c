/**
 * What edges counted, summed, and what isolates numbered but never delivered. Counters of a batch go
 * in once per batch id, so a retry after a time-out does not count twice.
 */

/** Names in one log: the edge's own bound is 256; labels of several versions may meet. */
const COUNTERS_MAX = 2000;

export interface IsolateGap {
  isolate: string;
  /** Highest sequence number seen, plus one. */
  numbered: number;
  /** Rows of it in this shard. */
  stored: number;
}

export function addCounters(
  storage: DurableObjectStorage,
  batchId: string,
  counters: Readonly<Record<string, number>>,
  now: number,
): void {
  const { sql } = storage;
  storage.transactionSync(() => {
    const { rowsWritten } = sql.exec(
      'INSERT INTO counted_batches (id, at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING',
      batchId,
      now,
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

export function isolateGaps(sql: SqlStorage): IsolateGap[] {
  return sql
    .exec<{ isolate: string; numbered: number; stored: number }>('SELECT isolate, numbered, stored FROM isolates')
    .toArray();
}
