/**
 * Readings of lists in D1: which list is due, who reads it, and what became of it. A list is read by one run at a time,
 * which notes what became of it; nobody else does. A run that is stopped leaves its mark, and so it is known that a part
 * may have been done: of the entries, or of CrowdSec's decisions, which are told once.
 */
import type { ReportField } from '../../contract/management/lists.ts';
import type { StoreEnv } from '../binding.ts';
import { randomToken } from '../keys/master-key.ts';
import { type ListKey, sealAddress, type StoredList, storedList } from './rule-lists.ts';
import type { Row } from './rows.ts';

const MARK_BYTES = 9;

/** Lists to be fetched, those that wait longest first, of active instances of accounts that are not disabled. */
export async function dueLists(env: StoreEnv, limit: number, nowMs: number): Promise<StoredList[]> {
  const { results } = await env.DB.prepare(
    `SELECT l.* FROM rule_lists l JOIN protect_instances i ON i.id = l.instance_id AND i.active = 1
       JOIN accounts a ON a.id = i.account_id AND a.disabled = 0
      WHERE l.due_at <= ? AND l.reading IS NULL ORDER BY l.due_at LIMIT ?`,
  )
    .bind(nowMs, limit)
    .all<Row>();
  return Promise.all(results.map((row) => storedList(env, row)));
}

/**
 * Takes the list for one run. `null`: somebody else reads it or has just read it, or it was deleted. After a run that was stopped nothing is
 * known of what the publisher said last.
 */
export async function beginReading(
  env: StoreEnv,
  { instanceId, name, birth, dueAt, reading }: StoredList,
  untilMs: number,
  nowMs: number,
): Promise<StoredList | null> {
  const row = await env.DB.prepare(
    `UPDATE rule_lists SET reading = ?4, reading_until = ?5
      WHERE instance_id = ?1 AND name = ?2 AND birth IS ?3 AND reading IS ?6 AND due_at IS ?8
        AND (reading_until IS NULL OR reading_until <= ?7) RETURNING *`,
  )
    .bind(instanceId, name, birth, randomToken(MARK_BYTES), untilMs, reading, nowMs, dueAt)
    .first<Row>();
  if (row === null) return null;
  const taken = await storedList(env, row);
  if (row['url_sealed'] === null) await sealAddress(env, taken);
  return reading === null ? taken : { ...taken, ...UNKNOWN };
}

const UNKNOWN = { etag: null, lastModified: null, syncedAt: null } as const;

/** Lists whose reading did not end in its time: the run was stopped. */
export async function lostReadings(env: StoreEnv, limit: number, nowMs: number): Promise<StoredList[]> {
  const { results } = await env.DB.prepare('SELECT * FROM rule_lists WHERE reading_until <= ? LIMIT ?')
    .bind(nowMs, limit)
    .all<Row>();
  return Promise.all(results.map((row) => storedList(env, row)));
}

/** Somebody else asks the publisher, who tells changes once. The next reading is of the whole list. */
export async function forgetSync(env: StoreEnv, { instanceId, name }: ListKey): Promise<void> {
  await env.DB.prepare('UPDATE rule_lists SET synced_at = NULL, source = source + 1 WHERE instance_id = ? AND name = ?')
    .bind(instanceId, name)
    .run();
}

/** Lists that were not read well for longer than they may be, and that nobody reads. */
export async function listsThatExpire(env: StoreEnv, limit: number, nowMs: number): Promise<StoredList[]> {
  const { results } = await env.DB.prepare(
    `SELECT * FROM rule_lists WHERE is_expired = 0 AND expiry_seconds IS NOT NULL AND reading IS NULL
       AND COALESCE(confirmed_at, created_at) + 1000 * expiry_seconds < ? LIMIT ?`,
  )
    .bind(nowMs, limit)
    .all<Row>();
  return Promise.all(results.map((row) => storedList(env, row)));
}

/** Its entries were removed by the run that has it. The next reading is of the whole list. */
export async function noteExpired(env: StoreEnv, { instanceId, name, reading }: StoredList): Promise<void> {
  await env.DB.prepare(
    `UPDATE rule_lists SET is_expired = 1, entries = 0, etag = NULL, last_modified = NULL, synced_at = NULL,
       reading = NULL, reading_until = NULL WHERE instance_id = ? AND name = ? AND reading = ?`,
  )
    .bind(instanceId, name, reading)
    .run();
}

/** Of the run that has the list: nothing became of it. */
export async function endReading(env: StoreEnv, { instanceId, name, reading }: StoredList): Promise<void> {
  await env.DB.prepare(
    'UPDATE rule_lists SET reading = NULL, reading_until = NULL WHERE instance_id = ? AND name = ? AND reading = ?',
  )
    .bind(instanceId, name, reading)
    .run();
}

export interface GoodReading {
  /** `null`: it is as it was, and nothing was read. */
  change: { added: number; removed: number; entries: number; report: ReportField } | null;
  etag: string | null;
  lastModified: string | null;
  syncedAt: number | null;
  dueAt: number | null;
}

/** Of the run that has the list. One that got another source meanwhile stays due, and nothing is known of that source. */
export async function noteReading(env: StoreEnv, list: StoredList, good: GoodReading, nowMs: number): Promise<void> {
  const { change } = good;
  const isChanged = change !== null && change.added + change.removed > 0;
  await env.DB.prepare(
    `UPDATE rule_lists SET tried_at = ?4, confirmed_at = ?4, failures = 0, error = NULL, is_expired = 0,
       reading = NULL, reading_until = NULL,
       etag = CASE WHEN source = ?5 THEN ?6 END, last_modified = CASE WHEN source = ?5 THEN ?7 END,
       synced_at = CASE WHEN source = ?5 THEN ?8 END, due_at = CASE WHEN source = ?5 THEN ?9 ELSE due_at END,
       report = COALESCE(?10, report), entries = COALESCE(?11, entries),
       changed_at = CASE WHEN ?12 THEN ?4 ELSE changed_at END,
       added = CASE WHEN ?12 THEN ?13 ELSE added END, removed = CASE WHEN ?12 THEN ?14 ELSE removed END
     WHERE instance_id = ?1 AND name = ?2 AND reading = ?3`,
  )
    .bind(
      list.instanceId,
      list.name,
      list.reading,
      nowMs,
      list.source,
      good.etag,
      good.lastModified,
      good.syncedAt,
      good.dueAt,
      change && JSON.stringify(change.report),
      change && change.entries,
      isChanged ? 1 : 0,
      change && change.added,
      change && change.removed,
    )
    .run();
}

/** The last good reading stays. `mustSync`: a change may have been made in part. */
export async function noteListFailure(
  env: StoreEnv,
  list: StoredList,
  error: string,
  { dueAt, nowMs, mustSync }: { dueAt: number | null; nowMs: number; mustSync: boolean },
): Promise<void> {
  await env.DB.prepare(
    `UPDATE rule_lists SET tried_at = ?4, failures = failures + 1, error = ?5, reading = NULL, reading_until = NULL,
       due_at = CASE WHEN source = ?6 THEN ?7 ELSE due_at END,
       etag = CASE WHEN ?8 THEN NULL ELSE etag END, last_modified = CASE WHEN ?8 THEN NULL ELSE last_modified END,
       synced_at = CASE WHEN ?8 THEN NULL ELSE synced_at END
     WHERE instance_id = ?1 AND name = ?2 AND reading = ?3`,
  )
    .bind(list.instanceId, list.name, list.reading, nowMs, error, list.source, dueAt, mustSync ? 1 : 0)
    .run();
}
