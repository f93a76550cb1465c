/**
 * A shard's part of an audit search, in synchronous steps of bounded length: first all unsealed rows, then a number of
 * sealed segments, newest first. The Worker calls again for the next step. Between two steps the shard appends.
 */
import { captchaSearch, cheapestFirst, fieldTests, passesAny } from '../columns/captcha-columns.ts';
import { type FoundSegment, SegmentSearcher } from '../columns/segment-search.ts';
import { compareNewestFirst, newestOf, type RowKey, type StoredRow } from '../log-row.ts';
import type { CaptchaScan, CaptchaScanStep } from '../shard-rpc.ts';
import { CaptchaRows, rowsBefore, searchedSince } from './captcha-segments.ts';
import type { HotRows } from './hot-rows.ts';
import { indexRevision, segmentsBetween } from './segments.ts';

/** Segments per step: 1,000,000 rows by one or two columns, or 40,000 rows by their text; both take about 20 ms. */
const STEP_SEGMENTS = 100;
const STEP_SEGMENTS_BY_TEXT = 4;

export function scanCaptchas(sql: SqlStorage, hot: HotRows, scan: CaptchaScan): CaptchaScanStep {
  const result: CaptchaScanStep = { rows: [], counted: 0, seen: 0, next: null, isStale: false };
  const { before, limit } = scan;
  const revision = indexRevision(sql);
  if (scan.from && scan.from.revision !== revision) return { ...result, isStale: true };
  const from = scan.from ?? { after: null, lastSegment: lastSegment(sql), revision };
  if (scan.from === null) scanHot(hot, scan, result);
  const search = captchaSearch(scan.conditions, scan);
  const step = search.any.length > 0 ? STEP_SEGMENTS_BY_TEXT : STEP_SEGMENTS;
  const segments = segmentsBetween(sql, {
    since: Math.max(scan.since, searchedSince(sql)),
    // Without a count, only the rows of the page are wanted.
    until: scan.counts || before === null ? scan.until : Math.min(scan.until, before.timestamp + 1),
    after: from.after,
    last: from.lastSegment,
    limit: step + 1,
  });
  for (const { rows } of segments.slice(0, step)) result.seen += rows;
  const searcher = new SegmentSearcher(sql, search, segments.slice(0, step));
  if (scan.counts) result.counted += searcher.countAll();
  for (const found of searcher.found) {
    const oldestWanted = result.rows[limit - 1];
    if (limit === 0 || (oldestWanted && compareNewestFirst(oldestWanted, newestOf(found.segment)) < 0)) continue;
    const rows = pageRows(sql, searcher, found, before, result.rows, limit);
    result.rows = [...result.rows, ...rows].sort(compareNewestFirst).slice(0, limit);
  }
  const last = segments.length > step ? segments[step - 1] : undefined;
  if (last) result.next = { ...from, after: newestOf(last) };
  return result;
}

function lastSegment(sql: SqlStorage): number {
  return sql.exec<{ no: number }>("SELECT COALESCE(MAX(no), 0) AS no FROM segments WHERE state = 'sealed'").one().no;
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

/** The newest rows of the segment that belong on the page. `page`: the rows already found, newest first. */
function pageRows(
  sql: SqlStorage,
  searcher: SegmentSearcher,
  found: FoundSegment,
  before: RowKey | null,
  page: readonly StoredRow[],
  limit: number,
): StoredRow[] {
  const end = before === null ? found.end : rowsBefore(sql, found.segment, before);
  const matching = searcher.rows(found);
  const rows: StoredRow[] = [];
  let sealed: CaptchaRows | null = null;
  let newer = 0;
  for (let at = matching.length - 1; at >= 0; at -= 1) {
    const no = matching[at] as number;
    if (no >= end) continue;
    sealed ??= new CaptchaRows(sql, found.segment);
    const row = sealed.row(no);
    while (newer < page.length && compareNewestFirst(page[newer] as StoredRow, row) < 0) newer += 1;
    if (newer + rows.length >= limit) break;
    rows.push(row);
  }
  return rows;
}
