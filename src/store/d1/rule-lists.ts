/**
 * Lists of instances in D1: their settings, and the address and the header that they are fetched with, which are sealed,
 * because both can have the key of a subscriber. What becomes of readings is in `rule-list-readings.ts`. The entries are in the instance's RuleBook.
 */
import type { ListAuthorization, ListSettings, ReportField } from '../../contract/management/lists.ts';
import type { StoreEnv } from '../binding.ts';
import { openAtRest, randomToken, sealAtRest } from '../keys/master-key.ts';
import { rootKey } from '../keys/root-key.ts';
import { fromRow, type Row } from './rows.ts';

const MINUTE_MS = 60_000;
const BIRTH_BYTES = 9;

export interface StoredList {
  instanceId: string;
  name: string;
  settings: ListSettings;
  hasAuthorization: boolean;
  /** A random mark that tells the list from a later one of the same name. `null`: the list is older than the mark. */
  birth: string | null;
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
  /** The run that reads it, or that was stopped while it did. */
  reading: string | null;
  /** Rises when it gets another source. */
  source: number;
}

export type ListKey = Pick<StoredList, 'instanceId' | 'name'>;

type SealedColumn = 'authorization_sealed' | 'url_sealed';

const context = ({ instanceId, name }: ListKey, column: SealedColumn): string =>
  `rule_lists.${column}:${instanceId}:${name}`;

const listFields = fromRow<Omit<StoredList, 'hasAuthorization' | 'lastChange'>>({
  instanceId: 'plain',
  name: 'plain',
  settings: 'json',
  birth: 'plain',
  createdAt: 'plain',
  dueAt: 'plain',
  triedAt: 'plain',
  confirmedAt: 'plain',
  changedAt: 'plain',
  syncedAt: 'plain',
  etag: 'plain',
  lastModified: 'plain',
  failures: 'plain',
  error: 'plain',
  entries: 'plain',
  report: 'json',
  isExpired: 'flag',
  reading: 'plain',
  source: 'plain',
});

/** `urlSealed` is `null` for a file, and for a list that is older than the column and has its address in the settings. */
const listColumns = fromRow<{
  urlSealed: string | null;
  authorizationSealed: string | null;
  added: number | null;
  removed: number | null;
}>({ urlSealed: 'plain', authorizationSealed: 'plain', added: 'plain', removed: 'plain' });

export async function storedList(env: StoreEnv, row: Row): Promise<StoredList> {
  const list = listFields(row);
  const { urlSealed, authorizationSealed, added, removed } = listColumns(row);
  if (urlSealed !== null) list.settings.url = await opened(env, list, 'url_sealed', urlSealed);
  return {
    ...list,
    hasAuthorization: authorizationSealed !== null,
    lastChange: added === null || removed === null ? null : { added, removed },
  };
}

export async function listsOf(env: StoreEnv, instanceId: string): Promise<StoredList[]> {
  const { results } = await env.DB.prepare('SELECT * FROM rule_lists WHERE instance_id = ? ORDER BY name')
    .bind(instanceId)
    .all<Row>();
  return Promise.all(results.map((row) => storedList(env, row)));
}

export async function findList(env: StoreEnv, instanceId: string, name: string): Promise<StoredList | null> {
  const row = await env.DB.prepare('SELECT * FROM rule_lists WHERE instance_id = ? AND name = ?')
    .bind(instanceId, name)
    .first<Row>();
  return row && storedList(env, row);
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
    `INSERT INTO rule_lists (instance_id, name, settings, url_sealed, expiry_seconds, authorization_sealed, birth,
       created_at, due_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING *`,
  )
    .bind(
      key.instanceId,
      key.name,
      ...(await columnsOf(env, key, settings)),
      settings.expirySeconds,
      authorization && (await sealed(env, key, 'authorization_sealed', JSON.stringify(authorization))),
      randomToken(BIRTH_BYTES),
      nowMs,
      settings.url === null ? null : nowMs,
    )
    .first<Row>();
  return row && storedList(env, row);
}

/**
 * `authorization`: `undefined` keeps it. A list with another source is due at once and read as a whole, whatever a
 * reading of the former one says. A shorter interval begins now.
 */
export async function updateList(
  env: StoreEnv,
  key: ListKey,
  settings: ListSettings,
  authorization: ListAuthorization | null | undefined,
  { isOtherSource, nowMs }: { isOtherSource: boolean; nowMs: number },
): Promise<StoredList | null> {
  const row = await env.DB.prepare(
    `UPDATE rule_lists SET settings = ?3, url_sealed = ?4, expiry_seconds = ?5,
       authorization_sealed = CASE WHEN ?6 THEN ?7 ELSE authorization_sealed END,
       due_at = CASE WHEN ?8 THEN ?9 ELSE MIN(due_at, ?10) END, source = source + ?8, etag = CASE WHEN ?8 THEN NULL ELSE etag END,
       last_modified = CASE WHEN ?8 THEN NULL ELSE last_modified END,
       synced_at = CASE WHEN ?8 THEN NULL ELSE synced_at END
     WHERE instance_id = ?1 AND name = ?2 RETURNING *`,
  )
    .bind(
      key.instanceId,
      key.name,
      ...(await columnsOf(env, key, settings)),
      settings.expirySeconds,
      authorization === undefined ? 0 : 1,
      authorization ? await sealed(env, key, 'authorization_sealed', JSON.stringify(authorization)) : null,
      isOtherSource ? 1 : 0,
      settings.url === null ? null : nowMs,
      nowMs + settings.intervalMinutes * MINUTE_MS,
    )
    .first<Row>();
  return row && storedList(env, row);
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
  const text = await opened(env, key, 'authorization_sealed', row.authorization_sealed);
  return JSON.parse(text) as ListAuthorization;
}

/** Seals the address of a list that was stored before addresses were sealed. */
export async function sealAddress(env: StoreEnv, list: StoredList): Promise<void> {
  await env.DB.prepare(
    'UPDATE rule_lists SET settings = ?, url_sealed = ? WHERE instance_id = ? AND name = ? AND birth IS ? AND source = ?',
  )
    .bind(...(await columnsOf(env, list, list.settings)), list.instanceId, list.name, list.birth, list.source)
    .run();
}

/** `settings` and `url_sealed`. */
async function columnsOf(env: StoreEnv, key: ListKey, settings: ListSettings): Promise<[string, string | null]> {
  const { url } = settings;
  return [JSON.stringify({ ...settings, url: null }), url && (await sealed(env, key, 'url_sealed', url))];
}

async function sealed(env: StoreEnv, key: ListKey, column: SealedColumn, text: string): Promise<string> {
  return sealAtRest(await rootKey(env), context(key, column), text);
}

async function opened(env: StoreEnv, key: ListKey, column: SealedColumn, text: string): Promise<string> {
  return openAtRest(await rootKey(env), context(key, column), text);
}
