/**
 * Which captchas are sealed or erased, kept while an event of one may still arrive: a late event makes no second record
 * of a sealed captcha, and brings no erased one back. One list for every time that captchas were sealed or erased.
 */
import { readMeta, writeMeta } from './schema.ts';

export interface SealedCaptcha {
  jti: string;
  timestamp: number;
}

/** Lists in memory, about 1 MB each. Late events are of the captchas that were sealed last. */
const LISTS_CACHED_MAX = 8;

export class SealedCaptchas {
  readonly #sql: SqlStorage;
  readonly #lists = new Map<number, ReadonlySet<string>>();
  /** No newer captcha was ever sealed, so only events of captchas up to this time are looked up. */
  #through: number;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#through = Number(readMeta(sql, 'captchas_sealed_through') ?? -1);
  }

  has({ jti, timestamp }: SealedCaptcha): boolean {
    if (timestamp > this.#through) return false;
    return this.#sql
      .exec<{ no: number }>(
        'SELECT no FROM sealed_captchas WHERE min_ts <= ? AND max_ts >= ? ORDER BY no DESC',
        timestamp,
        timestamp,
      )
      .toArray()
      .some(({ no }) => this.#list(no).has(jti));
  }

  #list(no: number): ReadonlySet<string> {
    const known = this.#lists.get(no);
    if (known) return known;
    const [row] = this.#sql.exec<{ jtis: string }>('SELECT jtis FROM sealed_captchas WHERE no = ?', no);
    const list = new Set(JSON.parse(row?.jtis ?? '[]') as string[]);
    if (this.#lists.size >= LISTS_CACHED_MAX) this.#lists.clear();
    this.#lists.set(no, list);
    return list;
  }

  /** Runs inside the transaction that seals or erases these captchas. */
  record(captchas: readonly SealedCaptcha[]): void {
    if (captchas.length === 0) return;
    let [minTs, maxTs] = [Number.MAX_SAFE_INTEGER, 0];
    for (const { timestamp } of captchas) [minTs, maxTs] = [Math.min(minTs, timestamp), Math.max(maxTs, timestamp)];
    this.#sql.exec(
      'INSERT INTO sealed_captchas (min_ts, max_ts, jtis) VALUES (?, ?, ?)',
      minTs,
      maxTs,
      JSON.stringify(captchas.map(({ jti }) => jti)),
    );
    if (maxTs <= this.#through) return;
    this.#through = maxTs;
    writeMeta(this.#sql, 'captchas_sealed_through', String(maxTs));
  }

  /** Runs inside the caller's transaction. */
  dropBefore(moment: number): void {
    this.#sql.exec('DELETE FROM sealed_captchas WHERE max_ts < ?', moment);
  }
}
