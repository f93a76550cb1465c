/**
 * The lists of a book and which of them owns a value. The rule in force for a value is the operator's; without one it is
 * the entry of the strictest enforced list; without that, the one of a monitored list. Of lists that say the same it is the
 * first by name. Entries that are hidden in this way stay stored, and count again as soon as nothing hides them.
 */
import { restrictiveness } from '../../../rules/decision-table.ts';
import type { ListLayer } from '../../../rules/list-layers.ts';
import { keyOfRule, ruleOfKey } from '../../../lists/entry-key.ts';
import { type RuleKey, typeCodes, verdictCodes, verdictOfCode } from '../rule-row.ts';
import type { ListState, ListedEntry } from '../list-rpc.ts';

/** Keys of one query: about 1 MB of text. */
export const KEYS_PER_QUERY = 20_000;

export interface StoredLayer extends ListLayer {
  entries: number;
  revision: number;
}

/** The lists in force, the one that owns a value first. */
export function rankedLists(sql: SqlStorage): StoredLayer[] {
  const cursor = sql.exec<{
    list: number;
    name: string;
    verdict: number;
    mode: number;
    entries: number;
    revision: number;
  }>('SELECT list, name, verdict, mode, entries, revision FROM lists WHERE removed_at IS NULL');
  return [...cursor].map(storedList).toSorted(byRank);
}

function storedList(row: {
  list: number;
  name: string;
  verdict: number;
  mode: number;
  entries: number;
  revision: number;
}): StoredLayer {
  const { list, name, entries, revision } = row;
  return {
    number: list,
    name,
    verdict: verdictOfCode(row.verdict),
    mode: row.mode === MONITOR ? 'monitor' : 'enforce',
    entries,
    revision,
  };
}

const MONITOR = 1;
export const modeCode = (mode: ListLayer['mode']): number => (mode === 'monitor' ? MONITOR : 0);
export const verdictCode = (verdict: ListLayer['verdict']): number => verdictCodes[verdict];

/** Negative when `one` owns a value that both have. */
export function byRank(one: ListLayer, other: ListLayer): number {
  const enforced = Number(other.mode === 'enforce') - Number(one.mode === 'enforce');
  if (enforced !== 0) return enforced;
  return restrictiveness[other.verdict] - restrictiveness[one.verdict] || (one.name < other.name ? -1 : 1);
}

export function countEntries(sql: SqlStorage): number {
  return sql
    .exec<{ entries: number }>('SELECT COALESCE(SUM(entries), 0) AS entries FROM lists WHERE removed_at IS NULL')
    .one().entries;
}

export function hasEntries(sql: SqlStorage): boolean {
  return sql.exec('SELECT 1 FROM lists WHERE removed_at IS NULL AND entries > 0 LIMIT 1').toArray().length > 0;
}

export function layerStates(sql: SqlStorage): ListState[] {
  return rankedLists(sql).map(({ number: _number, ...state }) => state);
}

/** Which of `lists` owns each key; keys that none of them has are not in the map. */
export function ownersOf(
  sql: SqlStorage,
  keys: readonly string[],
  lists: readonly Pick<StoredLayer, 'number'>[],
): Map<string, number> {
  const owners = new Map<string, number>();
  if (lists.length === 0) return owners;
  for (let at = 0; at < keys.length; at += KEYS_PER_QUERY) {
    const asked = JSON.stringify(keys.slice(at, at + KEYS_PER_QUERY));
    for (const { number } of lists) {
      const cursor = sql.exec(
        'SELECT e.key FROM json_each(?1) j CROSS JOIN list_entries e ON e.list = ?2 AND e.key = j.value',
        asked,
        number,
      );
      for (const [key] of cursor.raw<[string]>()) if (!owners.has(key)) owners.set(key, number);
    }
  }
  return owners;
}

/** Every entry of a list under these keys, those of the list that owns a value first. */
export function entriesUnder(sql: SqlStorage, keys: readonly RuleKey[]): ListedEntry[] {
  const asked = keys.flatMap((key) => keyOfRule(key) ?? []);
  return rankedLists(sql).flatMap((list) => {
    const { name, verdict, mode } = list;
    return [...ownersOf(sql, asked, [list]).keys()].map((key) => ({ list: name, verdict, mode, ...ruleOfKey(key) }));
  });
}

/** A part of a list in the order of its keys, as one text. */
export function keysAfter(sql: SqlStorage, list: number, after: string, limit: number): string {
  return (
    sql
      .exec<{ keys: string | null }>(
        `SELECT group_concat(key, '') AS keys FROM
         (SELECT key FROM list_entries WHERE list = ? AND key > ? ORDER BY key LIMIT ?)`,
        list,
        after,
        limit,
      )
      .one().keys ?? ''
  );
}

/** `[type, value, owner]`, as rows of `list_changes`. */
export function changeRow(key: string, owner: number | null): readonly [number, string, number | null] {
  const { type, value } = ruleOfKey(key);
  return [typeCodes[type], value, owner];
}
