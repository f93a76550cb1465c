/** Reads unsealed rows that match a filter: their keys decide, and only the rows of the page are read. */
import { compareNewestFirst, type RowKey, type StoredRow } from '../log-row.ts';
import type { RowFilter } from '../row-filter.ts';
import { type HotKeys, readRows } from './hot-keys.ts';

/** Newest first, and how many match in all. */
export function hotRows(
  sql: SqlStorage,
  keys: HotKeys,
  filter: RowFilter,
  before: RowKey | null,
  limit: number,
): { rows: StoredRow[]; count: number } {
  let count = 0;
  const counted = function* () {
    for (const key of keys.matching(filter)) {
      count++;
      yield key;
    }
  };
  const page = newestKeys(counted(), before, limit);
  return { rows: readRows(sql, page).map(({ id, timestamp, body }) => ({ id, timestamp, body })), count };
}

/** The newest `limit` of these keys that are older than `before`, newest first. */
function newestKeys<Key extends RowKey>(keys: Iterable<Key>, before: RowKey | null, limit: number): Key[] {
  let newest: Key[] = [];
  if (limit === 0) return newest;
  let edge: Key | undefined;
  for (const key of keys) {
    if (before !== null && compareNewestFirst(before, key) >= 0) continue;
    if (edge && compareNewestFirst(edge, key) < 0) continue;
    newest.push(key);
    if (newest.length < limit * 2) continue;
    newest = newest.sort(compareNewestFirst).slice(0, limit);
    edge = newest.at(-1);
  }
  return newest.sort(compareNewestFirst).slice(0, limit);
}
