/** Sums of isolates in a fixed window and the one before it: one row for each key. */
import type { LimitCounter } from '../../../contract/edge/limits.ts';

/** The clocks of two Workers differ. */
const WINDOWS_AHEAD_MAX = 1;

interface Row extends Record<string, SqlStorageValue> {
  window: number;
  before: number;
  now: number;
}

export function createWindowSums(sql: SqlStorage): void {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS sums
       (key TEXT NOT NULL, window_ms INTEGER NOT NULL, window INTEGER NOT NULL, before INTEGER NOT NULL,
        now INTEGER NOT NULL, PRIMARY KEY (key, window_ms)) WITHOUT ROWID`,
  );
}

export class WindowSums {
  readonly #sql: SqlStorage;
  rows: number;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.rows = this.#count();
  }

  /** A window that is over or far ahead adds nothing. `mayGrow`: whether a new key is kept. */
  add(
    { key, window, count }: LimitCounter,
    windowMs: number,
    nowMs: number,
    mayGrow: boolean,
  ): readonly [before: number, now: number] {
    const current = Math.floor(nowMs / windowMs);
    const isLive = window >= current - 1 && window <= current + WINDOWS_AHEAD_MAX;
    const known = this.#read(key, windowMs);
    const row = known === null ? { window, before: 0, now: 0 } : rolled(known, window);
    if (isLive && window === row.window) row.now += count;
    else if (isLive && window === row.window - 1) row.before += count;
    if (isLive && (known !== null || mayGrow)) this.#write(key, windowMs, row, known === null);
    if (window === row.window) return [row.before, row.now];
    return [0, window === row.window - 1 ? row.before : 0];
  }

  clean(nowMs: number): void {
    this.#sql.exec('DELETE FROM sums WHERE (window + 2) * window_ms <= ?', nowMs);
    this.rows = this.#count();
  }

  #read(key: string, windowMs: number): Row | null {
    const query = 'SELECT window, before, now FROM sums WHERE key = ? AND window_ms = ?';
    return this.#sql.exec<Row>(query, key, windowMs).toArray()[0] ?? null;
  }

  #write(key: string, windowMs: number, { window, before, now }: Row, isNew: boolean): void {
    if (isNew) this.rows++;
    this.#sql.exec(
      'INSERT OR REPLACE INTO sums (key, window_ms, window, before, now) VALUES (?, ?, ?, ?, ?)',
      key,
      windowMs,
      window,
      before,
      now,
    );
  }

  #count(): number {
    return this.#sql.exec<{ n: number }>('SELECT COUNT(*) AS n FROM sums').one().n;
  }
}

/** The row as of `window`, where that is a later one. */
function rolled(row: Row, window: number): Row {
  if (window <= row.window) return { ...row };
  return { window, before: window === row.window + 1 ? row.now : 0, now: 0 };
}
