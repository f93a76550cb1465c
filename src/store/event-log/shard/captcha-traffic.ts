/**
 * Captcha traffic from the rollups: outcomes of the captchas of some or all sites of an account, by type. The shard
 * adds up its sites, so that the response is as small for a thousand sites as for one.
 */
import { captchaCountKey, captchaTrafficGroups } from '../captcha-record.ts';
import type { Point, TrafficWindow } from '../shard-rpc.ts';
import type { RollupReader } from './rollup-reader.ts';

const groupByEnd: ReadonlyMap<string, number> = new Map(
  captchaTrafficGroups.map(({ type, verified }, group) => [captchaCountKey('', type, verified), group]),
);

/** One shard's counts, in the order of `captchaTrafficGroups`. `siteKeys`: `null` means all sites of the account. */
export function trafficSeries(
  reader: RollupReader,
  siteKeys: readonly string[] | null,
  { from, to, bucketMinutes }: TrafficWindow,
): Point[][] {
  const wanted = siteKeys && new Set(siteKeys);
  const groupOf = (key: string): number | null => {
    const end = key.indexOf(' ');
    if (wanted && !wanted.has(key.slice(0, end))) return null;
    return groupByEnd.get(key.slice(end)) ?? null;
  };
  return reader.groupedSeries('enforcement_policy', groupOf, captchaTrafficGroups.length, from, to, bucketMinutes);
}
