/**
 * The log of what lists changed. Like the log of the operator's rules it has, under the version, the rule that is in force
 * for a value afterwards; deltas read both. A value that a rule of the operator hides has not changed, and is not in it.
 *
 * A rule of the operator hides entries until it has expired, and a little longer, because clocks of edges may be slow.
 * `expired.before` says which rules have: it only rises, and raising it logs the entries that appear.
 */
import { keyOfRule } from '../../../lists/entry-key.ts';
import { typeOfCode } from '../rule-row.ts';
import { actorNumber } from './schema.ts';
import { KEYS_PER_QUERY, changeRow, hasEntries, ownersOf, rankedLists } from './list-layers.ts';

/** How long after its expiry a rule stays in force here, in the base as well. */
export const EXPIRED_GRACE_SECONDS = 60;

type ChangeRow = ReturnType<typeof changeRow>;

/** Epoch seconds: a rule of the operator whose expiry is smaller hides nothing. */
export function expiredBefore(sql: SqlStorage): number {
  return sql.exec<{ before: number }>('SELECT before FROM expired').one().before;
}

export function currentVersion(sql: SqlStorage): number {
  return sql.exec<{ version: number }>('SELECT version FROM book').one().version;
}

/** Logs the owner of each value under this version, except where a rule of the operator hides it. */
export function logOwners(sql: SqlStorage, version: number, rows: readonly ChangeRow[]): void {
  for (let at = 0; at < rows.length; at += KEYS_PER_QUERY) {
    sql.exec(
      `INSERT INTO list_changes (version, type, value, list)
       SELECT ?1, j.value ->> 0, j.value ->> 1, j.value ->> 2 FROM json_each(?2) j
        WHERE NOT EXISTS (SELECT 1 FROM rules r WHERE r.type = j.value ->> 0 AND r.value = j.value ->> 1
                             AND (r.expiry IS NULL OR r.expiry >= ?3))
       ON CONFLICT DO UPDATE SET list = excluded.list`,
      version,
      JSON.stringify(rows.slice(at, at + KEYS_PER_QUERY)),
      expiredBefore(sql),
    );
  }
}

/** Makes the logged changes a version. Returns how many there are. `always`: also if there are none. */
export function noteListVersion(
  sql: SqlStorage,
  version: number,
  actor: number,
  nowMs: number,
  always = false,
): number {
  const { changes } = sql
    .exec<{ changes: number }>('SELECT COUNT(*) AS changes FROM list_changes WHERE version = ?', version)
    .one();
  if (changes === 0 && !always) return 0;
  sql.exec(
    `INSERT INTO versions (version, at, actor, kind, created, updated, deleted, restores)
     VALUES (?, ?, ?, 'list', 0, ?, 0, NULL)`,
    version,
    nowMs,
    actor,
    changes,
  );
  sql.exec('UPDATE book SET version = ?', version);
  return changes;
}

/** Logs the entries that appear because this version of the operator's rules does not hide them any more. */
export function logUncovered(sql: SqlStorage, version: number): void {
  if (!hasEntries(sql)) return;
  const cursor = sql.exec<RuleRow>(
    'SELECT type, value FROM changes WHERE version = ?1 AND (after IS NULL OR after ->> 2 < ?2)',
    version,
    expiredBefore(sql),
  );
  logEntriesUnder(sql, version, cursor);
}

interface RuleRow extends Record<string, SqlStorageValue> {
  type: number;
  value: string;
}

function logEntriesUnder(sql: SqlStorage, version: number, rules: Iterable<RuleRow>): void {
  const lists = rankedLists(sql);
  let keys: string[] = [];
  const flush = (): void => {
    logOwners(
      sql,
      version,
      [...ownersOf(sql, keys, lists)].map(([key, owner]) => changeRow(key, owner)),
    );
    keys = [];
  };
  for (const { type, value } of rules) {
    const key = keyOfRule({ type: typeOfCode(type), value });
    if (key !== null) keys.push(key);
    if (keys.length >= KEYS_PER_QUERY) flush();
  }
  flush();
}

/** Notes which rules of the operator have expired, and makes the entries that they hid a version. */
export function passExpiry(storage: DurableObjectStorage, nowMs: number): void {
  const { sql } = storage;
  const from = expiredBefore(sql);
  const to = Math.floor(nowMs / 1000) - EXPIRED_GRACE_SECONDS;
  if (to <= from || sql.exec(`${EXPIRED} LIMIT 1`, from, to).toArray().length === 0) return;
  storage.transactionSync(() => {
    sql.exec('UPDATE expired SET before = ?', to);
    if (!hasEntries(sql)) return;
    const version = currentVersion(sql) + 1;
    logEntriesUnder(sql, version, sql.exec<RuleRow>(EXPIRED, from, to));
    noteListVersion(sql, version, actorNumber(sql, 'expiry'), nowMs);
  });
}

const EXPIRED = 'SELECT type, value FROM rules WHERE expiry >= ? AND expiry < ?';
