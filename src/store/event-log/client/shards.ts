/**
 * Which object holds which row. Shards are named `stream/owner:epoch:shard`. Verdicts of one isolate are in one shard,
 * so that a batch is one call; events of one captcha are in one shard, where they meet. An epoch starts at a given time
 * and fixes a number of shards, so that adding shards moves no row. `VERDICT_SHARDS` is `1`, or for example
 * `1,8@2027-01-01T00:00:00Z`.
 */
import { inJurisdiction } from '../../jurisdiction.ts';
import type { ShardRpc } from '../shard-rpc.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { textHash } from '../../text-hash.ts';

/** A read calls every shard of every epoch in its window, over six connections. */
const SHARDS_MAX = 256;

export interface ShardEnv {
  VERDICT_SHARD: DurableObjectNamespace;
  SEGMENTS: R2Bucket;
  JURISDICTION?: string;
  VERDICT_SHARDS?: string;
}

export type LogStream = 'verdicts' | 'captcha' | 'telemetry';

/** One log: its stream and its owner (an instance or an account). */
export interface LogName {
  stream: LogStream;
  owner: string;
}

export interface Epoch {
  no: number;
  shards: number;
  /** The epoch holds rows with this timestamp or a later one; epoch milliseconds. */
  startsAt: number;
}

/**
 * The shard of a row, by the isolate of a verdict or the jti of anything else. It depends on the row alone, so a retry
 * reaches the same shard.
 */
export function shardNameOf(env: ShardEnv, log: LogName, key: string, timestamp: number): string {
  const epoch = epochs(env).findLast(({ startsAt }) => startsAt <= timestamp) as Epoch;
  return shardName(log, epoch.no, textHash(key) % epoch.shards);
}

/** Shards that may hold rows of this window. */
export function shardNames(env: ShardEnv, log: LogName, window: { since: number; until: number }): string[] {
  const all = epochs(env);
  return all
    .filter(({ startsAt }, index) => startsAt < window.until && (all[index + 1]?.startsAt ?? Infinity) > window.since)
    .flatMap(({ no, shards }) => Array.from({ length: shards }, (_, index) => shardName(log, no, index)));
}

/** Every shard of a log. */
export function allShardNames(env: ShardEnv, log: LogName): string[] {
  return shardNames(env, log, { since: 0, until: Number.MAX_SAFE_INTEGER });
}

/** The shard that holds a log's counters, which belong to no row. */
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

/**
 * The epochs of `VERDICT_SHARDS`, or the mistake in it. The first epoch has no beginning; each further one begins after
 * the one before.
 */
export function shardEpochs(text: string): Result<Epoch[], string> {
  const read: Epoch[] = [];
  for (const part of text.split(',')) {
    const [count, start, rest] = part.trim().split('@');
    const shards = Number(count);
    const former = read.at(-1);
    const startsAt = former === undefined ? 0 : Date.parse(start ?? '');
    const isPlaced = former === undefined ? start === undefined : startsAt > former.startsAt;
    if (!Number.isInteger(shards) || shards < 1 || shards > SHARDS_MAX || !isPlaced || rest !== undefined) {
      return failed(`VERDICT_SHARDS has an entry that cannot be read: ${part}`);
    }
    read.push({ no: read.length, shards, startsAt });
  }
  return ok(read);
}

function epochs(env: ShardEnv): Epoch[] {
  const read = shardEpochs(env.VERDICT_SHARDS ?? '1');
  if (!read.ok) throw new Error(read.error);
  return read.value;
}
