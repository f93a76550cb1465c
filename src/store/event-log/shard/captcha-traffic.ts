/**
 * Captcha traffic, from the rollups: what became of the captchas of some or all sites of an account, by type. A shard
 * adds its sites up, so that an answer is as small for a thousand of them as for one.
 */
import { captchaCountKey } from '../log-record.ts';
import type { Point, RollupReader } from './rollup-reader.ts';
import { shard, shardNames } from '../client/shards.ts';
import type { LogName, ShardEnv } from '../client/shards.ts';
import { captchaRecordTypes } from '../captcha-record.ts';
import type { CaptchaRecordType } from '../captcha-record.ts';

const MINUTE_MS = 60_000;

/** One bucket of one type. Counts by what became of the captcha, and how many were verified. */
export interface CaptchaTraffic {
  /** Epoch milliseconds of the bucket's start. */
  timestamp: number;
  type: CaptchaRecordType;
  approved: number;
  pending: number;
  disapproved: number;
  /** Of them all, those a backend asked about. */
  verified: number;
}

/** Minutes since the epoch, `to` exclusive. */
export interface TrafficWindow {
  from: number;
  to: number;
  bucketMinutes: number;
}

const groups = captchaRecordTypes.flatMap((type) => [true, false].map((verified) => ({ type, verified })));
const groupByEnd: ReadonlyMap<string, number> = new Map(
  groups.map(({ type, verified }, group) => [captchaCountKey('', type, verified), group]),
);

/** One shard's counts, in the order of `groups`. `siteKeys`: `null` is all of the account. */
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
  return reader.groupedSeries('enforcement_policy', groupOf, groups.length, from, to, bucketMinutes);
}

/** Exact; buckets that saw traffic, oldest first. Window and bucket in whole minutes. */
export async function countTraffic(
  env: ShardEnv,
  log: LogName,
  siteKeys: readonly string[] | null,
  window: { since: number; until: number; bucketMinutes: number },
): Promise<CaptchaTraffic[]> {
  const { since, until, bucketMinutes } = window;
  const minutes = { from: Math.floor(since / MINUTE_MS), to: Math.ceil(until / MINUTE_MS), bucketMinutes };
  const answers = await Promise.all(
    shardNames(env, log, window, null).map((name) => shard(env, name).captchaTraffic(siteKeys, minutes)),
  );
  const rows = new Map<string, CaptchaTraffic>();
  for (const answer of answers) {
    for (const [group, { type, verified }] of groups.entries()) {
      for (const [minute, approved, pending, disapproved] of answer[group] ?? []) {
        const row = rowAt(rows, minute * MINUTE_MS, type);
        row.approved += approved;
        row.pending += pending;
        row.disapproved += disapproved;
        if (verified) row.verified += approved + pending + disapproved;
      }
    }
  }
  return [...rows.values()].sort((a, b) => a.timestamp - b.timestamp);
}

function rowAt(rows: Map<string, CaptchaTraffic>, timestamp: number, type: CaptchaRecordType): CaptchaTraffic {
  const key = `${timestamp} ${type}`;
  const known = rows.get(key);
  if (known) return known;
  const made = { timestamp, type, approved: 0, pending: 0, disapproved: 0, verified: 0 };
  rows.set(key, made);
  return made;
}
