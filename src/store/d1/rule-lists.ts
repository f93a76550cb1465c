/**
 * Lists of instances in D1: their settings, and the address and the header that they are fetched with, which are sealed,
 * because both can have the key of a subscriber. What becomes of readings is in `rule-list-readings.ts`. The entries are in the instance's RuleBook.
 */
import { sql, statement } from '../sql.ts';
import type { ListAuthorization, ListSettings, ReportField } from '../../contract/management/lists.ts';
import type { StoreEnv } from '../binding.ts';
import { openAtRest, randomToken, sealAtRest } from '../keys/master-key.ts';
import { rootKey } from '../keys/root-key.ts';
import { flag, fromJson, fromRow, plain, type Row } from './rows.ts';

const MINUTE_MS = 60_000;
const BIRTH_BYTES = 9;

const listFields = fromRow({
  instanceId: plain<string>(),
  name: plain<string>(),
  settings: fromJson<ListSettings>(),
  /** A random mark that tells the list from a later one of the same name. `null`: the list is older than the mark. */
  birth: plain<string | null>(),
  createdAt: plain<number>(),
  dueAt: plain<number | null>(),
  triedAt: plain<number | null>(),
  confirmedAt: plain<number | null>(),
  changedAt: plain<number | null>(),
  syncedAt: plain<number | null>(),
  etag: plain<string | null>(),
  lastModified: plain<string | null>(),
  failures: plain<number>(),
  error: plain<string | null>(),
  entries: plain<number>(),
  report: fromJson<ReportField | null>(),
  isExpired: flag(),
  /** The run that reads it, or that was stopped while it did. */
  reading: plain<string | null>(),
  /** Rises when it gets another source. */
  source: plain<number>(),
});

export interface StoredList extends ReturnType<typeof listFields> {
  hasAuthorization: boolean;
  lastChange: { added: number; removed: number } | null;
}

export type ListKey = Pick<StoredList, 'instanceId' | 'name'>;

type SealedColumn = 'authorization_sealed' | 'url_sealed';

const context = ({ instanceId, name }: ListKey, column: SealedColumn): string =>
  `rule_lists.${column}:${instanceId}:${name}`;

/** `urlSealed` is `null` for a file, and for a list that is older than the column and has its address in the settings. */
const listColumns = fromRow({
  urlSealed: plain<string | null>(),
  authorizationSealed: plain<string | null>(),
  added: plain<number | null>(),
  removed: plain<number | null>(),
});

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
  const { results } = await statement(env)`
    SELECT * FROM rule_lists WHERE instance_id = ${instanceId} ORDER BY name`.all<Row>();
  return Promise.all(results.map((row) => storedList(env, row)));
}

export async function findList(env: StoreEnv, instanceId: string, name: string): Promise<StoredList | null> {
  const row = await statement(env)`
    SELECT * FROM rule_lists WHERE instance_id = ${instanceId} AND name = ${name}`.first<Row>();
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
  const { settingsText, urlSealed } = await columnsOf(env, key, settings);
  const header = authorization && (await sealed(env, key, 'authorization_sealed', JSON.stringify(authorization)));
  const row = await statement(env)`
    INSERT INTO rule_lists
      (instance_id, name, settings, url_sealed, expiry_seconds, authorization_sealed, birth, created_at, due_at)
    VALUES (${key.instanceId}, ${key.name}, ${settingsText}, ${urlSealed}, ${settings.expirySeconds}, ${header},
      ${randomToken(BIRTH_BYTES)}, ${nowMs}, ${settings.url === null ? null : nowMs})
    ON CONFLICT DO NOTHING RETURNING *`.first<Row>();
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
  const { settingsText, urlSealed } = await columnsOf(env, key, settings);
  const header = authorization ? await sealed(env, key, 'authorization_sealed', JSON.stringify(authorization)) : null;
  const setHeader = authorization === undefined ? sql`` : sql`authorization_sealed = ${header},`;
  const setSource = isOtherSource
    ? sql`due_at = ${settings.url === null ? null : nowMs}, source = source + 1, etag = NULL, last_modified = NULL,
        synced_at = NULL`
    : sql`due_at = MIN(due_at, ${nowMs + settings.intervalMinutes * MINUTE_MS})`;
  const row = await statement(env)`
    UPDATE rule_lists SET settings = ${settingsText}, url_sealed = ${urlSealed},
      expiry_seconds = ${settings.expirySeconds}, ${setHeader} ${setSource}
    WHERE instance_id = ${key.instanceId} AND name = ${key.name} RETURNING *`.first<Row>();
  return row && storedList(env, row);
}

export async function deleteList(env: StoreEnv, { instanceId, name }: ListKey): Promise<boolean> {
  const { meta } = await statement(env)`
    DELETE FROM rule_lists WHERE instance_id = ${instanceId} AND name = ${name}`.run();
  return meta.changes === 1;
}

/** Of an instance that was deleted. Its RuleBook goes with it. */
export async function deleteListsOf(env: StoreEnv, instanceId: string): Promise<void> {
  await statement(env)`DELETE FROM rule_lists WHERE instance_id = ${instanceId}`.run();
}

/** The header that a list is fetched with. */
export async function authorizationOf(env: StoreEnv, key: ListKey): Promise<ListAuthorization | null> {
  const row = await statement(env)`
    SELECT authorization_sealed FROM rule_lists
    WHERE instance_id = ${key.instanceId} AND name = ${key.name}`.first<{ authorization_sealed: string | null }>();
  if (row === null || row.authorization_sealed === null) return null;
  const text = await opened(env, key, 'authorization_sealed', row.authorization_sealed);
  return JSON.parse(text) as ListAuthorization;
}

/** Seals the address of a list that was stored before addresses were sealed. */
export async function sealAddress(env: StoreEnv, list: StoredList): Promise<void> {
  const { settingsText, urlSealed } = await columnsOf(env, list, list.settings);
  await statement(env)`
    UPDATE rule_lists SET settings = ${settingsText}, url_sealed = ${urlSealed}
    WHERE instance_id = ${list.instanceId} AND name = ${list.name} AND birth IS ${list.birth}
      AND source = ${list.source}`.run();
}

async function columnsOf(env: StoreEnv, key: ListKey, settings: ListSettings) {
  const { url } = settings;
  const urlSealed = url && (await sealed(env, key, 'url_sealed', url));
  return { settingsText: JSON.stringify({ ...settings, url: null }), urlSealed };
}

async function sealed(env: StoreEnv, key: ListKey, column: SealedColumn, text: string): Promise<string> {
  return sealAtRest(await rootKey(env), context(key, column), text);
}

async function opened(env: StoreEnv, key: ListKey, column: SealedColumn, text: string): Promise<string> {
  return openAtRest(await rootKey(env), context(key, column), text);
}
