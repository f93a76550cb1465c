/**
 * Changes lists, each change as one version and all of it or nothing. Only values whose rule in force changes are logged:
 * what an operator's rule or a stronger list hides is stored and nothing else. Verdict and mode of a list are in a table
 * that every delta carries, so only values that change their owner are logged when those change.
 */
import { keysIn } from '../../../lists/entry-key.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { LIST_NUMBER_MAX } from '../../../rules/list-layers.ts';
import type { ListChange, LayerSettings, ListState, RefusedListChange, TooManyLists } from '../list-rpc.ts';
import { actorNumber } from './schema.ts';
import {
  byRank,
  changeRow,
  KEYS_PER_QUERY,
  modeCode,
  ownersOf,
  rankedLists,
  type StoredLayer,
  verdictCode,
} from './list-layers.ts';
import { currentVersion, logOwners, noteListVersion } from './list-log.ts';
import { RULES_PER_INSTANCE_MAX, usedRoom } from './write-rules.ts';

/** Every question about a value asks each of them. */
const LISTS_PER_INSTANCE_MAX = 50;

class RefusedChangeError extends Error {
  readonly refusal: RefusedListChange;
  constructor(refusal: RefusedListChange) {
    super(refusal.reason);
    this.refusal = refusal;
  }
}

export function putList(
  storage: DurableObjectStorage,
  settings: LayerSettings,
  nowMs: number,
): Result<ListState, TooManyLists> {
  const { sql } = storage;
  return storage.transactionSync(() => {
    const lists = rankedLists(sql);
    const known = lists.find(({ name }) => name === settings.name);
    const state = { ...settings, entries: known?.entries ?? 0, revision: known?.revision ?? 0 };
    if (known && known.verdict === settings.verdict && known.mode === settings.mode) return ok(state);
    const version = currentVersion(sql) + 1;
    if (known) {
      sql.exec(
        'UPDATE lists SET verdict = ?, mode = ? WHERE list = ?',
        verdictCode(settings.verdict),
        modeCode(settings.mode),
        known.number,
      );
      const now = { ...known, ...settings };
      const overtaken = lists.filter((list) => list !== known && byRank(known, list) < 0 !== byRank(now, list) < 0);
      logShared(sql, version, known, overtaken);
    } else {
      const number = freeNumber(sql);
      if (lists.length >= LISTS_PER_INSTANCE_MAX || number === null) {
        return failed({ reason: 'too-many-lists', limit: LISTS_PER_INSTANCE_MAX });
      }
      sql.exec(
        'INSERT INTO lists (list, name, verdict, mode, entries, revision) VALUES (?, ?, ?, ?, 0, 0)',
        number,
        settings.name,
        verdictCode(settings.verdict),
        modeCode(settings.mode),
      );
    }
    noteListVersion(sql, version, actorNumber(sql, `list:${settings.name}`), nowMs, true);
    return ok(state);
  });
}

/** Its entries have no effect from this version on. They are deleted before the next compile. */
export function removeList(storage: DurableObjectStorage, name: string, nowMs: number): boolean {
  const { sql } = storage;
  return storage.transactionSync(() => {
    const lists = rankedLists(sql);
    const known = lists.find((list) => list.name === name);
    if (!known) return false;
    const version = currentVersion(sql) + 1;
    sql.exec('UPDATE lists SET removed_at = ? WHERE list = ?', version, known.number);
    logShared(
      sql,
      version,
      known,
      lists.filter((list) => byRank(known, list) < 0),
    );
    noteListVersion(sql, version, actorNumber(sql, `list:${name}`), nowMs, true);
    return true;
  });
}

export function changeList(
  storage: DurableObjectStorage,
  name: string,
  change: ListChange,
  nowMs: number,
): Result<ListState, RefusedListChange> {
  try {
    return ok(storage.transactionSync(() => applyChange(storage.sql, name, change, nowMs)));
  } catch (error) {
    if (error instanceof RefusedChangeError) return failed(error.refusal);
    throw error;
  }
}

function applyChange(sql: SqlStorage, name: string, change: ListChange, nowMs: number): ListState {
  const lists = rankedLists(sql);
  const place = lists.findIndex((list) => list.name === name);
  const list = lists[place];
  if (!list) throw new RefusedChangeError({ reason: 'unknown-list' });
  const { number, revision, verdict, mode } = list;
  if (revision !== change.ifRevision) {
    throw new RefusedChangeError({ reason: 'stale', expected: change.ifRevision, current: revision });
  }
  const removed = writtenKeys(sql, DELETE_KEYS, number, change.remove);
  const added = writtenKeys(sql, INSERT_KEYS, number, change.add);
  const state = { name, verdict, mode, entries: list.entries + added.length - removed.length, revision };
  if (added.length + removed.length === 0) return state;
  state.revision += 1;
  sql.exec('UPDATE lists SET entries = ?, revision = ? WHERE list = ?', state.entries, state.revision, number);
  if (added.length > removed.length && usedRoom(sql) > RULES_PER_INSTANCE_MAX) {
    throw new RefusedChangeError({ reason: 'too-many-rules', limit: RULES_PER_INSTANCE_MAX, type: null });
  }
  const hidden = ownersOf(sql, [...removed, ...added], lists.slice(0, place));
  const heirs = ownersOf(sql, removed, lists.slice(place + 1));
  const version = currentVersion(sql) + 1;
  logOwners(sql, version, [
    ...removed.filter((key) => !hidden.has(key)).map((key) => changeRow(key, heirs.get(key) ?? null)),
    ...added.filter((key) => !hidden.has(key)).map((key) => changeRow(key, number)),
  ]);
  noteListVersion(sql, version, actorNumber(sql, `list:${name}`), nowMs);
  return state;
}

const DELETE_KEYS =
  'DELETE FROM list_entries WHERE list = ?1 AND key IN (SELECT value FROM json_each(?2)) RETURNING key';
const INSERT_KEYS = `INSERT INTO list_entries (list, key) SELECT ?1, value FROM json_each(?2) WHERE true
  ON CONFLICT DO NOTHING RETURNING key`;

/** The keys that a statement really wrote. */
function writtenKeys(sql: SqlStorage, statement: string, list: number, text: string): string[] {
  const keys = [...keysIn(text)];
  const written: string[] = [];
  for (let at = 0; at < keys.length; at += KEYS_PER_QUERY) {
    const cursor = sql.exec(statement, list, JSON.stringify(keys.slice(at, at + KEYS_PER_QUERY)));
    for (const [key] of cursor.raw<[string]>()) written.push(key);
  }
  return written;
}

/** Logs the owner of every value that the list shares with one of the others, as the lists are now. */
function logShared(sql: SqlStorage, version: number, { number }: StoredLayer, others: readonly StoredLayer[]): void {
  const lists = rankedLists(sql);
  for (const other of others) {
    for (let after: string | undefined = ''; after !== undefined;) {
      const keys: string[] = [
        ...sql
          .exec(
            `SELECT a.key FROM list_entries a CROSS JOIN list_entries b ON b.list = ?2 AND b.key = a.key
              WHERE a.list = ?1 AND a.key > ?3 ORDER BY a.key LIMIT ?4`,
            number,
            other.number,
            after,
            KEYS_PER_QUERY,
          )
          .raw<[string]>(),
      ].map(([key]) => key);
      logOwners(
        sql,
        version,
        [...ownersOf(sql, keys, lists)].map(([key, owner]) => changeRow(key, owner)),
      );
      after = keys.length < KEYS_PER_QUERY ? undefined : keys.at(-1);
    }
  }
}

/** A number that no list has, removed ones included: an edge may still hold their entries. */
function freeNumber(sql: SqlStorage): number | null {
  const taken = new Set([...sql.exec<{ list: number }>('SELECT list FROM lists')].map(({ list }) => list));
  for (let number = 1; number <= LIST_NUMBER_MAX; number += 1) if (!taken.has(number)) return number;
  return null;
}
