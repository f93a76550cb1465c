/**
 * LimitLedger: the Durable Object that adds up what the isolates of all edges counted. A counter is a key and a window;
 * a sum is exact, and how late an isolate hears of it is the isolate's affair. Sums are written before the answer, so a
 * restart loses nothing. Rows end with the window after theirs. Table: docs/storage-schema.md.
 */
import { DurableObject } from 'cloudflare:workers';
import type { LimitCounter, LimitSums } from '../../../contract/edge/limits.ts';
import type { LimitLedgerRpc } from '../rpc.ts';

/** 8 MB. A full object adds no new keys; then each isolate has only its own counts of them. */
const COUNTERS_MAX = 100_000;
/** Rows that ended cost only space. */
const CLEANING_INTERVAL_MS = 60_000;
/** The clocks of two Workers differ. */
const WINDOWS_AHEAD_MAX = 1;

export class LimitLedger extends DurableObject<ServiceEnv> implements LimitLedgerRpc {
  readonly #sql: SqlStorage;
  #rows: number;
  #alarmAt = Infinity;

  constructor(state: DurableObjectState, env: ServiceEnv) {
    super(state, env);
    this.#sql = state.storage.sql;
    this.#sql.exec(
      `CREATE TABLE IF NOT EXISTS counters
         (key TEXT NOT NULL, window_ms INTEGER NOT NULL, window_number INTEGER NOT NULL, used INTEGER NOT NULL,
          ends_at INTEGER NOT NULL, PRIMARY KEY (key, window_ms, window_number)) WITHOUT ROWID`,
    );
    this.#rows = this.#countRows();
  }

  async add(windowMs: number, counters: readonly LimitCounter[]): Promise<LimitSums> {
    const nowMs = Date.now();
    const current = Math.floor(nowMs / windowMs);
    const sums = this.ctx.storage.transactionSync(() =>
      counters.map(({ key, window, count }): [number, number] => {
        const isLive = window >= current - 1 && window <= current + WINDOWS_AHEAD_MAX;
        const used = this.#used(key, windowMs, window);
        const isKept = isLive && (used !== null || this.#rows < COUNTERS_MAX);
        if (isKept) this.#write(key, windowMs, window, used, count);
        return [this.#used(key, windowMs, window - 1) ?? 0, (used ?? 0) + (isKept ? count : 0)];
      }),
    );
    if (this.#alarmAt === Infinity && this.#rows > 0) {
      this.#alarmAt = nowMs + Math.max(2 * windowMs, CLEANING_INTERVAL_MS);
      await this.ctx.storage.setAlarm(this.#alarmAt);
    }
    return sums;
  }

  override async alarm(): Promise<void> {
    const nowMs = Date.now();
    this.#sql.exec('DELETE FROM counters WHERE ends_at <= ?', nowMs);
    this.#rows = this.#countRows();
    this.#alarmAt = Infinity;
    const next = this.#sql.exec<{ at: number | null }>('SELECT MIN(ends_at) AS at FROM counters').one().at;
    if (next === null) return;
    this.#alarmAt = Math.max(nowMs + CLEANING_INTERVAL_MS, next);
    await this.ctx.storage.setAlarm(this.#alarmAt);
  }

  #used(key: string, windowMs: number, window: number): number | null {
    const rows = this.#sql.exec<{ used: number }>(
      'SELECT used FROM counters WHERE key = ? AND window_ms = ? AND window_number = ?',
      key,
      windowMs,
      window,
    );
    return rows.toArray()[0]?.used ?? null;
  }

  #write(key: string, windowMs: number, window: number, before: number | null, count: number): void {
    if (before === null) this.#rows++;
    this.#sql.exec(
      'INSERT OR REPLACE INTO counters (key, window_ms, window_number, used, ends_at) VALUES (?, ?, ?, ?, ?)',
      key,
      windowMs,
      window,
      (before ?? 0) + count,
      (window + 2) * windowMs,
    );
  }

  #countRows(): number {
    return this.#sql.exec<{ n: number }>('SELECT COUNT(*) AS n FROM counters').one().n;
  }
}
