/**
 * The unsealed rows of an audit search. Columns in memory decide most conditions; the bodies of the remaining rows
 * decide the rest.
 */
import { keyList } from './hot-keys.ts';
import type { HotRows } from './hot-rows.ts';
import { compareNewestFirst } from '../log-row.ts';
import type { RowKey, StoredRow } from '../log-row.ts';
import { byColumn } from '../captcha-condition.ts';
import { fieldTests, fieldText } from '../columns/captcha-field-test.ts';
import type { FieldTest } from '../columns/captcha-field-test.ts';
import { newestKeys } from '../columns/captcha-hot-columns.ts';
import type { CaptchaScan, CaptchaScanStep } from '../shard-rpc.ts';

/** Unsealed rows whose body one search reads: about 400 ms. */
const HOT_BODIES_MAX = 100_000;
/** Bodies per statement: less than 1 MB. */
const BODIES_AT_ONCE = 1000;

/** Adds what it finds to the result of the first step. */
export function scanHot(sql: SqlStorage, hot: HotRows, scan: CaptchaScan, result: CaptchaScanStep): void {
  const tests = scan.conditions.filter(byColumn).flatMap(fieldTests);
  const keys = hot.captchaColumns().matching(tests, scan.since, scan.until);
  const inBodies = scan.conditions.filter((condition) => !byColumn(condition)).map(fieldTests);
  if (inBodies.length > 0) {
    scanBodies(sql, keys, inBodies, scan, result);
    return;
  }
  if (scan.counts) result.counted = keys.length;
  result.rows = bodiesOf(sql, newestKeys(keys, scan.before, scan.limit));
}

function scanBodies(
  sql: SqlStorage,
  keys: readonly RowKey[],
  conditions: readonly FieldTest[][],
  scan: CaptchaScan,
  result: CaptchaScanStep,
): void {
  const isOlder = (key: RowKey): boolean => scan.before === null || compareNewestFirst(scan.before, key) < 0;
  const wanted = (scan.counts ? [...keys] : keys.filter(isOlder)).sort(compareNewestFirst);
  const looked = wanted.slice(0, HOT_BODIES_MAX);
  if (wanted.length > looked.length) result.hotEdge = looked.at(-1) ?? null;
  for (let at = 0; at < looked.length; at += BODIES_AT_ONCE) {
    for (const row of bodiesOf(sql, looked.slice(at, at + BODIES_AT_ONCE))) {
      result.seen += 1;
      if (!conditions.every((tests) => bodyPasses(tests, row.body))) continue;
      if (scan.counts) result.counted += 1;
      if (result.rows.length < scan.limit && isOlder(row)) result.rows.push(row);
    }
    if (!scan.counts && result.rows.length === scan.limit) return;
  }
}

/** Newest first. */
function bodiesOf(sql: SqlStorage, keys: readonly RowKey[]): StoredRow[] {
  if (keys.length === 0) return [];
  return sql
    .exec<{ id: string; timestamp: number; body: string }>(
      `SELECT id, ts AS timestamp, body FROM verdicts
       WHERE (ts, id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?)) ORDER BY ts DESC, id DESC`,
      keyList(keys),
    )
    .toArray();
}

/** A condition on several fields would search for each of them. One test of the whole body rules out most rows. */
function bodyPasses(tests: readonly FieldTest[], body: string): boolean {
  if (tests.length > 1 && !tests[0]?.mayPass(body)) return false;
  return tests.some((test) => test.passes(fieldText(body, test.field)));
}
