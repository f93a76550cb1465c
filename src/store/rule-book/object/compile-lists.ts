/**
 * Lists in a compile. Their entries are added before the operator's rules, the strongest list last, because of two rules
 * with the same value the compiler keeps the one that was added later. That is the order in which they own a value.
 */
import { keysIn } from '../../../lists/entry-key.ts';
import type { RulesetCompiler } from '../../../rules/compiler.ts';
import { addEntry } from '../compile-entry.ts';
import { keysAfter, type StoredLayer } from './list-layers.ts';

/** About 5 ms of reading and compiling, the longest that another call waits. */
const KEYS_PER_SLICE = 10_000;

/** `lists`: the strongest first. They must not change meanwhile; their entries may. Returns how many were added. */
export async function addEntries(
  sql: SqlStorage,
  compiler: RulesetCompiler,
  lists: readonly StoredLayer[],
  giveWay: () => Promise<void>,
): Promise<number> {
  let entries = 0;
  for (const { number, verdict } of lists.toReversed()) {
    const rule = { verdict, list: number };
    for (let after: string | undefined = ''; after !== undefined;) {
      let last: string | undefined;
      for (const key of keysIn(keysAfter(sql, number, after, KEYS_PER_SLICE))) {
        addEntry(compiler, key, rule);
        entries += 1;
        last = key;
      }
      after = last;
      await giveWay();
    }
  }
  return entries;
}

/**
 * Deletes the entries of removed lists. A list is forgotten, and its number free, once no base and no delta that an edge
 * can load has entries of it.
 */
export async function forgetRemovedLists(
  storage: DurableObjectStorage,
  oldestServedVersion: number,
  giveWay: () => Promise<void>,
): Promise<void> {
  const { sql } = storage;
  const removed = sql.exec<{ list: number; removed_at: number }>(
    'SELECT list, removed_at FROM lists WHERE removed_at IS NOT NULL',
  );
  for (const { list, removed_at: removedAt } of removed.toArray()) {
    for (;;) {
      const { key } = sql
        .exec<{ key: string | null }>(
          'SELECT MAX(key) AS key FROM (SELECT key FROM list_entries WHERE list = ? ORDER BY key LIMIT ?)',
          list,
          KEYS_PER_SLICE,
        )
        .one();
      if (key === null) break;
      sql.exec('DELETE FROM list_entries WHERE list = ? AND key <= ?', list, key);
      await giveWay();
    }
    if (removedAt <= oldestServedVersion) sql.exec('DELETE FROM lists WHERE list = ?', list);
  }
}
