/**
 * The log for the rest of the service: count, erase (`append-verdicts.ts` appends). Every function calls the shards
 * that `shards.ts` names and merges their results.
 */
import type { StoredDimension } from '../count-dimensions.ts';
import type {
  IsolateGap,
  LargestValues,
  Point,
  ShardRoom,
  ValueCounts,
  ValueSeries,
  ValueTotal,
} from '../shard-rpc.ts';
import { allShardNames, counterShardName, type LogName, shard, type ShardEnv, shardNames } from './shards.ts';

/** More values than one shard holds for a day. Values are cut to 256 characters. */
const VALUES_PER_SHARD_MAX = 100_000;

/** The log of an instance's verdicts. */
export function verdictLogOf(instance: { id: string }): LogName {
  return { stream: 'verdicts', owner: instance.id };
}

/** Adds counters to the log's sums, once per batch id. */
export async function appendCounters(
  env: ShardEnv,
  log: LogName,
  batchId: string,
  counters: Readonly<Record<string, number>>,
): Promise<void> {
  if (Object.keys(counters).length === 0) return;
  await shard(env, counterShardName(log)).count(batchId, { ...counters });
}

/** How many calls `edgeTotals` makes. */
export function shardCount(env: ShardEnv): number {
  return allShardNames(env, verdictLogOf({ id: '' })).length;
}

export interface EdgeTotals {
  counters: Record<string, number>;
  /** How many records isolates numbered that the log does not hold: lost, dropped, refused or on their way. */
  missing: number;
  /** Of each shard. */
  rooms: ShardRoom[];
}

/** An isolate that holds records sends them within a second. After a minute it has been stopped with them. */
const SILENT_MS = 60_000;

/** Verdicts are counted in the shard that stores them; what edges counted is in one of the shards. */
export async function edgeTotals(env: ShardEnv, log: LogName, nowMs: number): Promise<EdgeTotals> {
  const names = allShardNames(env, log);
  const sums = await Promise.all(names.map((name) => shard(env, name).edgeSums()));
  const counters = new Map<string, number>();
  const isolates = new Map<string, IsolateGap>();
  for (const sum of sums) {
    for (const [name, value] of Object.entries(sum.counters)) counters.set(name, (counters.get(name) ?? 0) + value);
    for (const gap of sum.gaps) {
      const known = isolates.get(gap.isolate);
      if (known) {
        known.numbered = Math.max(known.numbered, gap.numbered);
        known.announced = Math.max(known.announced, gap.announced);
        known.heardAt = Math.max(known.heardAt, gap.heardAt);
        known.stored += gap.stored;
      } else isolates.set(gap.isolate, { ...gap });
    }
  }
  const missing = [...isolates.values()].reduce((sum, gap) => sum + missingOf(gap, nowMs), 0);
  return { counters: Object.fromEntries(counters), missing, rooms: sums.map(({ room }) => room) };
}

/** What an isolate only announced is on its way while the isolate still sends. */
function missingOf({ numbered, announced, stored, heardAt }: IsolateGap, nowMs: number): number {
  const given = nowMs - heardAt > SILENT_MS ? announced : numbered;
  return Math.max(given - stored, 0);
}

export interface CountWindow {
  /** Minutes since the epoch, `to` exclusive. */
  from: number;
  to: number;
  outcomes: number[] | null;
  /** Counts visitors only. Calls that were recorded before the log counted the gate's own apart stay in. */
  excludeInternal?: boolean;
}

/** Values of a dimension with exact counts, largest first. */
export async function countValues(
  env: ShardEnv,
  log: LogName,
  dimension: StoredDimension,
  window: CountWindow,
  limit: number,
): Promise<LargestValues> {
  const names = namesOf(env, log, window);
  // The largest values are known only once every shard has returned all its values.
  const perShard = names.length === 1 ? limit : VALUES_PER_SHARD_MAX;
  const results = await Promise.all(
    names.map((name) =>
      shard(env, name).values(dimension, window.from, window.to, window.outcomes, perShard, window.excludeInternal),
    ),
  );
  if (results.length === 1) return results[0] as LargestValues;
  const sums = new Map<string | null, ValueCounts>();
  for (const { value, counts } of results.flatMap(({ values }) => values)) {
    const known = sums.get(value);
    if (known) counts.forEach((count, outcome) => (known.counts[outcome as 0 | 1 | 2] += count));
    else sums.set(value, { value, counts: [...counts] });
  }
  const sorted = [...sums.values()].sort(
    (a, b) => totalOf(b) - totalOf(a) || ((a.value ?? '') < (b.value ?? '') ? -1 : 1),
  );
  const lumped = results.some((result) => result.lumped);
  return { values: sorted.slice(0, limit), more: Math.max(sorted.length - limit, 0), lumped };
}

/** The count of each of `values` in requests of visitors, and its newest minute. `null`: of the values that are not counted separately. */
export async function countTotals(
  env: ShardEnv,
  log: LogName,
  dimension: StoredDimension,
  values: (string | null)[],
  window: Omit<CountWindow, 'outcomes'>,
): Promise<ValueTotal[]> {
  const results = await Promise.all(
    namesOf(env, log, window).map((name) => shard(env, name).totals(dimension, values, window.from, window.to)),
  );
  return values.map((_, index) => {
    const total: ValueTotal = { counts: [0, 0, 0], lastMinute: null };
    for (const result of results) {
      const { counts, lastMinute } = result[index] as ValueTotal;
      counts.forEach((count, outcome) => (total.counts[outcome as 0 | 1 | 2] += count));
      if (lastMinute !== null) total.lastMinute = Math.max(total.lastMinute ?? lastMinute, lastMinute);
    }
    return total;
  });
}

/** Counts per bucket for each of `values`, and for all others together. */
export async function countSeries(
  env: ShardEnv,
  log: LogName,
  dimension: StoredDimension,
  values: (string | null)[],
  window: CountWindow,
  bucketMinutes: number,
): Promise<ValueSeries> {
  const results = await Promise.all(
    namesOf(env, log, window).map((name) =>
      shard(env, name).series(
        dimension,
        values,
        window.from,
        window.to,
        bucketMinutes,
        window.outcomes,
        window.excludeInternal,
      ),
    ),
  );
  return {
    series: values.map((_, index) => mergePoints(results.map(({ series }) => series[index] ?? []))),
    other: mergePoints(results.map(({ other }) => other)),
  };
}

/** Erases one session in every shard; returns how many rows it had. */
export async function eraseSession(env: ShardEnv, log: LogName, jti: string): Promise<number> {
  const erased = await Promise.all(allShardNames(env, log).map((name) => shard(env, name).erase(jti)));
  return erased.reduce((sum, rows) => sum + rows, 0);
}

/** Erases the whole log a minute after `nowMs`; idempotent. */
export async function retireLog(env: ShardEnv, log: LogName, nowMs: number): Promise<void> {
  await Promise.all(allShardNames(env, log).map((name) => shard(env, name).retire(nowMs)));
}

function totalOf({ counts }: ValueCounts): number {
  return counts[0] + counts[1] + counts[2];
}

function namesOf(env: ShardEnv, log: LogName, { from, to }: Omit<CountWindow, 'outcomes'>): string[] {
  return shardNames(env, log, { since: from * 60_000, until: to * 60_000 });
}

function mergePoints(series: readonly Point[][]): Point[] {
  if (series.length === 1) return series[0] as Point[];
  const sums = new Map<number, Point>();
  for (const point of series.flat()) {
    const known = sums.get(point[0]);
    if (known) for (const at of [1, 2, 3] as const) known[at] += point[at];
    else sums.set(point[0], [...point]);
  }
  return [...sums.values()].sort((a, b) => a[0] - b[0]);
}
