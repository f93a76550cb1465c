/** Reads unsealed rows that match a filter, for a page or for the tail: their keys decide, and only these rows are read. */
import { compareNewestFirst, type RowKey, type StoredRow } from '../log-row.ts';
import { PackedLines } from '../packed-lines.ts';
import { passes, type RowFilter } from '../row-filter.ts';
import type { HotKey, HotKeys } from './hot-keys.ts';
import type { ShardTail, TailRequest, TailRow } from '../shard-rpc.ts';
import type { HotRows } from './hot-rows.ts';

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

/** A row after the last one that the reader knows. */
interface Numbered extends HotKey {
  /** How many rows between the two are no longer here. */
  missed: number;
}

/**
 * Rows in the order in which this shard stored them, from one row on: a late row comes when it arrives, whatever its
 * time. Only unsealed rows are in that order. Rows that were sealed or erased before they were told are
 * counted instead, by the numbers that are missing.
 */
export function tailRows(sql: SqlStorage, hot: HotRows, { filter, after, limit }: TailRequest): ShardTail {
  const { lastSeq } = hot;
  if (after === null) {
    const shown = hot.keys.lastStored(filter, limit).map((key) => ({ ...key, missed: 0 }));
    return { rows: tailed(sql, shown), through: lastSeq, missed: 0, more: false };
  }
  const found: Numbered[] = [];
  let stored = 0;
  for (const key of hot.keys.storedAfter(after)) {
    if (found.length > limit) break;
    if (passes(filter, key)) found.push({ ...key, missed: key.seq - after - 1 - stored });
    stored++;
  }
  const rows = tailed(sql, found.slice(0, limit));
  const last = rows.at(-1);
  if (last && found.length > limit) return { rows, through: last.seq, missed: last.missed, more: true };
  return { rows, through: lastSeq, missed: Math.max(lastSeq - after - stored, 0), more: false };
}

function tailed(sql: SqlStorage, keys: readonly Numbered[]): TailRow[] {
  return readRows(sql, keys).map(({ id, timestamp, body, seq, missed }) => ({ id, timestamp, body, seq, missed }));
}

/** The rows of these keys, in the order of the keys. Only one batch at a time is in memory with all its rows. */
export function readRows<Key extends HotKey>(sql: SqlStorage, keys: readonly Key[]): (Key & StoredRow)[] {
  const wanted = Map.groupBy(keys, ({ batch }) => batch);
  const bodiesOf = new Map<Key, string>();
  for (const { no, bodies } of sql.exec<{ no: number; bodies: ArrayBuffer }>(
    'SELECT no, bodies FROM batches WHERE no IN (SELECT value FROM json_each(?))',
    JSON.stringify([...wanted.keys()]),
  )) {
    const lines = new PackedLines(bodies);
    const rising = (wanted.get(no) ?? []).sort((one, other) => one.line - other.line);
    for (const key of rising) bodiesOf.set(key, lines.at(key.line));
  }
  return keys.map((key) => ({ ...key, body: bodiesOf.get(key) as string }));
}
