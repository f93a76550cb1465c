/**
 * Sums of what edges counted and of the verdicts that are stored, and which records isolates numbered but never
 * delivered. What an edge counted is added once per batch id, so that a retry after a time-out does not count twice.
 * Verdicts are counted when they are stored, so a record counts once, in however many batches it arrives.
 */
import type { LogRecord } from '../log-record.ts';
import type { EdgeSums } from '../shard-rpc.ts';

/** Names per log that edges count. One edge sends at most 256; labels of several versions may add up. */
const COUNTERS_MAX = 2000;

/** What arrived since the last write to the tables. Rebuilt from the rows after a restart, so an append writes no sums. */
export class ArrivalCounts {
  readonly #isolates = new Map<string, { numbered: number; stored: number; lastTs: number }>();
  readonly #traffic = new Map<string, number>();

  /** A verdict that was stored, and the isolate that numbered it. */
  add(record: LogRecord, { isolate, seq }: { isolate: string; seq: number }): void {
    for (const name of trafficCounters(record)) this.#traffic.set(name, (this.#traffic.get(name) ?? 0) + 1);
    const { timestamp } = record;
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
    for (const [name, value] of this.#traffic) addSum(sql, name, value);
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

  /** What is in the tables and what is pending. An isolate may appear in both. */
  sums(sql: SqlStorage): EdgeSums {
    const pending = [...this.#isolates].map(([isolate, { numbered, stored }]) => ({ isolate, numbered, stored }));
    const stored = sql.exec<{ isolate: string; numbered: number; stored: number }>(
      'SELECT isolate, numbered, stored FROM isolates',
    );
    const counters = readCounters(sql);
    for (const [name, value] of this.#traffic) counters[name] = (counters[name] ?? 0) + value;
    return { counters, gaps: [...stored, ...pending] };
  }
}

/** Few names: a status that is none is not counted. */
function trafficCounters({ decision, source, status, origin_ms: originMs }: LogRecord): string[] {
  const counted = [`requests{decision="${decision}"}`, `request_sources{source="${source}"}`];
  const hundreds = Math.trunc(Number(status) / 100);
  if (originMs !== null && hundreds >= 1 && hundreds <= 9) counted.push(`origin_responses{class="${hundreds}xx"}`);
  return counted;
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
    const known = new Set(Object.keys(readCounters(sql)));
    for (const [name, value] of Object.entries(counters)) {
      if (!Number.isFinite(value) || (!known.has(name) && known.size >= COUNTERS_MAX)) continue;
      known.add(name);
      addSum(sql, name, value);
    }
  });
}

function addSum(sql: SqlStorage, name: string, value: number): void {
  sql.exec(
    'INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value',
    name,
    value,
  );
}

function readCounters(sql: SqlStorage): Record<string, number> {
  const rows = sql.exec<{ name: string; value: number }>('SELECT name, value FROM counters ORDER BY name').toArray();
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
}
