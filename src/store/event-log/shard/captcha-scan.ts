/**
 * A shard's part of an audit search, in synchronous steps of bounded length: first all unsealed rows, then a number of
 * sealed segments, newest first. The Worker calls again for the next step. Between two steps the shard appends.
 */
import type { HotRows } from './hot-rows.ts';
import { compareNewestFirst } from '../log-row.ts';
import type { CaptchaScan, CaptchaScanStep, ScanPlace } from '../shard-rpc.ts';
import { indexRevision } from './segments.ts';
import { foundSegments, pageRows, plannedSearch } from './captcha-scan-segments.ts';
import { newestOf, segmentsBetween, type CaptchaSegment } from './captcha-segments.ts';
import { cheapestFirst, fieldTests, passesAny } from '../columns/captcha-field-test.ts';

/** Segments per step: 1,000,000 rows by one or two columns, or 40,000 rows by their text; both take about 20 ms. */
const STEP_SEGMENTS = 100;
const STEP_SEGMENTS_BY_TEXT = 4;

export function scanCaptchas(sql: SqlStorage, hot: HotRows, scan: CaptchaScan): CaptchaScanStep {
  const result: CaptchaScanStep = { rows: [], counted: 0, seen: 0, next: null, isStale: false };
  const revision = indexRevision(sql);
  if (scan.from && scan.from.revision !== revision) return { ...result, isStale: true };
  const place = scan.from ?? { after: null, lastSegment: lastSegment(sql), revision };
  if (scan.from === null) scanHot(hot, scan, result);
  const search = plannedSearch(scan.conditions);
  const step = search.any.length > 0 ? STEP_SEGMENTS_BY_TEXT : STEP_SEGMENTS;
  const segments = nextSegments(sql, scan, place, step + 1);
  for (const { rows } of segments.slice(0, step)) result.seen += rows;
  for (const found of foundSegments(sql, segments.slice(0, step), search, scan)) {
    if (scan.counts) result.counted += found.count;
    const oldestWanted = result.rows[scan.limit - 1];
    if (scan.limit === 0 || (oldestWanted && compareNewestFirst(oldestWanted, newestOf(found.segment)) < 0)) continue;
    result.rows = [...result.rows, ...pageRows(sql, found, result.rows, scan.limit)]
      .sort(compareNewestFirst)
      .slice(0, scan.limit);
  }
  const last = segments.length > step ? segments[step - 1] : undefined;
  if (last) result.next = { ...place, after: newestOf(last) };
  return result;
}

function lastSegment(sql: SqlStorage): number {
  return sql.exec<{ no: number }>("SELECT COALESCE(MAX(no), 0) AS no FROM segments WHERE state = 'sealed'").one().no;
}

function nextSegments(sql: SqlStorage, scan: CaptchaScan, place: ScanPlace, limit: number): CaptchaSegment[] {
  const { since, until, before } = scan;
  const end = scan.counts || before === null ? until : Math.min(until, before.timestamp + 1);
  return segmentsBetween(sql, { since, until: end, after: place.after, last: place.lastSegment, limit });
}

/** Adds the unsealed captchas to the result of the first step. Their bodies decide, and only those of the page are kept. */
function scanHot(hot: HotRows, scan: CaptchaScan, result: CaptchaScanStep): void {
  const { since, until, before, limit } = scan;
  const conditions = cheapestFirst(scan.conditions).map(fieldTests);
  for (const row of hot.captchas.between(since, until, true)) {
    result.seen += 1;
    if (!conditions.every((tests) => passesAny(tests, row.body))) continue;
    if (scan.counts) result.counted += 1;
    const isOlder = before === null || compareNewestFirst(before, row) < 0;
    if (isOlder && result.rows.length < limit) result.rows.push(row);
    else if (isOlder && !scan.counts) return;
  }
}
