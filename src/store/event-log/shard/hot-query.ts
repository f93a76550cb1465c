/** Reads unsealed rows that match a filter: their keys decide, and only the rows of the page are read. */
import { newestKeys } from '../columns/captcha-hot-columns.ts';
import type { RowKey, StoredRow } from '../log-row.ts';
import type { RowFilter } from '../row-filter.ts';
import { readRows } from './hot-keys.ts';
import type { HotKeys } from './hot-keys.ts';

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
