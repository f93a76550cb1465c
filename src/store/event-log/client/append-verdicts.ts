/**
 * Appends verdicts, or reports of pages, to their log. Isolate and number are the identity of a record: a shard stores
 * a batch whose numbers are all new, and names those that it knows of another, so that the rest is sent again without
 * them.
 */
import type { BatchRange } from '../../../contract/edge/verdict-batch.ts';
import type { NumberedRow } from '../log-row.ts';
import { countOf, overlapOf, type NumberRange } from '../number-ranges.ts';
import type { PackedBatch } from '../packed-batch.ts';
import type { AppendCounts } from '../shard-rpc.ts';
import { packBatch } from './pack-batch.ts';
import { shard, shardNameOf, type LogName, type ShardEnv } from './shards.ts';

/** Each further round means that another sender stored some of the rest in the meantime. */
const ROUNDS_MAX = 8;

export interface Arrival {
  /** Of the instance. */
  retentionDays: number;
  /** When the batch reached the service; epoch milliseconds. */
  nowMs: number;
  /** What the batch says of itself; `null`: nothing. */
  range?: BatchRange | null;
  /** Counted once, with the first record of the batch that is stored. */
  counters?: Readonly<Record<string, number>>;
}

/** Rows of one isolate for one shard. */
interface Share {
  shardName: string;
  isolate: string;
  rows: Map<number, NumberedRow>;
}

/** Idempotent by isolate and number. A batch is one call to one shard, unless an epoch of shards begins within it. */
export async function appendRows(
  env: ShardEnv,
  log: LogName,
  rows: readonly NumberedRow[],
  arrival: Arrival,
): Promise<AppendCounts> {
  const sum: AppendCounts = { accepted: 0, duplicates: 0, conflicting: 0 };
  const shares = sharesOf(env, log, rows, sum);
  const counts = await Promise.all(
    shares.map((share, index) => appendShare(env, share, arrival, index === 0 ? (arrival.counters ?? {}) : {})),
  );
  for (const part of counts) {
    sum.accepted += part.accepted;
    sum.duplicates += part.duplicates;
    sum.conflicting += part.conflicting;
  }
  return sum;
}

/** A number that repeats within the batch is counted in `sum` at once: its first record is the one that is sent. */
function sharesOf(env: ShardEnv, log: LogName, rows: readonly NumberedRow[], sum: AppendCounts): Share[] {
  const shares = new Map<string, Share>();
  for (const row of rows) {
    const { isolate, seq } = row.record.edge;
    const shardName = shardNameOf(env, log, isolate, row.record.timestamp);
    const key = `${shardName} ${isolate}`;
    let share = shares.get(key);
    if (share === undefined) {
      share = { shardName, isolate, rows: new Map() };
      shares.set(key, share);
    }
    const known = share.rows.get(seq);
    if (known === undefined) share.rows.set(seq, row);
    else {
      sum.duplicates++;
      if (known.body !== row.body) sum.conflicting++;
    }
  }
  return [...shares.values()];
}

async function appendShare(
  env: ShardEnv,
  { shardName, isolate, rows }: Share,
  { retentionDays, nowMs, range }: Arrival,
  counters: Readonly<Record<string, number>>,
): Promise<AppendCounts> {
  const sum: AppendCounts = { accepted: 0, duplicates: 0, conflicting: 0 };
  const sorted = [...rows].sort(([one], [other]) => one - other);
  const said = range?.isolate === isolate ? range : null;
  const numbered = Math.max(said?.lastSeq ?? 0, sorted.at(-1)?.[0] ?? 0) + 1;
  const announced = Math.max(numbered, said ? said.lastSeq + 1 + said.held : 0);
  const sender = { isolate, numbered, announced, heardAt: nowMs };
  let rest = sorted.map(([, row]) => row);
  let uncounted = counters;
  for (let round = 0; rest.length > 0; round++) {
    if (round === ROUNDS_MAX) throw new Error(`${shardName} came to know other records in each of ${round} rounds`);
    const batches = packBatch(sender, rest, uncounted);
    const answers = await shard(env, shardName).append(batches, { retentionDays });
    const known: NumberRange[] = answers.flatMap((answer) => answer.known);
    const refused = new Set(batches.filter((_, index) => (answers[index]?.known.length ?? 0) > 0));
    for (const batch of batches) if (!refused.has(batch)) sum.accepted += batch.hashes.length;
    if (!refused.has(batches[0] as PackedBatch)) uncounted = {};
    sum.duplicates += countOf(known);
    sum.conflicting += answers.reduce((total, { conflicting }) => total + conflicting, 0);
    const refusedRanges = [...refused].flatMap(({ ranges }) => ranges);
    rest = rest.filter(({ record: { edge } }) => isWithin(refusedRanges, edge.seq) && !isWithin(known, edge.seq));
  }
  return sum;
}

function isWithin(ranges: readonly NumberRange[], seq: number): boolean {
  return overlapOf(ranges, [seq, seq]).length > 0;
}
