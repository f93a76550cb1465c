/**
 * Rows in the order in which this shard stored them, from one row on: a late row comes when it arrives, whatever its
 * time. Only unsealed rows have a place in that order. Rows that were sealed or erased before they were told are
 * counted instead, by the numbers that are missing.
 */
import type { RowFilter } from '../row-filter.ts';
import type { Tail, TailRequest, TailRow } from '../shard-rpc.ts';
import { keyMatches, readRows } from './hot-keys.ts';
import type { HotKey } from './hot-keys.ts';
import type { HotRows } from './hot-rows.ts';

/** A row after the place of the reader. */
interface Numbered extends HotKey {
  /** How many rows between that place and this row are no longer here. */
  missed: number;
}

export function tailRows(sql: SqlStorage, hot: HotRows, { filter, after, limit }: TailRequest): Tail {
  const { lastSeq } = hot;
  if (after === null) {
    const newest = hot.keys.storedAfter(0).filter((key) => keyMatches(filter, key));
    const shown = newest.slice(-limit).map((key) => ({ ...key, missed: 0 }));
    return { rows: tailed(sql, shown), through: lastSeq, missed: 0, more: false };
  }
  const stored = hot.keys.storedAfter(after);
  const matching = numbered(stored, after, filter, limit + 1);
  const rows = tailed(sql, matching.slice(0, limit));
  const last = rows.at(-1);
  if (last && matching.length > limit) return { rows, through: last.seq, missed: last.missed, more: true };
  return { rows, through: lastSeq, missed: Math.max(lastSeq - after - stored.length, 0), more: false };
}

/** The first `limit` that match. */
function numbered(stored: readonly HotKey[], after: number, filter: RowFilter, limit: number): Numbered[] {
  const found: Numbered[] = [];
  for (const [index, key] of stored.entries()) {
    if (found.length === limit) break;
    if (keyMatches(filter, key)) found.push({ ...key, missed: key.seq - after - 1 - index });
  }
  return found;
}

function tailed(sql: SqlStorage, keys: readonly Numbered[]): TailRow[] {
  return readRows(sql, keys).map(({ id, timestamp, body, seq, missed }) => ({ id, timestamp, body, seq, missed }));
}
