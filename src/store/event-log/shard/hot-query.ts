/** Reads unsealed rows that match a filter: their keys in memory decide, and only the rows of the page are read. */
import { newestKeys } from '../columns/captcha-hot-columns.ts';
import type { RowKey, StoredRow } from '../log-row.ts';
import type { RowFilter } from '../row-filter.ts';
import { readRows } from './hot-keys.ts';
import type { HotKeys } from './hot-keys.ts';

/** Newest first. */
export function hotRows(
  sql: SqlStorage,
  keys: HotKeys,
  filter: RowFilter,
  before: RowKey | null,
  limit: number,
): StoredRow[] {
  const page = newestKeys(keys.matching(filter), before, limit);
  return readRows(sql, page).map(({ id, timestamp, body }) => ({ id, timestamp, body }));
}
