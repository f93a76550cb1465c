/**
 * Rows in the order in which this shard stored them, from one row on: a late row comes when it arrives, whatever its
 * time. Only unsealed rows have a place in that order. Rows that were sealed or erased before they were told are
 * counted instead, by the numbers that are missing.
 */
import type { Tail, TailRequest, TailRow } from '../shard-rpc.ts';
import { type HotKey, keyMatches, readRows } from './hot-keys.ts';
import type { HotRows } from './hot-rows.ts';

/** A row after the place of the reader. */
interface Numbered extends HotKey {
  /** How many rows between that place and this row are no longer here. */
  missed: number;
}

export function tailRows(sql: SqlStorage, hot: HotRows, { filter, after, limit }: TailRequest): Tail {
  const { lastSeq } = hot;
  if (after === null) {
    const shown = hot.keys.lastStored(filter, limit).map((key) => ({ ...key, missed: 0 }));
    return { rows: tailed(sql, shown), through: lastSeq, missed: 0, more: false };
  }
  const found: Numbered[] = [];
  let stored = 0;
  for (const key of hot.keys.storedAfter(after)) {
    if (found.length > limit) break;
    if (keyMatches(filter, key)) found.push({ ...key, missed: key.seq - after - 1 - stored });
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
