/**
 * Counts uses of keys within windows: attempts, waits, submissions. Counting happens in memory. What is stored is ahead
 * of it by a sixteenth of the limit at most, so that most uses write nothing, and a restart may refuse a little early but
 * never lets more through. Windows that end within the same ten minutes share a table, which goes away as a whole.
 */
import type { CountRequest } from '../rpc.ts';

/** Keys counted at once per object. A full object refuses new keys, which is the safe side. */
const COUNTERS_MAX = 100_000;
const BUCKET_MS = 600_000;
const LIMIT_PER_ROW = 16;

interface Counter {
  used: number;
  /** Uses that a restart would find. */
  stored: number;
  endsAt: number;
}

/** Until version 1, all counters were in one table. */
export function takeOverCounters(sql: SqlStorage): void {
  const ends = sql.exec<{ bucket: number }>(
    'SELECT DISTINCT (ends_at + ? - 1) / ? * ? AS bucket FROM counters',
    BUCKET_MS,
    BUCKET_MS,
    BUCKET_MS,
  );
  for (const { bucket } of ends.toArray()) {
    createBucket(sql, bucket);
    sql.exec(
      `INSERT OR REPLACE INTO ${nameOf(bucket)} SELECT key, used, ends_at FROM counters WHERE ends_at > ? AND ends_at <= ?`,
      bucket - BUCKET_MS,
      bucket,
    );
  }
  sql.exec('DROP TABLE counters');
}

function createBucket(sql: SqlStorage, bucket: number): void {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS ${nameOf(bucket)}
     (key TEXT PRIMARY KEY, used INTEGER NOT NULL, ends_at INTEGER NOT NULL) WITHOUT ROWID`,
  );
}

export class UseCounters {
  readonly #sql: SqlStorage;
  readonly #counters = new Map<string, Counter>();
  /** Ends of the tables' ten minutes. */
  readonly #buckets = new Set<number>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    for (const { name } of sql
      .exec<{ name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'uses_[0-9]*'`)
      .toArray()) {
      this.#buckets.add(Number(name.slice('uses_'.length)));
    }
    // A key whose window ended may be in an older table too: the newest counts.
    for (const bucket of [...this.#buckets].toSorted((a, b) => a - b)) {
      for (const { key, used, ends_at: endsAt } of sql
        .exec<{ key: string; used: number; ends_at: number }>(`SELECT key, used, ends_at FROM ${nameOf(bucket)}`)
        .toArray()) {
        this.#counters.set(key, { used, stored: used, endsAt });
      }
    }
  }

  /** `false`, and nothing is counted, where one of the keys has no use left. */
  count(requests: readonly CountRequest[], nowMs: number): boolean {
    const live = requests.map(({ key }) => this.#live(key, nowMs));
    const hasRoom = requests.every(({ limit }, index) => (live[index]?.used ?? 0) < limit);
    const added = requests.filter(({ key }) => !this.#counters.has(key)).length;
    if (!hasRoom || this.#counters.size + added > COUNTERS_MAX) return false;
    for (const [index, { key, limit, windowMs }] of requests.entries()) {
      const counter = live[index] ?? { used: 0, stored: 0, endsAt: nowMs + windowMs };
      counter.used++;
      this.#counters.set(key, counter);
      if (counter.used <= counter.stored) continue;
      counter.stored = Math.min(limit, counter.used + Math.floor(limit / LIMIT_PER_ROW));
      this.#store(key, counter);
    }
    return true;
  }

  /** Forgets what has ended. Returns when the next table is due; `null`: there is none. */
  dropEnded(nowMs: number): number | null {
    for (const [key, { endsAt }] of this.#counters) if (endsAt <= nowMs) this.#counters.delete(key);
    for (const bucket of this.#buckets) {
      if (bucket > nowMs) continue;
      this.#sql.exec(`DROP TABLE IF EXISTS ${nameOf(bucket)}`);
      this.#buckets.delete(bucket);
    }
    return this.#buckets.size === 0 ? null : Math.min(...this.#buckets);
  }

  #live(key: string, nowMs: number): Counter | undefined {
    const counter = this.#counters.get(key);
    return counter !== undefined && counter.endsAt > nowMs ? counter : undefined;
  }

  #store(key: string, { stored, endsAt }: Counter): void {
    const bucket = Math.ceil(endsAt / BUCKET_MS) * BUCKET_MS;
    if (!this.#buckets.has(bucket)) {
      createBucket(this.#sql, bucket);
      this.#buckets.add(bucket);
    }
    this.#sql.exec(
      `INSERT INTO ${nameOf(bucket)} (key, used, ends_at) VALUES (?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET used = excluded.used, ends_at = excluded.ends_at`,
      key,
      stored,
      endsAt,
    );
  }
}

/** Digits only, because a bucket is a number: the name cannot carry SQL. */
function nameOf(bucket: number): string {
  return `uses_${Math.trunc(bucket)}`;
}
