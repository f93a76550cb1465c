/**
 * Live counts of one site: captchas per bucket and per address. The shard counts them from the columns in memory and
 * from those of the few runs that overlap the window; it builds no row.
 */
import type { LiveCounts, LiveWindow } from '../shard-rpc.ts';
import type { HotRows } from './hot-rows.ts';
import { eachPlaces, keysOf, timesOf } from '../columns/captcha-column-reader.ts';
import type { CaptchaField } from '../captcha-fields.ts';
import { fieldTests } from '../columns/captcha-field-test.ts';
import type { CaptchaCondition } from '../captcha-condition.ts';
import { runsBetween } from './captcha-runs.ts';
import { foundRuns, markRows, plannedSearch } from './captcha-scan-runs.ts';
import type { FoundRun } from './captcha-scan-runs.ts';

/** 500,000 rows: one hour at 140 captchas a second. */
const RUNS_MAX = 50;

/** One shard's counts, in one synchronous step. */
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
