/**
 * The keys of unsealed rows, in memory: which ids are known, and where the rows of a session or an
 * address are. Rebuilt from the table when the object starts. A bounded number of rows is unsealed,
 * so this stays below 10 MB, and it saves four of five written rows per verdict.
 */
import type { RowFilter } from './filter.ts';
import type { RowKey } from './row.ts';

export interface HotKey extends RowKey {
  seq: number;
  jti: string | null;
  ip: string | null;
}

/** Keys that travel in one statement; beyond it the table is scanned. */
const KEYS_PER_STATEMENT_MAX = 5000;

export class HotKeys {
  readonly #keys = new Map<string, HotKey>();

  get size(): number {
    return this.#keys.size;
  }

  get(id: string): HotKey | undefined {
    return this.#keys.get(id);
  }

  set(key: HotKey): void {
    this.#keys.set(key.id, key);
  }

  delete(id: string): void {
    this.#keys.delete(id);
  }

  /** Forgets every key that `gone` says is no longer in the table. */
  forget(gone: (key: HotKey) => boolean): void {
    for (const key of this.#keys.values()) if (gone(key)) this.#keys.delete(key.id);
  }

  /** Keys of one session. */
  ofSession(jti: string): HotKey[] {
    return [...this.#keys.values()].filter((key) => key.jti === jti);
  }

  /** Keys of the rows that a filter by session or address can match; `null`: scan the table. */
  matching({ jti, ip }: RowFilter): HotKey[] | null {
    if (jti === null && ip === null) return null;
    const found: HotKey[] = [];
    for (const key of this.#keys.values()) {
      if ((jti !== null && key.jti !== jti) || (ip !== null && key.ip !== ip)) continue;
      if (found.length === KEYS_PER_STATEMENT_MAX) return null;
      found.push(key);
    }
    return found;
  }
}

/** For `(ts, id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`. */
export function keyList(keys: readonly RowKey[]): string {
  return JSON.stringify(keys.map(({ timestamp, id }) => [timestamp, id]));
}
