/** Captcha traffic of an account: asks every shard for its counts and adds them up. */
import type { CaptchaRecordType } from '../captcha-record.ts';
import { captchaTrafficGroups } from '../captcha-traffic-groups.ts';
import { type LogName, shard, type ShardEnv, shardNames } from './shards.ts';

const MINUTE_MS = 60_000;

/** One bucket of one captcha type: counts by outcome, and how many were verified. */
export interface CaptchaTraffic {
  /** Epoch milliseconds of the bucket's start. */
  timestamp: number;
  type: CaptchaRecordType;
  approved: number;
  pending: number;
  disapproved: number;
  /** How many of them a backend verified. */
  verified: number;
}

/** Exact. Buckets with traffic, oldest first. Window and bucket are whole minutes. */
export async function countTraffic(
  env: ShardEnv,
  log: LogName,
  siteKeys: readonly string[] | null,
  window: { since: number; until: number; bucketMinutes: number },
): Promise<CaptchaTraffic[]> {
  const { since, until, bucketMinutes } = window;
  const minutes = { from: Math.floor(since / MINUTE_MS), to: Math.ceil(until / MINUTE_MS), bucketMinutes };
  const results = await Promise.all(
    shardNames(env, log, window).map((name) => shard(env, name).captchaTraffic(siteKeys, minutes)),
  );
  const rows = new Map<string, CaptchaTraffic>();
  for (const result of results) {
    for (const [group, { type, verified }] of captchaTrafficGroups.entries()) {
      for (const [minute, approved, pending, disapproved] of result[group] ?? []) {
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
