/**
 * Sessions that were erased lately. Reports wait for a moment in the isolates that received them, so one of an erased
 * session can still arrive; it is erased as it does.
 */
import type { PackedBatch, RowColumns } from '../packed-batch.ts';

/** A report waits for seconds. */
export const ERASED_KEPT_MS = 3_600_000;

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
