/**
 * The captcha stream of the log. Each account has one log, so that a search over all its sites is one read. Appending
 * merges events. A search reads unsealed rows and the columns of sealed ones. Traffic comes from the rollups.
 */
import type { RowKey } from '../log-row.ts';
import { type LogName, shard, type ShardEnv, shardNameOf, shardNames } from './shards.ts';
import type { CaptchaEvent, CaptchaRecord, CaptchaRecordType } from '../captcha-record.ts';
import type { CaptchaCondition } from '../captcha-condition.ts';
import { countLive } from './captcha-live-counts.ts';
import type { LiveAddress, LiveWindow } from '../shard-rpc.ts';
import { scanShards } from './captcha-search.ts';
import { type CaptchaTraffic, countTraffic } from './captcha-traffic.ts';

/** Enough to compare one month with the month before. */
export const CAPTCHA_RETENTION_DAYS = 90;

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

/** Captchas of these sites, or with `null` of all sites. */
export async function countCaptchas(
  env: ShardEnv,
  accountId: string,
  siteKeys: readonly string[] | null,
  window: { since: number; until: number; bucketMinutes: number },
): Promise<CaptchaTraffic[]> {
  return countTraffic(env, captchaLog(accountId), siteKeys, window);
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
  const { buckets, addresses, isExact } = await countLive(env, captchaLog(accountId), siteKey, {
    since,
    until,
    bucketMs,
  });
  return {
    points: [...buckets].map(([timestamp, count]) => ({ timestamp, count })).sort((a, b) => a.timestamp - b.timestamp),
    uniqueIps: addresses.size,
    topIps: [...addresses.values()].sort((a, b) => b.count - a.count || (a.ip < b.ip ? -1 : 1)).slice(0, window.topIps),
    isExact,
  };
}
