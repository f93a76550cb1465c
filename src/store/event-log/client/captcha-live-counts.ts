/** Live counts of one site: asks every shard for its counts and adds them up. */
import type { LiveCounts, LiveWindow } from '../shard-rpc.ts';
import { type LogName, shard, type ShardEnv, shardNames } from './shards.ts';

export async function countLive(env: ShardEnv, log: LogName, siteKey: string, window: LiveWindow): Promise<LiveCounts> {
  const names = shardNames(env, log, window);
  const [first, ...others] = await Promise.all(names.map((name) => shard(env, name).liveCaptchas(siteKey, window)));
  const sum = first ?? { buckets: new Map(), addresses: new Map(), isExact: true };
  for (const { buckets, addresses, isExact } of others) {
    sum.isExact &&= isExact;
    for (const [bucket, count] of buckets) sum.buckets.set(bucket, (sum.buckets.get(bucket) ?? 0) + count);
    for (const [ip, address] of addresses) {
      const known = sum.addresses.get(ip);
      const newer = known && known.seenAt >= address.seenAt ? known : address;
      sum.addresses.set(ip, { ...newer, count: address.count + (known?.count ?? 0) });
    }
  }
  return sum;
}
