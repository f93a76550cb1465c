/**
 * The captcha stream of the log: one log per account, so that a search over all its sites is one
 * read. Appending merges events; searching filters by columns in the shards and by `where` in the
 * Worker; traffic comes from the rollups.
 */
import { everything } from '../verdict-log/filter.ts';
import type { RowFilter } from '../verdict-log/filter.ts';
import { countSeries } from '../verdict-log/log.ts';
import { captchaCountKey } from '../verdict-log/log-record.ts';
import { readPage } from '../verdict-log/read-page.ts';
import type { RowKey } from '../verdict-log/row.ts';
import { shard, shardNameOf } from '../verdict-log/shards.ts';
import type { LogName, ShardEnv } from '../verdict-log/shards.ts';
import { captchaRecordTypes, mergeCaptcha } from './captcha-record.ts';
import type { CaptchaEvent, CaptchaRecord, CaptchaRecordType } from './captcha-record.ts';

/** Usage is looked at by the month, and compared with the one before. */
const RETENTION_DAYS = 90;
/** Rows one search looks through for criteria that no column holds. */
const SEARCHED_ROWS_MAX = 10_000;
const PAGE_ROWS = 1000;
const MINUTE_MS = 60_000;

function captchaLog(accountId: string): LogName {
  return { stream: 'captcha', owner: accountId };
}

/** Idempotent, in any order. */
export async function appendCaptchas(env: ShardEnv, events: readonly CaptchaEvent[]): Promise<void> {
  const byShard = new Map<string, CaptchaEvent[]>();
  for (const event of events) {
    const row = { id: mergeCaptcha(null, event).id, jti: event.jti, timestamp: event.timestamp };
    const name = shardNameOf(env, captchaLog(event.account_id), row);
    byShard.set(name, [...(byShard.get(name) ?? []), event]);
  }
  await Promise.all(
    [...byShard].map(([name, members]) => shard(env, name).appendCaptchas(members, { retentionDays: RETENTION_DAYS })),
  );
}

export interface CaptchaQuery {
  /** Epoch milliseconds, `until` exclusive. */
  since: number;
  until: number;
  /** `null`: every site of the account. */
  siteKey: string | null;
  types: readonly CaptchaRecordType[] | null;
  ip?: string | null;
  /** What no column holds; absent: everything. */
  where?: (record: CaptchaRecord) => boolean;
}

export interface CaptchaPage {
  /** Newest first. */
  records: CaptchaRecord[];
  total: number;
  /** `false`: the search looked at its share of rows; the real total is higher, or equal. */
  totalIsExact: boolean;
  /** Where to go on, or `null` at the end. */
  next: RowKey | null;
}

export async function searchCaptchas(
  env: ShardEnv,
  accountId: string,
  query: CaptchaQuery,
  before: RowKey | null,
  limit: number,
): Promise<CaptchaPage> {
  const log = captchaLog(accountId);
  const filter = filterOf(query);
  const { where } = query;
  if (!where) {
    const page = await readPage(env, log, { filter, before, offset: 0, limit, wantTotal: true });
    return { ...page, records: page.rows.map(({ body }) => JSON.parse(body) as CaptchaRecord) };
  }
  // The total does not depend on the page, so counting starts at the newest row every time.
  const counted = await walk(env, log, filter, null, Infinity, where);
  const page = await walk(env, log, filter, before, limit, where);
  return {
    records: page.records,
    total: counted.records.length,
    totalIsExact: counted.next === null,
    next: page.next,
  };
}

/** Looks for `limit` records that fit; stops at its share of rows with the place where it stopped. */
async function walk(
  env: ShardEnv,
  log: LogName,
  filter: RowFilter,
  before: RowKey | null,
  limit: number,
  where: (record: CaptchaRecord) => boolean,
): Promise<{ records: CaptchaRecord[]; next: RowKey | null }> {
  const records: CaptchaRecord[] = [];
  let at = before;
  for (let searched = 0; searched < SEARCHED_ROWS_MAX; searched += PAGE_ROWS) {
    // oxlint-disable-next-line no-await-in-loop -- each page begins where the last one ended
    const page = await readPage(env, log, { filter, before: at, offset: 0, limit: PAGE_ROWS, wantTotal: false });
    for (const [index, { body, id, timestamp }] of page.rows.entries()) {
      const record = JSON.parse(body) as CaptchaRecord;
      if (!where(record)) continue;
      records.push(record);
      if (records.length < limit) continue;
      const isLast = page.next === null && index === page.rows.length - 1;
      return { records, next: isLast ? null : { timestamp, id } };
    }
    at = page.next;
    if (at === null) break;
  }
  return { records, next: at };
}

function filterOf(query: CaptchaQuery): RowFilter {
  return {
    ...everything,
    since: query.since,
    until: query.until,
    sources: query.types,
    path: query.siteKey === null ? null : { text: query.siteKey, prefix: false },
    ip: query.ip ?? null,
  };
}

/** One bucket of one site and type. Counts by what became of the captcha, and how many were verified. */
export interface CaptchaTraffic {
  /** Epoch milliseconds of the bucket's start. */
  timestamp: number;
  siteKey: string;
  type: CaptchaRecordType;
  approved: number;
  pending: number;
  disapproved: number;
  /** Of them all, those a backend asked about. */
  verified: number;
}

/** Exact, from the rollups; buckets that saw traffic, oldest first. Window and bucket in whole minutes. */
export async function countCaptchas(
  env: ShardEnv,
  accountId: string,
  siteKeys: readonly string[],
  window: { since: number; until: number; bucketMinutes: number },
): Promise<CaptchaTraffic[]> {
  const keys = siteKeys.flatMap((siteKey) =>
    captchaRecordTypes.flatMap((type) => [true, false].map((verified) => ({ siteKey, type, verified }))),
  );
  const { series } = await countSeries(
    env,
    captchaLog(accountId),
    'enforcement_policy',
    keys.map(({ siteKey, type, verified }) => captchaCountKey(siteKey, type, verified)),
    { from: Math.floor(window.since / MINUTE_MS), to: Math.ceil(window.until / MINUTE_MS), outcomes: null },
    window.bucketMinutes,
  );
  const rows = new Map<string, CaptchaTraffic>();
  keys.forEach(({ siteKey, type, verified }, index) => {
    for (const [minute, approved, pending, disapproved] of series[index] ?? []) {
      const key = `${minute} ${siteKey} ${type}`;
      const row = rows.get(key) ?? {
        timestamp: minute * MINUTE_MS,
        siteKey,
        type,
        approved: 0,
        pending: 0,
        disapproved: 0,
        verified: 0,
      };
      row.approved += approved;
      row.pending += pending;
      row.disapproved += disapproved;
      if (verified) row.verified += approved + pending + disapproved;
      rows.set(key, row);
    }
  });
  return [...rows.values()].sort((a, b) => a.timestamp - b.timestamp);
}

export interface LiveTraffic {
  /** Buckets that saw traffic, oldest first. */
  points: { timestamp: number; count: number }[];
  uniqueIps: number;
  topIps: { ip: string; count: number; country: string | null; asn: number | null; categories: readonly string[] }[];
  /** `false`: more captchas than are looked at; the newest were counted. */
  isExact: boolean;
}

const LIVE_ROWS_MAX = 100_000;
const LIVE_PAGE_ROWS = 5000;

/** What one site saw lately, by the captcha. Times in epoch milliseconds. */
export async function liveCaptchas(
  env: ShardEnv,
  accountId: string,
  siteKey: string,
  window: { since: number; until: number; bucketMs: number; topIps: number },
): Promise<LiveTraffic> {
  const filter = filterOf({ since: window.since, until: window.until, siteKey, types: null });
  const buckets = new Map<number, number>();
  const addresses = new Map<string, LiveTraffic['topIps'][number]>();
  let before: RowKey | null = null;
  let seen = 0;
  do {
    const request = { filter, before, offset: 0, limit: LIVE_PAGE_ROWS, wantTotal: false };
    // oxlint-disable-next-line no-await-in-loop -- each page begins where the last one ended
    const page: Awaited<ReturnType<typeof readPage>> = await readPage(env, captchaLog(accountId), request);
    for (const { body } of page.rows) {
      const record = JSON.parse(body) as CaptchaRecord;
      const bucket = Math.floor(record.timestamp / window.bucketMs) * window.bucketMs;
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
      if (record.ip === null) continue;
      const { ip, country, asn, ip_category: categories } = record;
      const known = addresses.get(ip);
      if (known) known.count++;
      else addresses.set(ip, { ip, count: 1, country, asn, categories });
    }
    seen += page.rows.length;
    before = page.next;
  } while (before !== null && seen < LIVE_ROWS_MAX);
  return {
    points: [...buckets].map(([timestamp, count]) => ({ timestamp, count })).sort((a, b) => a.timestamp - b.timestamp),
    uniqueIps: addresses.size,
    topIps: [...addresses.values()].sort((a, b) => b.count - a.count || (a.ip < b.ip ? -1 : 1)).slice(0, window.topIps),
    isExact: before === null,
  };
}
