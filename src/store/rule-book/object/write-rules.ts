/**
 * Applies one batch as one version, all of it or nothing. Every kind of write (create, delete, rollback) first lists
 * its real changes in `changes` under the next version, then applies this list to `rules`. A batch that changes nothing
 * makes no version, so that importing a file twice changes nothing.
 */
import { failed, ok } from '../../../result.ts';
import { packRule, type RuleKey, type RuleWrite, storedRules, typeCodes, typeOfCode } from '../rule-row.ts';
import type { RefusedWrite, RuleChange, WriteAuthor, WriteOutcome } from '../rpc.ts';
import { actorNumber } from './schema.ts';
import { newestOwnVersion } from './change-log.ts';
import { countEntries } from './list-layers.ts';
import { logUncovered } from './list-log.ts';
import { exceededBudget } from './user-agents.ts';

/** Rules per instance, entries of lists included: one compile must fit in an isolate of 128 MB (`npm run bench -- rules` measures it). */
export const RULES_PER_INSTANCE_MAX = 1_250_000;
/** Changes of a version that its writer is told in full. */
const CHANGES_TOLD_MAX = 10;
/** SQLite takes a bound text of at most 2 MB; chunks stay well below it. */
const CHUNK_MAX_CHARS = 500_000;

class RefusedError extends Error {
  readonly refusal: RefusedWrite;
  constructor(refusal: RefusedWrite) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}

/** Creates or replaces rules. A rule that is already the same does not change. */
export function upsertRules(
  storage: DurableObjectStorage,
  rules: readonly RuleWrite[],
  author: WriteAuthor,
): WriteOutcome {
  return applyVersion(storage, author, null, (sql, version, actor) => {
    for (const chunk of chunks(lastOfEachKey(rules).map(packRule))) {
      sql.exec(LIST_UPSERTS, version, author.nowMs, actor, chunk);
    }
  });
}

/** Deletes the rules under these keys. Unknown keys are no error. */
export function deleteRules(
  storage: DurableObjectStorage,
  keys: readonly RuleKey[],
  author: WriteAuthor,
): WriteOutcome {
  return applyVersion(storage, author, null, (sql, version) => {
    for (const chunk of chunks(lastOfEachKey(keys).map((key) => [typeCodes[key.type], key.value]))) {
      sql.exec(LIST_DELETES, version, chunk);
    }
  });
}

/** Restores the rules of version `target` as a new version. The caller has checked that the log reaches back to it. */
export function restoreVersion(storage: DurableObjectStorage, target: number, author: WriteAuthor): WriteOutcome {
  return applyVersion(storage, author, target, (sql, version) => {
    sql.exec(LIST_RESTORES, version, target, version);
  });
}

function applyVersion(
  storage: DurableObjectStorage,
  author: WriteAuthor,
  restores: number | null,
  listChanges: (sql: SqlStorage, version: number, actor: number) => void,
): WriteOutcome {
  const { sql } = storage;
  try {
    return storage.transactionSync(() => {
      const current = sql.exec<{ version: number }>('SELECT version FROM book').one().version;
      const { ifVersion: expected } = author;
      // What lists changed meanwhile is not what the caller has read.
      if (expected !== undefined && (expected > current || expected < newestOwnVersion(sql))) {
        throw new RefusedError({ reason: 'stale', expected, current });
      }
      const version = current + 1;
      const actor = actorNumber(sql, author.actor);
      listChanges(sql, version, actor);
      const counts = sql.exec<{ created: number; updated: number; deleted: number }>(COUNT_CHANGES, version).one();
      if (counts.created + counts.updated + counts.deleted === 0) {
        return ok({ version: current, created: 0, updated: 0, deleted: 0, first: [] });
      }
      sql.exec(APPLY_UPSERTS, version);
      sql.exec(APPLY_DELETES, version);
      sql.exec(APPLY_COUNTS, version, version);
      logUncovered(sql, version);
      if (counts.created > 0) checkLimits(sql, version);
      sql.exec(
        'INSERT INTO versions (version, at, actor, kind, created, updated, deleted, restores) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
        version,
        author.nowMs,
        actor,
        author.kind,
        counts.created,
        counts.updated,
        counts.deleted,
        restores,
      );
      sql.exec('UPDATE book SET version = ?', version);
      return ok({ version, ...counts, first: firstChanges(sql, version) });
    });
  } catch (error) {
    if (error instanceof RefusedError) return failed(error.refusal);
    throw error;
  }
}

function firstChanges(sql: SqlStorage, version: number): RuleChange[] {
  const rows = sql.exec<{ type: number; value: string; before: string | null; after: string | null }>(
    'SELECT type, value, before, after FROM changes WHERE version = ? ORDER BY type, value LIMIT ?',
    version,
    CHANGES_TOLD_MAX,
  );
  return [...rows].map(({ type, value, before, after }) => {
    const form = (content: string | null) =>
      content && storedRules(`[[${type},${JSON.stringify(value)},${content.slice(1)}]`)[0]!;
    return { type: typeOfCode(type), value, before: form(before) || null, after: form(after) || null };
  });
}

/**
 * Throws inside the transaction, so that a refused batch leaves no trace. Only batches that add rules are checked, so
 * that a book above a limit can always be made smaller.
 */
function checkLimits(sql: SqlStorage, version: number): void {
  if (usedRoom(sql) > RULES_PER_INSTANCE_MAX) {
    throw new RefusedError({ reason: 'too-many-rules', limit: RULES_PER_INSTANCE_MAX, type: null });
  }
  const [added] = sql.exec(
    'SELECT 1 FROM changes WHERE version = ? AND type = ? AND before IS NULL LIMIT 1',
    version,
    typeCodes.userAgent,
  );
  const refusal = added ? exceededBudget(sql, version) : null;
  if (refusal) throw new RefusedError(refusal);
}

/** Rules and entries of lists, which share one bound. */
export function usedRoom(sql: SqlStorage): number {
  return countRules(sql) + countEntries(sql);
}

export function countRules(sql: SqlStorage): number {
  return sql.exec<{ rules: number }>('SELECT COALESCE(SUM(rules), 0) AS rules FROM counts').one().rules;
}

/** If a batch has a key twice, the later item counts, as in two batches. */
function lastOfEachKey<T extends RuleKey>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [`${item.type}:${item.value}`, item])).values()];
}

/** JSON arrays of at most `CHUNK_MAX_CHARS`, each with at least one item. */
function* chunks(items: readonly unknown[]): Generator<string> {
  let part: string[] = [];
  let chars = 0;
  for (const item of items) {
    const text = JSON.stringify(item);
    if (part.length > 0 && chars + text.length > CHUNK_MAX_CHARS) {
      yield `[${part.join(',')}]`;
      part = [];
      chars = 0;
    }
    part.push(text);
    chars += text.length;
  }
  if (part.length > 0) yield `[${part.join(',')}]`;
}

/** A rule's content, in the order of `before` and `after`. */
const CONTENT = `json_array(r.verdict, r.mode, r.expiry, r.rollout, r.note, r.created_at, r.created_by, r.updated_at, r.updated_by)`;

const LIST_UPSERTS = `
  INSERT INTO changes (version, type, value, before, after)
  SELECT ?1, j.type, j.value,
         CASE WHEN r.type IS NULL THEN NULL ELSE ${CONTENT} END,
         json_array(j.verdict, j.mode, j.expiry, j.rollout, j.note,
                    COALESCE(r.created_at, ?2), COALESCE(r.created_by, ?3), ?2, ?3)
    FROM (SELECT value ->> 0 AS type, value ->> 1 AS value, value ->> 2 AS verdict, value ->> 3 AS mode,
                 value ->> 4 AS expiry, value ->> 5 AS rollout, value ->> 6 AS note FROM json_each(?4)) j
    LEFT JOIN rules r ON r.type = j.type AND r.value = j.value
   WHERE r.type IS NULL OR r.verdict IS NOT j.verdict OR r.mode IS NOT j.mode OR r.expiry IS NOT j.expiry
      OR r.rollout IS NOT j.rollout OR r.note IS NOT j.note`;

const LIST_DELETES = `
  INSERT INTO changes (version, type, value, before, after)
  SELECT ?1, r.type, r.value, ${CONTENT}, NULL
    FROM (SELECT value ->> 0 AS type, value ->> 1 AS value FROM json_each(?2)) j
    JOIN rules r ON r.type = j.type AND r.value = j.value`;

/** The first change after the target version holds, as `before`, what the rule was at that version. */
const LIST_RESTORES = `
  INSERT INTO changes (version, type, value, before, after)
  SELECT ?1, c.type, c.value, CASE WHEN r.type IS NULL THEN NULL ELSE ${CONTENT} END, c.before
    FROM (SELECT type, value, before, MIN(version) FROM changes WHERE version > ?2 AND version < ?3 GROUP BY type, value) c
    LEFT JOIN rules r ON r.type = c.type AND r.value = c.value
   WHERE (CASE WHEN r.type IS NULL THEN NULL ELSE ${CONTENT} END) IS NOT c.before`;

const COUNT_CHANGES = `
  SELECT COUNT(*) FILTER (WHERE before IS NULL AND after IS NOT NULL) AS created,
         COUNT(*) FILTER (WHERE before IS NOT NULL AND after IS NOT NULL) AS updated,
         COUNT(*) FILTER (WHERE after IS NULL) AS deleted
    FROM changes WHERE version = ?`;

const APPLY_UPSERTS = `
  INSERT INTO rules (type, value, verdict, mode, expiry, rollout, note, created_at, created_by, updated_at, updated_by)
  SELECT type, value, after ->> 0, after ->> 1, after ->> 2, after ->> 3, after ->> 4,
         after ->> 5, after ->> 6, after ->> 7, after ->> 8
    FROM changes WHERE version = ? AND after IS NOT NULL
  ON CONFLICT (type, value) DO UPDATE SET
    verdict = excluded.verdict, mode = excluded.mode, expiry = excluded.expiry, rollout = excluded.rollout,
    note = excluded.note, created_at = excluded.created_at, created_by = excluded.created_by,
    updated_at = excluded.updated_at, updated_by = excluded.updated_by`;

const APPLY_DELETES = `
  DELETE FROM rules WHERE (type, value) IN (SELECT type, value FROM changes WHERE version = ? AND after IS NULL)`;

const APPLY_COUNTS = `
  INSERT INTO counts (type, verdict, rules)
  SELECT type, verdict, SUM(d) FROM (
    SELECT type, after ->> 0 AS verdict, 1 AS d FROM changes WHERE version = ?1 AND after IS NOT NULL
    UNION ALL
    SELECT type, before ->> 0, -1 FROM changes WHERE version = ?2 AND before IS NOT NULL)
   GROUP BY type, verdict
  ON CONFLICT (type, verdict) DO UPDATE SET rules = rules + excluded.rules`;
