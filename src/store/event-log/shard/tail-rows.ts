/**
 * Rows in the order in which this shard stored them, from one row on: a late row comes when it arrives, whatever its
 * time. Only unsealed rows have a place in that order. Rows that were sealed or erased before they were told are
 * counted instead, by the numbers that are missing.
 */
import { fragmentsOf, matches } from '../row-filter.ts';
import type { RowFilter } from '../row-filter.ts';
import { logRecord } from '../log-record.ts';
import type { Tail, TailRequest, TailRow } from '../shard-rpc.ts';
import { canMatch, keyList } from './hot-keys.ts';
import type { HotKey } from './hot-keys.ts';
import type { HotRows } from './hot-rows.ts';

/** Rows whose bodies one call may read, when the filter needs them: about 50 ms. */
const EXAMINED_MAX = 5000;
const BODIES_AT_ONCE = 500;

/** A row after the place of the reader. */
interface Numbered {
  key: HotKey;
  /** How many rows between that place and this row are no longer here. */
  missed: number;
}

export function tailRows(sql: SqlStorage, hot: HotRows, { filter, after, limit }: TailRequest): Tail {
  const { lastSeq } = hot;
  if (after === null) {
    const rows = newestRows(sql, hot, filter, limit);
    return { rows, through: lastSeq, missed: 0, more: false };
  }
  const numbered = hot.keys.storedAfter(after).map((key, index) => ({ key, missed: key.seq - after - 1 - index }));
  const matching = numbered.filter(({ key }) => canMatch(filter, key));
  const examined = matching.slice(0, EXAMINED_MAX);
  const rows = firstRows(sql, filter, examined, limit + 1);
  if (rows.length > limit) {
    const last = rows[limit - 1] as TailRow;
    return { rows: rows.slice(0, limit), through: last.seq, missed: last.missed, more: true };
  }
  const end = examined.length < matching.length ? examined.at(-1) : undefined;
  if (end) return { rows, through: end.key.seq, missed: end.missed, more: true };
  return { rows, through: lastSeq, missed: Math.max(lastSeq - after - numbered.length, 0), more: false };
}

/** The last `limit` that match, oldest first. */
function newestRows(sql: SqlStorage, hot: HotRows, filter: RowFilter, limit: number): TailRow[] {
  const newestFirst = hot.keys
    .storedAfter(0)
    .filter((key) => canMatch(filter, key))
    .slice(-EXAMINED_MAX)
    .toReversed()
    .map((key) => ({ key, missed: 0 }));
  return firstRows(sql, filter, newestFirst, limit).toReversed();
}

function firstRows(sql: SqlStorage, filter: RowFilter, examined: readonly Numbered[], limit: number): TailRow[] {
  const rows: TailRow[] = [];
  // The keys have every field that filters use, except the rules that fired.
  const atOnce = filter.firedRules === null ? limit : BODIES_AT_ONCE;
  for (let at = 0; at < examined.length && rows.length < limit; at += atOnce) {
    rows.push(...withBodies(sql, filter, examined.slice(at, at + atOnce)));
  }
  return rows.slice(0, limit);
}

function withBodies(sql: SqlStorage, filter: RowFilter, examined: readonly Numbered[]): TailRow[] {
  const bodies = new Map<string, string>();
  for (const { id, body } of sql.exec<{ id: string; body: string }>(
    `SELECT id, body FROM verdicts WHERE (ts, id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`,
    keyList(examined.map(({ key }) => key)),
  )) {
    bodies.set(id, body);
  }
  const fragments = filter.firedRules === null ? [] : fragmentsOf(filter);
  return examined.flatMap(({ key: { id, timestamp, seq }, missed }) => {
    const body = bodies.get(id);
    if (body === undefined || !fragments.every((fragment) => body.includes(fragment))) return [];
    if (filter.firedRules !== null && !matches(filter, logRecord(body))) return [];
    return [{ id, timestamp, body, seq, missed }];
  });
}
