/**
 * Readings of lists in D1: which list is due, who reads it, and what became of it. A list is read by one run at a time,
 * which notes what became of it; nobody else does. A run that is stopped leaves its mark, and so it is known that a part
 * may have been done: of the entries, or of CrowdSec's decisions, which are told once.
 */
import { statement } from '../sql.ts';
import type { ReportField } from '../../contract/management/lists.ts';
import type { StoreEnv } from '../binding.ts';
import { randomToken } from '../keys/master-key.ts';
import { type ListKey, sealAddress, type StoredList, storedList } from './rule-lists.ts';
import type { Row } from './rows.ts';

const MARK_BYTES = 9;

/** Lists to be fetched, those that wait longest first, of active instances of accounts that are not disabled. */
export async function dueLists(env: StoreEnv, limit: number, nowMs: number): Promise<StoredList[]> {
  const { results } = await statement(env)`
    SELECT l.* FROM rule_lists l JOIN protect_instances i ON i.id = l.instance_id AND i.active = 1
     JOIN accounts a ON a.id = i.account_id AND a.disabled = 0
    WHERE l.due_at <= ${nowMs} AND l.reading IS NULL ORDER BY l.due_at LIMIT ${limit}`.all<Row>();
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
  const row = await statement(env)`
    UPDATE rule_lists SET reading = ${randomToken(MARK_BYTES)}, reading_until = ${untilMs}
    WHERE instance_id = ${instanceId} AND name = ${name} AND birth IS ${birth} AND reading IS ${reading}
      AND due_at IS ${dueAt}
      AND (reading_until IS NULL OR reading_until <= ${nowMs}) RETURNING *`.first<Row>();
  if (row === null) return null;
  const taken = await storedList(env, row);
  if (row['url_sealed'] === null) await sealAddress(env, taken);
  return reading === null ? taken : { ...taken, ...UNKNOWN };
}

const UNKNOWN = { etag: null, lastModified: null, syncedAt: null } as const;

/** Lists whose reading did not end in its time: the run was stopped. */
export async function lostReadings(env: StoreEnv, limit: number, nowMs: number): Promise<StoredList[]> {
  const { results } = await statement(env)`
    SELECT * FROM rule_lists WHERE reading_until <= ${nowMs} LIMIT ${limit}`.all<Row>();
  return Promise.all(results.map((row) => storedList(env, row)));
}

/** Somebody else asks the publisher, who tells changes once. The next reading is of the whole list. */
export async function forgetSync(env: StoreEnv, { instanceId, name }: ListKey): Promise<void> {
  await statement(env)`
    UPDATE rule_lists SET synced_at = NULL, source = source + 1
    WHERE instance_id = ${instanceId} AND name = ${name}`.run();
}

/** Lists that were not read well for longer than they may be, and that nobody reads. */
export async function listsThatExpire(env: StoreEnv, limit: number, nowMs: number): Promise<StoredList[]> {
  const { results } = await statement(env)`
    SELECT * FROM rule_lists
    WHERE is_expired = 0 AND expiry_seconds IS NOT NULL AND reading IS NULL
      AND COALESCE(confirmed_at, created_at) + 1000 * expiry_seconds < ${nowMs} LIMIT ${limit}`.all<Row>();
  return Promise.all(results.map((row) => storedList(env, row)));
}

/** Its entries were removed by the run that has it. The next reading is of the whole list. */
export async function noteExpired(env: StoreEnv, { instanceId, name, reading }: StoredList): Promise<void> {
  await statement(env)`
    UPDATE rule_lists SET is_expired = 1, entries = 0, etag = NULL, last_modified = NULL, synced_at = NULL,
    reading = NULL, reading_until = NULL
    WHERE instance_id = ${instanceId} AND name = ${name} AND reading = ${reading}`.run();
}

/** Of the run that has the list: nothing became of it. */
export async function endReading(env: StoreEnv, { instanceId, name, reading }: StoredList): Promise<void> {
  await statement(env)`
    UPDATE rule_lists SET reading = NULL, reading_until = NULL
    WHERE instance_id = ${instanceId} AND name = ${name} AND reading = ${reading}`.run();
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
  await statement(env)`
    UPDATE rule_lists SET tried_at = ${nowMs}, confirmed_at = ${nowMs}, failures = 0, error = NULL, is_expired = 0,
      reading = NULL, reading_until = NULL,
      etag = CASE WHEN source = ${list.source} THEN ${good.etag} END,
      last_modified = CASE WHEN source = ${list.source} THEN ${good.lastModified} END,
      synced_at = CASE WHEN source = ${list.source} THEN ${good.syncedAt} END,
      due_at = CASE WHEN source = ${list.source} THEN ${good.dueAt} ELSE due_at END,
      report = COALESCE(${change && JSON.stringify(change.report)}, report),
      entries = COALESCE(${change && change.entries}, entries),
      changed_at = CASE WHEN ${isChanged} THEN ${nowMs} ELSE changed_at END,
      added = CASE WHEN ${isChanged} THEN ${change && change.added} ELSE added END,
      removed = CASE WHEN ${isChanged} THEN ${change && change.removed} ELSE removed END
    WHERE instance_id = ${list.instanceId} AND name = ${list.name} AND reading = ${list.reading}`.run();
}

/** The last good reading stays. `mustSync`: a change may have been made in part. */
export async function noteListFailure(
  env: StoreEnv,
  list: StoredList,
  error: string,
  { dueAt, nowMs, mustSync }: { dueAt: number | null; nowMs: number; mustSync: boolean },
): Promise<void> {
  await statement(env)`
    UPDATE rule_lists SET tried_at = ${nowMs}, failures = failures + 1, error = ${error}, reading = NULL,
      reading_until = NULL,
      due_at = CASE WHEN source = ${list.source} THEN ${dueAt} ELSE due_at END,
      etag = CASE WHEN ${mustSync} THEN NULL ELSE etag END,
      last_modified = CASE WHEN ${mustSync} THEN NULL ELSE last_modified END,
      synced_at = CASE WHEN ${mustSync} THEN NULL ELSE synced_at END
    WHERE instance_id = ${list.instanceId} AND name = ${list.name} AND reading = ${list.reading}`.run();
}
