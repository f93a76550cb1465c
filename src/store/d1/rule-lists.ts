/**
 * Lists of instances in D1: their settings, and what became of the last attempt to read them. The header that a list is
 * fetched with is sealed. The entries are in the instance's RuleBook.
 */
import type { ListAuthorization, ListSettings, ReportField } from '../../contract/management/lists.ts';
import type { StoreEnv } from '../binding.ts';
import { openAtRest, sealAtRest } from '../keys/master-key.ts';
import { rootKey } from '../keys/root-key.ts';

export interface StoredList {
  instanceId: string;
  name: string;
  settings: ListSettings;
  hasAuthorization: boolean;
  createdAt: number;
  dueAt: number | null;
  triedAt: number | null;
  confirmedAt: number | null;
  changedAt: number | null;
  syncedAt: number | null;
  etag: string | null;
  lastModified: string | null;
  failures: number;
  error: string | null;
  entries: number;
  lastChange: { added: number; removed: number } | null;
  report: ReportField | null;
  isExpired: boolean;
}

interface ListRow {
  instance_id: string;
  name: string;
  settings: string;
  authorization_sealed: string | null;
  created_at: number;
  due_at: number | null;
  tried_at: number | null;
  confirmed_at: number | null;
  changed_at: number | null;
  synced_at: number | null;
  etag: string | null;
  last_modified: string | null;
  failures: number;
  error: string | null;
  entries: number;
  added: number | null;
  removed: number | null;
  report: string | null;
  is_expired: number;
}

type ListKey = Pick<StoredList, 'instanceId' | 'name'>;

const context = ({ instanceId, name }: ListKey): string => `rule_lists.authorization_sealed:${instanceId}:${name}`;

function storedList(row: ListRow): StoredList {
  return {
    instanceId: row.instance_id,
    name: row.name,
    settings: JSON.parse(row.settings) as ListSettings,
    hasAuthorization: row.authorization_sealed !== null,
    createdAt: row.created_at,
    dueAt: row.due_at,
    triedAt: row.tried_at,
    confirmedAt: row.confirmed_at,
    changedAt: row.changed_at,
    syncedAt: row.synced_at,
    etag: row.etag,
    lastModified: row.last_modified,
    failures: row.failures,
    error: row.error,
    entries: row.entries,
    lastChange: row.added === null || row.removed === null ? null : { added: row.added, removed: row.removed },
    report: row.report === null ? null : (JSON.parse(row.report) as ReportField),
    isExpired: row.is_expired === 1,
  };
}

export async function listsOf(env: StoreEnv, instanceId: string): Promise<StoredList[]> {
  const { results } = await env.DB.prepare('SELECT * FROM rule_lists WHERE instance_id = ? ORDER BY name')
    .bind(instanceId)
    .all<ListRow>();
  return results.map(storedList);
}

export async function findList(env: StoreEnv, instanceId: string, name: string): Promise<StoredList | null> {
  const row = await env.DB.prepare('SELECT * FROM rule_lists WHERE instance_id = ? AND name = ?')
    .bind(instanceId, name)
    .first<ListRow>();
  return row && storedList(row);
}

/** `null`: the instance has one of this name. A subscription is due at once. */
export async function createList(
  env: StoreEnv,
  key: ListKey,
  settings: ListSettings,
  authorization: ListAuthorization | null,
  nowMs: number,
): Promise<StoredList | null> {
  const row = await env.DB.prepare(
    `INSERT INTO rule_lists (instance_id, name, settings, expiry_seconds, authorization_sealed, created_at, due_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING *`,
  )
    .bind(
      key.instanceId,
      key.name,
      JSON.stringify(settings),
      settings.expirySeconds,
      authorization && (await sealed(env, key, authorization)),
      nowMs,
      settings.url === null ? null : nowMs,
    )
    .first<ListRow>();
  return row && storedList(row);
}

/**
 * `authorization`: `undefined` keeps it. `readFrom`: when the list, which has another source now, is read again as a
 * whole; `null` keeps what is known of it.
 */
export async function updateList(
  env: StoreEnv,
  key: ListKey,
  settings: ListSettings,
  authorization: ListAuthorization | null | undefined,
  { readFrom }: { readFrom: number | null },
): Promise<StoredList | null> {
  const row = await env.DB.prepare(
    `UPDATE rule_lists SET settings = ?3, expiry_seconds = ?4,
       authorization_sealed = CASE WHEN ?5 THEN ?6 ELSE authorization_sealed END,
       due_at = CASE WHEN ?7 THEN ?8 ELSE due_at END, etag = CASE WHEN ?7 THEN NULL ELSE etag END,
       last_modified = CASE WHEN ?7 THEN NULL ELSE last_modified END,
       synced_at = CASE WHEN ?7 THEN NULL ELSE synced_at END
     WHERE instance_id = ?1 AND name = ?2 RETURNING *`,
  )
    .bind(
      key.instanceId,
      key.name,
      JSON.stringify(settings),
      settings.expirySeconds,
      authorization === undefined ? 0 : 1,
      authorization ? await sealed(env, key, authorization) : null,
      readFrom === null ? 0 : 1,
      settings.url === null ? null : readFrom,
    )
    .first<ListRow>();
  return row && storedList(row);
}

export async function deleteList(env: StoreEnv, { instanceId, name }: ListKey): Promise<boolean> {
  const { meta } = await env.DB.prepare('DELETE FROM rule_lists WHERE instance_id = ? AND name = ?')
    .bind(instanceId, name)
    .run();
  return meta.changes === 1;
}

/** Of an instance that was deleted. Its RuleBook goes with it. */
export async function deleteListsOf(env: StoreEnv, instanceId: string): Promise<void> {
  await env.DB.prepare('DELETE FROM rule_lists WHERE instance_id = ?').bind(instanceId).run();
}

/** The header that a list is fetched with. */
export async function authorizationOf(env: StoreEnv, key: ListKey): Promise<ListAuthorization | null> {
  const row = await env.DB.prepare('SELECT authorization_sealed FROM rule_lists WHERE instance_id = ? AND name = ?')
    .bind(key.instanceId, key.name)
    .first<{ authorization_sealed: string | null }>();
  if (row === null || row.authorization_sealed === null) return null;
  return JSON.parse(await openAtRest(await rootKey(env), context(key), row.authorization_sealed)) as ListAuthorization;
}

async function sealed(env: StoreEnv, key: ListKey, authorization: ListAuthorization): Promise<string> {
  return sealAtRest(await rootKey(env), context(key), JSON.stringify(authorization));
}

/**
 * The lists of active instances that are to be fetched now, those that wait longest first. Each is put off until `retryAt`,
 * so that a run that ends early leaves its lists to a later one.
 */
export async function takeDueLists(
  env: StoreEnv,
  limit: number,
  nowMs: number,
  retryAt: number,
): Promise<StoredList[]> {
  const { results } = await env.DB.prepare(
    `UPDATE rule_lists SET due_at = ?3 WHERE (instance_id, name) IN (
       SELECT l.instance_id, l.name FROM rule_lists l JOIN protect_instances i ON i.id = l.instance_id AND i.active = 1
        WHERE l.due_at <= ?1 ORDER BY l.due_at LIMIT ?2) RETURNING *`,
  )
    .bind(nowMs, limit, retryAt)
    .all<ListRow>();
  return results.map(storedList);
}

/** Lists that were not read well for longer than they may be. */
export async function listsThatExpire(env: StoreEnv, limit: number, nowMs: number): Promise<StoredList[]> {
  const { results } = await env.DB.prepare(
    `SELECT * FROM rule_lists WHERE is_expired = 0 AND expiry_seconds IS NOT NULL
       AND COALESCE(confirmed_at, created_at) + 1000 * expiry_seconds < ? LIMIT ?`,
  )
    .bind(nowMs, limit)
    .all<ListRow>();
  return results.map(storedList);
}

/** Its entries were removed. The next reading is of the whole list. */
export async function noteExpired(env: StoreEnv, { instanceId, name }: ListKey): Promise<void> {
  await env.DB.prepare(
    `UPDATE rule_lists SET is_expired = 1, entries = 0, etag = NULL, last_modified = NULL, synced_at = NULL
     WHERE instance_id = ? AND name = ?`,
  )
    .bind(instanceId, name)
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

export async function noteReading(env: StoreEnv, key: ListKey, good: GoodReading, nowMs: number): Promise<void> {
  const { change } = good;
  const isChanged = change !== null && change.added + change.removed > 0;
  await env.DB.prepare(
    `UPDATE rule_lists SET tried_at = ?3, confirmed_at = ?3, failures = 0, error = NULL, is_expired = 0,
       etag = ?4, last_modified = ?5, synced_at = ?6, due_at = ?7,
       report = COALESCE(?8, report), entries = COALESCE(?9, entries),
       changed_at = CASE WHEN ?10 THEN ?3 ELSE changed_at END,
       added = CASE WHEN ?10 THEN ?11 ELSE added END, removed = CASE WHEN ?10 THEN ?12 ELSE removed END
     WHERE instance_id = ?1 AND name = ?2`,
  )
    .bind(
      key.instanceId,
      key.name,
      nowMs,
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
  key: ListKey,
  error: string,
  { dueAt, nowMs, mustSync }: { dueAt: number | null; nowMs: number; mustSync: boolean },
): Promise<void> {
  await env.DB.prepare(
    `UPDATE rule_lists SET tried_at = ?3, failures = failures + 1, error = ?4, due_at = ?5,
       etag = CASE WHEN ?6 THEN NULL ELSE etag END, last_modified = CASE WHEN ?6 THEN NULL ELSE last_modified END,
       synced_at = CASE WHEN ?6 THEN NULL ELSE synced_at END
     WHERE instance_id = ?1 AND name = ?2`,
  )
    .bind(key.instanceId, key.name, nowMs, error, dueAt, mustSync ? 1 : 0)
    .run();
}
