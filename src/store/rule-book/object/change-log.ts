/**
 * Reads and trims the log of changes. It serves three uses: what changed since a base (the delta), who changed what
 * (history), and how far back a rollback can go. The number of versions and changes is bounded, but the log above the
 * oldest served base is always kept.
 */
import type { EdgeRule } from '../../../rules/types.ts';
import { edgeRule, type RuleKey, typeOfCode, verdictOfCode } from '../rule-row.ts';
import type { HistoryEntry, WriteKind } from '../rpc.ts';

/** Versions that history lists and a rollback can restore. */
export const HISTORY_MAX_VERSIONS = 1000;
/** Changes kept for them, about 100 bytes each. An import of a full book can still be rolled back. */
const HISTORY_MAX_CHANGES = 1_250_000;
/** Changes deleted per transaction, so that the object keeps responding while a long log is trimmed. */
const TRIM_STEP_CHANGES = 20_000;

/**
 * Net changes in `(from, to]`: the form of each changed rule, and the deleted ones. A version of the operator that
 * uncovers an entry of a list is in both logs, and the entry counts.
 */
export function netChanges(sql: SqlStorage, from: number, to: number): { set: EdgeRule[]; removed: RuleKey[] } {
  const set: EdgeRule[] = [];
  const removed: RuleKey[] = [];
  const cursor = sql.exec<{
    type: number;
    value: string;
    gone: number;
    verdict: number;
    mode: number;
    expiry: number | null;
    rollout: number | null;
    list: number | null;
    latest: number;
  }>(
    `SELECT type, value, gone, verdict, mode, expiry, rollout, list, MAX(place) AS latest FROM (
       SELECT type, value, after IS NULL AS gone, after ->> 0 AS verdict, after ->> 1 AS mode, after ->> 2 AS expiry,
              after ->> 3 AS rollout, NULL AS list, 2 * version AS place
         FROM changes WHERE version > ?1 AND version <= ?2
       UNION ALL
       SELECT c.type, c.value, l.list IS NULL, l.verdict, 0, NULL, NULL, l.list, 2 * c.version + 1
         FROM list_changes c LEFT JOIN lists l ON l.list = c.list AND l.removed_at IS NULL
        WHERE c.version > ?1 AND c.version <= ?2
     ) GROUP BY type, value`,
    from,
    to,
  );
  for (const row of cursor) {
    if (row.gone === 1) removed.push({ type: typeOfCode(row.type), value: row.value });
    else if (row.list !== null) {
      set.push({ type: typeOfCode(row.type), value: row.value, verdict: verdictOfCode(row.verdict), list: row.list });
    } else set.push(edgeRule([row.type, row.value, row.verdict, row.mode, row.expiry, row.rollout]));
  }
  return { set, removed };
}

/** Changes logged in versions above `from`: an upper bound of the rules they changed. */
export function changesSince(sql: SqlStorage, from: number): number {
  return sql
    .exec<{ changes: number }>(
      'SELECT COALESCE(SUM(created + updated + deleted), 0) AS changes FROM versions WHERE version > ?',
      from,
    )
    .one().changes;
}

/** When the first version in `(from, to]` was written; `null` when there is none. */
export function firstChangeAt(sql: SqlStorage, from: number, to: number): number | null {
  return sql
    .exec<{ at: number | null }>('SELECT MIN(at) AS at FROM versions WHERE version > ? AND version <= ?', from, to)
    .one().at;
}

/** Total size of all deltas over a base of version `from`, one delta for each version since. */
export function deltaChangesShipped(sql: SqlStorage, from: number): number {
  return sql
    .exec<{ shipped: number }>(
      `SELECT COALESCE(SUM(size), 0) AS shipped FROM
         (SELECT SUM(created + updated + deleted) OVER (ORDER BY version) AS size FROM versions WHERE version > ?)`,
      from,
    )
    .one().shipped;
}

/** The last version above `from` up to which at most `limit` changes were logged; `null` when all fit. */
export function lastVersionWithin(sql: SqlStorage, from: number, limit: number): number | null {
  if (changesSince(sql, from) <= limit) return null;
  let last = from;
  let changes = 0;
  const cursor = sql.exec<{ version: number; changes: number }>(
    'SELECT version, created + updated + deleted AS changes FROM versions WHERE version > ? ORDER BY version',
    from,
  );
  for (const row of cursor) {
    changes += row.changes;
    if (changes > limit) break;
    last = row.version;
  }
  return last;
}

/** Versions of the operator, newest first, below `before` when it is given. */
export function history(sql: SqlStorage, limit: number, before: number | null): HistoryEntry[] {
  const cursor = sql.exec<{
    version: number;
    at: number;
    by: string;
    kind: string;
    created: number;
    updated: number;
    deleted: number;
    restores: number | null;
  }>(
    `SELECT version, at, (SELECT name FROM actors WHERE actor = versions.actor) AS by, kind, created, updated, deleted, restores
       FROM versions WHERE kind <> 'list' AND (?1 IS NULL OR version < ?1) ORDER BY version DESC LIMIT ?2`,
    before,
    limit,
  );
  return [...cursor].map(({ restores, kind, ...entry }) => ({
    ...entry,
    kind: kind as WriteKind,
    ...(restores === null ? {} : { restores }),
  }));
}

/** The oldest version that a rollback can restore: every later change is still in the log. */
export function historyFloor(sql: SqlStorage): number {
  return sql.exec<{ floor: number }>('SELECT history_floor AS floor FROM book').one().floor;
}

/** The newest version that the operator made; 0 before the first. */
export function newestOwnVersion(sql: SqlStorage): number {
  return (
    sql.exec<{ version: number | null }>("SELECT MAX(version) AS version FROM versions WHERE kind <> 'list'").one()
      .version ?? 0
  );
}

/**
 * Deletes the oldest versions beyond the bounds, in steps; calls `giveWay` between them. The log above
 * `oldestBaseVersion` stays, because deltas need it. Nothing else reads the log of lists, so the rest of that goes at
 * once.
 */
export async function trimHistory(
  storage: DurableObjectStorage,
  oldestBaseVersion: number,
  giveWay: () => Promise<void>,
): Promise<void> {
  const { sql } = storage;
  const floor = Math.min(oldestBaseVersion, boundedFloor(sql));
  const listVersions = sql.exec<{ version: number }>(
    "SELECT version FROM versions WHERE kind = 'list' AND version <= ?",
    oldestBaseVersion,
  );
  for (const { version } of listVersions.toArray()) {
    storage.transactionSync(() => {
      sql.exec('DELETE FROM list_changes WHERE version = ?', version);
      sql.exec('DELETE FROM versions WHERE version = ?', version);
    });
    await giveWay();
  }
  // What a version of the operator uncovered.
  sql.exec('DELETE FROM list_changes WHERE version <= ?', oldestBaseVersion);
  while (true) {
    const done = storage.transactionSync(() => {
      const from = historyFloor(sql);
      if (from >= floor) return true;
      const to = Math.min(floor, stepEnd(sql, from));
      sql.exec('DELETE FROM changes WHERE version <= ?', to);
      sql.exec('DELETE FROM versions WHERE version <= ?', to);
      sql.exec('UPDATE book SET history_floor = ?', to);
      return false;
    });
    if (done) return;
    await giveWay();
  }
}

/** The version above which the log fits both bounds. */
function boundedFloor(sql: SqlStorage): number {
  let changes = 0;
  let versions = 0;
  const cursor = sql.exec<{ version: number; changes: number }>(
    "SELECT version, created + updated + deleted AS changes FROM versions WHERE kind <> 'list' ORDER BY version DESC",
  );
  for (const row of cursor) {
    changes += row.changes;
    versions += 1;
    if (versions > HISTORY_MAX_VERSIONS || changes > HISTORY_MAX_CHANGES) return row.version;
  }
  return 0;
}

/** The last version of the next step: at least one, else as many as fit a step's changes. */
function stepEnd(sql: SqlStorage, from: number): number {
  let changes = 0;
  let end = from + 1;
  const cursor = sql.exec<{ version: number; changes: number }>(
    'SELECT version, created + updated + deleted AS changes FROM versions WHERE version > ? ORDER BY version',
    from,
  );
  for (const row of cursor) {
    changes += row.changes;
    if (changes > TRIM_STEP_CHANGES) break;
    end = row.version;
  }
  return end;
}
