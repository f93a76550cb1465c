/**
 * The captcha stream of the log. Each account has one log, so that a search over all its sites is one read. Appending
 * merges events. A search reads unsealed rows and the columns of sealed ones. Traffic comes from the rollups.
 */
import type { RowKey } from '../log-row.ts';
import { shard, shardNameOf, shardNames, type LogName, type ShardEnv } from './shards.ts';
import {
  type CaptchaEvent,
  type CaptchaRecord,
  type CaptchaRecordType,
  captchaTrafficGroups,
} from '../captcha-record.ts';
import type { CaptchaCondition } from '../captcha-condition.ts';
import type { LiveAddress, LiveCounts, LiveWindow } from '../shard-rpc.ts';
import { scanShards } from './captcha-search.ts';

/** Enough to compare one month with the month before. */
export const CAPTCHA_RETENTION_DAYS = 90;

const MINUTE_MS = 60_000;

export function captchaLog(accountId: string): LogName {
  return { stream: 'captcha', owner: accountId };
}

/** Idempotent, in any order. */
export async function appendCaptchas(env: ShardEnv, events: readonly CaptchaEvent[]): Promise<void> {
  const byShard = new Map<string, CaptchaEvent[]>();
  for (const event of events) {
    const name = shardNameOf(env, captchaLog(event.account_id), event.jti, event.timestamp);
    byShard.set(name, [...(byShard.get(name) ?? []), event]);
  }
  await Promise.all(
    [...byShard].map(([name, members]) =>
      shard(env, name).appendCaptchas(members, { retentionDays: CAPTCHA_RETENTION_DAYS }),
    ),
  );
}

export interface CaptchaQuery {
  /** Epoch milliseconds, `until` exclusive. */
  since: number;
  until: number;
  /** `null`: every site of the account. */
  siteKey: string | null;
  /** `null`: every type. */
  type: CaptchaRecordType | null;
  /** A captcha must match all of them. */
  conditions: readonly CaptchaCondition[];
}

export interface CaptchaPage {
  /** Newest first. */
  records: CaptchaRecord[];
  total: number;
  /** `false`: the search reached its limit of rows, and the real total may be higher. */
  totalIsExact: boolean;
  /** Where the next page starts, or `null` at the end. */
  next: RowKey | null;
}

/** Looks back 31 days. Older captchas are kept and counted, but not searched. */
export async function searchCaptchas(
  env: ShardEnv,
  accountId: string,
  query: CaptchaQuery,
  before: RowKey | null,
  limit: number,
): Promise<CaptchaPage> {
  const log = captchaLog(accountId);
  const conditions = [
    ...(query.siteKey === null ? [] : [{ field: 'site_key' as const, is: query.siteKey }]),
    ...(query.type === null ? [] : [{ field: 'captcha_type' as const, is: query.type }]),
    ...query.conditions,
  ];
  const names = shardNames(env, log, query);
  const { rows, ...page } = await scanShards(env, names, { ...query, conditions }, before, limit);
  return { ...page, records: rows.map(({ body }) => JSON.parse(body) as CaptchaRecord) };
}

export interface LiveTraffic {
  /** Buckets with traffic, oldest first. */
  points: { timestamp: number; count: number }[];
  uniqueIps: number;
  /** Most captchas first. */
  topIps: LiveAddress[];
  /** `false`: there are more captchas than the limit; only the newest are counted. */
  isExact: boolean;
}

/** Recent captchas of one site, exact to the captcha. Times are epoch milliseconds. */
export async function liveCaptchas(
  env: ShardEnv,
  accountId: string,
  siteKey: string,
  window: LiveWindow & { topIps: number },
): Promise<LiveTraffic> {
  const { since, until, bucketMs } = window;
  const { buckets, addresses, isExact } = await countLive(env, accountId, siteKey, { since, until, bucketMs });
  return {
    points: [...buckets].map(([timestamp, count]) => ({ timestamp, count })).sort((a, b) => a.timestamp - b.timestamp),
    uniqueIps: addresses.size,
    topIps: [...addresses.values()].sort((a, b) => b.count - a.count || (a.ip < b.ip ? -1 : 1)).slice(0, window.topIps),
    isExact,
  };
}

async function countLive(env: ShardEnv, accountId: string, siteKey: string, window: LiveWindow): Promise<LiveCounts> {
  const names = shardNames(env, captchaLog(accountId), window);
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

/**
 * Captchas of these sites, or with `null` of all sites. Exact. Buckets with traffic, oldest first. Window and bucket are
 * whole minutes.
 */
export async function countCaptchas(
  env: ShardEnv,
  accountId: string,
  siteKeys: readonly string[] | null,
  window: { since: number; until: number; bucketMinutes: number },
): Promise<CaptchaTraffic[]> {
  const { since, until, bucketMinutes } = window;
  const minutes = { from: Math.floor(since / MINUTE_MS), to: Math.ceil(until / MINUTE_MS), bucketMinutes };
  const results = await Promise.all(
    shardNames(env, captchaLog(accountId), window).map((name) => shard(env, name).captchaTraffic(siteKeys, minutes)),
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
