/**
 * Which object holds which row (design 7). Shards are named `stream/owner:epoch:shard`; every row of
 * one session is in one of them. An epoch begins at a moment and fixes a number of shards, so that
 * growing the log moves no row: `VERDICT_SHARDS` is `1`, or `1,8@2027-01-01T00:00:00Z`.
 */
import { inJurisdiction } from '../../jurisdiction.ts';
import type { ShardRpc } from '../shard-rpc.ts';
import { textHash } from '../../text-hash.ts';

/** A read asks every shard of every epoch it touches; six connections serve this many in good time. */
const SHARDS_MAX = 256;

export interface ShardEnv {
  VERDICT_SHARD: DurableObjectNamespace;
  SEGMENTS: R2Bucket;
  JURISDICTION?: string;
  VERDICT_SHARDS?: string;
}

export type LogStream = 'verdicts' | 'captcha';

/** One log: a stream and who it belongs to (an instance, or a site). */
export interface LogName {
  stream: LogStream;
  owner: string;
}

interface Epoch {
  no: number;
  shards: number;
  /** Rows with this timestamp or a later one; epoch milliseconds. */
  startsAt: number;
}

/** The shard a row belongs to; the same at every retry, since it depends on the row alone. */
export function shardNameOf(
  env: ShardEnv,
  log: LogName,
  row: { id: string; jti: string | null; timestamp: number },
): string {
  const epoch = epochs(env).findLast(({ startsAt }) => startsAt <= row.timestamp) as Epoch;
  return shardName(log, epoch.no, textHash(row.jti ?? row.id) % epoch.shards);
}

/** Shards that may hold rows of this window; with a `jti`, one per epoch. */
export function shardNames(
  env: ShardEnv,
  log: LogName,
  window: { since: number; until: number },
  jti: string | null,
): string[] {
  const all = epochs(env);
  return all
    .filter(({ startsAt }, index) => startsAt < window.until && (all[index + 1]?.startsAt ?? Infinity) > window.since)
    .flatMap(({ no, shards }) =>
      jti === null
        ? Array.from({ length: shards }, (_, index) => shardName(log, no, index))
        : [shardName(log, no, textHash(jti) % shards)],
    );
}

/** Where a log's counters are summed: they belong to no row. */
export function counterShardName(log: LogName): string {
  return shardName(log, 0, 0);
}

export function shard(env: ShardEnv, name: string): ShardRpc {
  const pinned = inJurisdiction(env.VERDICT_SHARD, env.JURISDICTION);
  // The platform's stub type maps every nested array to a promise; these methods return plain data.
  return pinned.get(pinned.idFromName(name)) as unknown as ShardRpc;
}

function shardName(log: LogName, epoch: number, index: number): string {
  return `${log.stream}/${log.owner}:${epoch}:${index}`;
}

function epochs(env: ShardEnv): Epoch[] {
  return (env.VERDICT_SHARDS ?? '1').split(',').map((part, no) => {
    const [count, start] = part.trim().split('@');
    const shards = Number(count);
    const startsAt = no === 0 ? 0 : Date.parse(start ?? '');
    if (!Number.isInteger(shards) || shards < 1 || shards > SHARDS_MAX || Number.isNaN(startsAt)) {
      throw new Error(`VERDICT_SHARDS has an entry that cannot be read: ${part}`);
    }
    return { no, shards, startsAt };
  });
}
