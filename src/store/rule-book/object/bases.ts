/**
 * Which compiled bases exist. A base is `pending` while its file is written to R2 and `ready` afterwards; the newest
 * ready base is the current one. A crash in between leaves a pending row, which the next compile deletes together with
 * its file. Replaced bases stay for a while, for edges that are still loading them.
 */
import { rulesetFormats } from '../../../contract/edge/formats.ts';
import type { BasePointer } from '../rpc.ts';

/** With the format of the file. Each format has a current base of its own. */
const readyIn = (format: string): string => `ready ${format}`;
/** JSON: those of every format that is served. */
const READY = JSON.stringify(rulesetFormats.map(readyIn));

/**
 * Replaced bases kept whatever their age, so that an edge that fails to load the current base can use the one before.
 */
const REPLACED_BASES_MIN = 2;
/** An edge learns of a new base within 35 s (poll interval and allowed staleness); this is four times that. */
const REPLACED_BASE_KEPT_MS = 140_000;
/** Bounds the files in R2 when compiles follow quickly. */
const REPLACED_BASES_MAX = 8;

/** The base that edges which read the format should load, or `null` before the first compile in it. */
export function currentBase(sql: SqlStorage, format: string = rulesetFormats[0]): BasePointer | null {
  const [row] = sql.exec<{ hash: string; version: number }>(
    'SELECT hash, version FROM bases WHERE state = ? AND superseded_at IS NULL',
    readyIn(format),
  );
  return row ?? null;
}

export interface ServedBase extends BasePointer {
  format: string;
}

/** A base that is still served, by its hash. */
export function servedBase(sql: SqlStorage, hash: string): ServedBase | null {
  const [row] = sql.exec<{ hash: string; version: number; state: string }>(
    'SELECT hash, version, state FROM bases WHERE state IN (SELECT value FROM json_each(?)) AND hash = ?',
    READY,
    hash,
  );
  return row === undefined ? null : { hash, version: row.version, format: row.state.slice(readyIn('').length) };
}

export function oldestServedVersion(sql: SqlStorage): number {
  return (
    sql
      .exec<{ version: number | null }>(
        'SELECT MIN(version) AS version FROM bases WHERE state IN (SELECT value FROM json_each(?))',
        READY,
      )
      .one().version ?? 0
  );
}

/** Called before the file is written. */
export function announceBase(sql: SqlStorage, base: BasePointer, rules: number, bytes: number, nowMs: number): void {
  sql.exec(
    `INSERT INTO bases (hash, version, rules, bytes, state, created_at, checked_at) VALUES (?, ?, ?, ?, 'pending', ?, ?)
     ON CONFLICT (hash) DO NOTHING`,
    base.hash,
    base.version,
    rules,
    bytes,
    nowMs,
    nowMs,
  );
}

/** Makes the base current. Its file must be in R2 already. */
export function publishBase(storage: DurableObjectStorage, hash: string, format: string, nowMs: number): void {
  const ready = readyIn(format);
  storage.transactionSync(() => {
    storage.sql.exec('UPDATE bases SET superseded_at = ? WHERE state = ? AND superseded_at IS NULL', nowMs, ready);
    storage.sql.exec('UPDATE bases SET state = ?, superseded_at = NULL WHERE hash = ?', ready, hash);
  });
}

/** Bases whose files can be deleted: left by a crash, of another format, or replaced long enough ago. */
export function disposableBases(sql: SqlStorage, nowMs: number): string[] {
  const pending = sql
    .exec<{ hash: string }>('SELECT hash FROM bases WHERE state NOT IN (SELECT value FROM json_each(?))', READY)
    .toArray();
  return [...pending.map(({ hash }) => hash), ...rulesetFormats.flatMap((format) => oldBases(sql, format, nowMs))];
}

function oldBases(sql: SqlStorage, format: string, nowMs: number): string[] {
  const replaced = sql
    .exec<{ hash: string; superseded_at: number }>(
      'SELECT hash, superseded_at FROM bases WHERE state = ? AND superseded_at IS NOT NULL ORDER BY superseded_at DESC',
      readyIn(format),
    )
    .toArray();
  const old = replaced.filter(
    (base, index) =>
      index >= REPLACED_BASES_MAX ||
      (index >= REPLACED_BASES_MIN && nowMs - base.superseded_at > REPLACED_BASE_KEPT_MS),
  );
  return old.map((base) => base.hash);
}

/** When the file of a base was last compared with its hash; epoch milliseconds. */
export function baseCheckedAt(sql: SqlStorage, hash: string): number {
  return sql.exec<{ at: number }>('SELECT checked_at AS at FROM bases WHERE hash = ?', hash).one().at;
}

export function noteBaseCheck(sql: SqlStorage, hash: string, nowMs: number): void {
  sql.exec('UPDATE bases SET checked_at = ? WHERE hash = ?', nowMs, hash);
}

export function forgetBase(sql: SqlStorage, hash: string): void {
  sql.exec('DELETE FROM bases WHERE hash = ?', hash);
}
