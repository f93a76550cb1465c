/**
 * Counts of captchas: the live ones of one site, per bucket and per address, from unsealed captchas and from the columns of
 * the few segments that overlap the window; and the traffic of some or all sites, from the rollups.
 */
import type { CaptchaCondition } from '../captcha-condition.ts';
import type { CaptchaField } from '../captcha-fields.ts';
import { captchaSearch, fieldTests, fieldText, passesAny } from '../columns/captcha-columns.ts';
import { timesOf } from '../columns/segment-columns.ts';
import { SegmentSearcher, type SealedSegment } from '../columns/segment-search.ts';
import type { LiveCounts, LiveWindow, Point, TrafficWindow } from '../shard-rpc.ts';
import { CaptchaColumn, searchedSince } from './captcha-segments.ts';
import type { HotRows } from './hot-rows.ts';
import { segmentsBetween } from './segments.ts';
import { captchaCountKey, captchaTrafficGroups } from '../captcha-record.ts';
import type { RollupReader } from './rollup-reader.ts';

/** 500,000 rows: one hour at 140 captchas a second. */
const SEGMENTS_MAX = 50;

/** One shard's counts, in one synchronous step. */
export function liveCounts(sql: SqlStorage, hot: HotRows, siteKey: string, window: LiveWindow): LiveCounts {
  const { since, until } = window;
  const ofSite: CaptchaCondition = { field: 'site_key', is: siteKey };
  const counts: LiveCounts = { buckets: new Map(), addresses: new Map(), isExact: true };
  const tests = fieldTests(ofSite);
  for (const { timestamp, body } of hot.captchas.between(since, until)) {
    if (!passesAny(tests, body)) continue;
    add(counts, window, timestamp, (field) => fieldText(body, field));
  }
  const segments = segmentsBetween(sql, {
    since: Math.max(since, searchedSince(sql)),
    until,
    after: null,
    last: Number.MAX_SAFE_INTEGER,
    limit: SEGMENTS_MAX + 1,
  });
  counts.isExact = segments.length <= SEGMENTS_MAX;
  const searcher = new SegmentSearcher(sql, captchaSearch([ofSite], window), segments.slice(0, SEGMENTS_MAX));
  searcher.test(searcher.found);
  for (const found of searcher.found) addSegment(sql, counts, window, found.segment, searcher.rows(found));
  return counts;
}

const shownFields = ['ip', 'country', 'asn', 'ip_category'] as const satisfies readonly CaptchaField[];

function addSegment(
  sql: SqlStorage,
  counts: LiveCounts,
  window: LiveWindow,
  segment: SealedSegment,
  rows: Uint16Array,
): void {
  const columns = new Map<CaptchaField, CaptchaColumn>(
    shownFields.map((field) => [field, new CaptchaColumn(sql, segment, field)]),
  );
  const times = timesOf(sql, segment.no);
  for (const row of rows) {
    add(counts, window, times[row] as number, (field) => columns.get(field)?.textOf(row) ?? 'null');
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

/** By the end of the key that a captcha is counted under. */
const groupByEnd: ReadonlyMap<string, number> = new Map(
  captchaTrafficGroups.map(({ type, verified }, group) => [captchaCountKey('', type, verified), group]),
);

/**
 * Outcomes of the captchas of these sites by type, in the order of `captchaTrafficGroups`. `siteKeys`: `null` means all
 * sites of the account. The shard adds up its sites, so that the response is as small for a thousand sites as for one.
 */
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
