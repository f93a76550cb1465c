/**
 * What one site sees right now: captchas per bucket, and per address. Counted in the shard, from the columns in memory
 * and those of the few runs that reach into the window; no row is put together for it.
 */
import type { HotRows } from './hot-rows.ts';
import { shard, shardNames } from '../client/shards.ts';
import type { LogName, ShardEnv } from '../client/shards.ts';
import { eachPlaces, keysOf, timesOf } from '../columns/captcha-column-reader.ts';
import type { CaptchaField } from '../columns/captcha-column.ts';
import { fieldTests } from '../columns/captcha-field-test.ts';
import type { CaptchaCondition } from '../columns/captcha-field-test.ts';
import { runsBetween } from './captcha-runs.ts';
import { foundRuns, markRows, plannedSearch } from './captcha-scan-runs.ts';
import type { FoundRun } from './captcha-scan-runs.ts';

/** 500,000 rows: an hour of 140 a second. */
const RUNS_MAX = 50;

export interface LiveWindow {
  /** Epoch milliseconds, `until` exclusive. */
  since: number;
  until: number;
  bucketMs: number;
}

export interface LiveAddress {
  ip: string;
  count: number;
  /** When it was last seen; what follows is of that time. */
  seenAt: number;
  country: string | null;
  asn: number | null;
  categories: readonly string[];
}

export interface LiveCounts {
  /** Start of the bucket in epoch milliseconds → captchas. */
  buckets: Map<number, number>;
  addresses: Map<string, LiveAddress>;
  /** `false`: more captchas than are looked at; the newest were counted. */
  isExact: boolean;
}

/** One shard's share, in one synchronous step. */
export function liveCounts(sql: SqlStorage, hot: HotRows, siteKey: string, window: LiveWindow): LiveCounts {
  const { since, until } = window;
  const ofSite: CaptchaCondition = { field: 'site_key', is: siteKey };
  const counts: LiveCounts = { buckets: new Map(), addresses: new Map(), isExact: true };
  hot.captchaColumns().each(fieldTests(ofSite), since, until, ({ timestamp }, textOf) => {
    add(counts, window, timestamp, textOf);
  });
  const runs = runsBetween(sql, since, until, RUNS_MAX + 1);
  counts.isExact = runs.length <= RUNS_MAX;
  const scan = { since, until, before: null, limit: 0, counts: false };
  for (const found of foundRuns(sql, runs.slice(0, RUNS_MAX), plannedSearch([ofSite]), scan)) {
    addRun(sql, counts, window, found);
  }
  return counts;
}

const shownFields = ['ip', 'country', 'asn', 'ip_category'] as const satisfies readonly CaptchaField[];

function addRun(sql: SqlStorage, counts: LiveCounts, window: LiveWindow, found: FoundRun): void {
  const { run, start, end } = found;
  markRows(sql, [found]);
  const columns = new Map<CaptchaField, { texts: readonly string[]; places: Uint8Array | Uint16Array }>();
  for (const field of shownFields) {
    const { texts } = keysOf(sql, field, run);
    eachPlaces(sql, field, [run], (_, places) => columns.set(field, { texts, places }));
  }
  const times = timesOf(sql, run);
  for (let row = start; row < end; row += 1) {
    if (found.marked?.[row] !== 1) continue;
    add(counts, window, times[row] as number, (field) => {
      const column = columns.get(field);
      return column?.texts[column.places[row] as number] ?? 'null';
    });
  }
}

function add(
  { buckets, addresses }: LiveCounts,
  { bucketMs }: LiveWindow,
  timestamp: number,
  textOf: (field: CaptchaField) => string,
): void {
  const bucket = Math.floor(timestamp / bucketMs) * bucketMs;
  buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
  const ip = JSON.parse(textOf('ip')) as string | null;
  if (ip === null) return;
  const known = addresses.get(ip);
  if (known && known.seenAt >= timestamp) {
    known.count += 1;
    return;
  }
  addresses.set(ip, {
    ip,
    count: (known?.count ?? 0) + 1,
    seenAt: timestamp,
    country: JSON.parse(textOf('country')) as string | null,
    asn: JSON.parse(textOf('asn')) as number | null,
    categories: JSON.parse(textOf('ip_category')) as string[],
  });
}

/** All shards together. */
export async function countLive(env: ShardEnv, log: LogName, siteKey: string, window: LiveWindow): Promise<LiveCounts> {
  const names = shardNames(env, log, window, null);
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
