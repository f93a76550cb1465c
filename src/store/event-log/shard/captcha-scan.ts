/**
 * A shard's part of an audit search, in synchronous steps of bounded length: first all unsealed rows, then a number of
 * runs of sealed rows, newest first. The Worker calls again for the next step. Between two steps the shard appends.
 */
import type { HotRows } from './hot-rows.ts';
import { compareNewestFirst } from '../log-row.ts';
import type { CaptchaScan, CaptchaScanStep, ScanPlace } from '../shard-rpc.ts';
import { scanHot } from './captcha-scan-hot.ts';
import { foundRuns, pageRows, plannedSearch } from './captcha-scan-runs.ts';
import { newestOf, runsRevision } from './captcha-runs.ts';
import type { CaptchaRun } from '../columns/captcha-column-reader.ts';

/** Runs per step: 1,000,000 rows by one or two columns, or 40,000 rows by their text; both take about 20 ms at most. */
const STEP_RUNS = 100;
const STEP_RUNS_BY_ROW = 4;

export function scanCaptchas(sql: SqlStorage, hot: HotRows, scan: CaptchaScan): CaptchaScanStep {
  const result: CaptchaScanStep = { rows: [], counted: 0, seen: 0, hotEdge: null, next: null, isStale: false };
  const revision = runsRevision(sql);
  if (scan.from && scan.from.revision !== revision) return { ...result, isStale: true };
  const place = scan.from ?? { after: null, lastSegment: lastSegment(sql), revision };
  if (scan.from === null) scanHot(sql, hot, scan, result);
  const search = plannedSearch(scan.conditions);
  const step = search.byRow.length > 0 ? STEP_RUNS_BY_ROW : STEP_RUNS;
  const runs = nextRuns(sql, scan, place, step + 1);
  for (const run of runs.slice(0, step)) result.seen += run.rows;
  for (const found of foundRuns(sql, runs.slice(0, step), search, scan)) {
    if (scan.counts) result.counted += found.count;
    const oldestWanted = result.rows[scan.limit - 1];
    if (scan.limit === 0 || (oldestWanted && compareNewestFirst(oldestWanted, newestOf(found.run)) < 0)) continue;
    result.rows = [...result.rows, ...pageRows(sql, found, result.rows, scan.limit)]
      .sort(compareNewestFirst)
      .slice(0, scan.limit);
  }
  const last = runs.length > step ? runs[step - 1] : undefined;
  if (last) result.next = { ...place, after: newestOf(last) };
  return result;
}

function lastSegment(sql: SqlStorage): number {
  return sql.exec<{ no: number }>('SELECT COALESCE(MAX(segment), 0) AS no FROM captcha_runs').one().no;
}

type Stored = Record<string, SqlStorageValue>;

function nextRuns(sql: SqlStorage, scan: CaptchaScan, place: ScanPlace, limit: number): CaptchaRun[] {
  const { after } = place;
  const oldest = scan.counts || scan.before === null ? Number.MAX_SAFE_INTEGER : scan.before.timestamp;
  return sql
    .exec<CaptchaRun & Stored>(
      `SELECT segment, no, rows, min_ts AS minTs, max_ts AS maxTs, max_id AS maxId FROM captcha_runs
       WHERE (max_ts, max_id) < (?, ?) AND segment <= ? AND max_ts >= ? AND min_ts < ? AND min_ts <= ?
       ORDER BY max_ts DESC, max_id DESC LIMIT ?`,
      after?.timestamp ?? Number.MAX_SAFE_INTEGER,
      after?.id ?? '',
      place.lastSegment,
      scan.since,
      scan.until,
      oldest,
      limit,
    )
    .toArray();
}
