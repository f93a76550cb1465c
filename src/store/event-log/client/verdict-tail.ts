/**
 * The live tail over every shard of a log. Each shard has its own order of storing, so a reader's position is one number
 * per shard. What several shards stored is merged by time, and each shard's own order is kept.
 */
import type { RowFilter } from '../row-filter.ts';
import type { StoredRow } from '../log-row.ts';
import type { ShardTail, TailRow } from '../shard-rpc.ts';
import { allShardNames, type LogName, shard, type ShardEnv } from './shards.ts';

/** `epoch:shard` → number of the last row that was told. */
export type TailPosition = ReadonlyMap<string, number>;

export interface TailRead {
  filter: RowFilter;
  /** `null`: start with the newest rows. */
  after: TailPosition | null;
  limit: number;
}

export interface TailPage {
  /** In the order of storing. */
  rows: StoredRow[];
  position: TailPosition;
  /** Rows since `after` that were sealed or erased before they could be told, whether they match or not. */
  missed: number;
  /** There are rows after `position` already. */
  more: boolean;
}

export async function readTail(env: ShardEnv, log: LogName, { filter, after, limit }: TailRead): Promise<TailPage> {
  // Every shard, whatever the filter: the position must stay valid when a reader changes the filter.
  const names = allShardNames(env, log);
  const shards = names.map((name) => name.slice(`${log.stream}/${log.owner}:`.length));
  const tails = await Promise.all(
    names.map((name, index) =>
      // A shard that the position does not know was added since: everything in it is new.
      shard(env, name).tailRows({ filter, after: after && (after.get(shards[index] as string) ?? 0), limit }),
    ),
  );
  if (after === null) {
    return {
      rows: mergeByTime(tails.map(({ rows }) => rows)).slice(-limit),
      position: new Map(shards.map((name, index) => [name, (tails[index] as ShardTail).through])),
      missed: 0,
      more: false,
    };
  }
  const rows = mergeByTime(tails.map((tail) => tail.rows)).slice(0, limit);
  const told = new Set(rows);
  const ends = tails.map((tail, index) => endOf(tail, told, after.get(shards[index] as string) ?? 0));
  return {
    rows,
    position: new Map(shards.map((name, index) => [name, (ends[index] as ShardTail).through])),
    missed: ends.reduce((sum, end) => sum + end.missed, 0),
    more: ends.some((end) => end.more),
  };
}

/** Where a shard's part of the page ends. */
function endOf(tail: ShardTail, told: ReadonlySet<TailRow>, after: number): Omit<ShardTail, 'rows'> {
  const first = tail.rows.findIndex((row) => !told.has(row));
  if (first < 0) return tail;
  const last = tail.rows[first - 1];
  return last ? { through: last.seq, missed: last.missed, more: true } : { through: after, missed: 0, more: true };
}

/** Takes the oldest of the next rows each time, so that no list changes its own order. */
function mergeByTime(lists: readonly TailRow[][]): TailRow[] {
  if (lists.length === 1) return lists[0] as TailRow[];
  const next = lists.map(() => 0);
  const merged: TailRow[] = [];
  for (;;) {
    let oldest = -1;
    let row: TailRow | undefined;
    for (const [index, list] of lists.entries()) {
      const head = list[next[index] as number];
      if (head && (!row || head.timestamp < row.timestamp)) {
        oldest = index;
        row = head;
      }
    }
    if (!row) return merged;
    merged.push(row);
    next[oldest] = (next[oldest] as number) + 1;
  }
}
