/**
 * The unsealed rows of an audit search. Columns in memory decide most conditions; the bodies of the remaining rows
 * decide the rest.
 */
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

/** Adds what it finds to the result of the first step. */
export function scanHot(hot: HotRows, scan: CaptchaScan, result: CaptchaScanStep): void {
  const tests = scan.conditions.filter(byColumn).flatMap(fieldTests);
  const keys = hot.captchas.columns().matching(tests, scan.since, scan.until);
  const inBodies = scan.conditions.filter((condition) => !byColumn(condition)).map(fieldTests);
  if (inBodies.length > 0) {
    scanBodies(hot, keys, inBodies, scan, result);
    return;
  }
  if (scan.counts) result.counted = keys.length;
  result.rows = bodiesOf(hot, newestKeys(keys, scan.before, scan.limit));
}

function scanBodies(
  hot: HotRows,
  keys: readonly RowKey[],
  conditions: readonly FieldTest[][],
  scan: CaptchaScan,
  result: CaptchaScanStep,
): void {
  const isOlder = (key: RowKey): boolean => scan.before === null || compareNewestFirst(scan.before, key) < 0;
  const wanted = (scan.counts ? [...keys] : keys.filter(isOlder)).sort(compareNewestFirst);
  const looked = wanted.slice(0, HOT_BODIES_MAX);
  if (wanted.length > looked.length) result.hotEdge = looked.at(-1) ?? null;
  for (const row of bodiesOf(hot, looked)) {
    result.seen += 1;
    if (!conditions.every((tests) => bodyPasses(tests, row.body))) continue;
    if (scan.counts) result.counted += 1;
    if (result.rows.length < scan.limit && isOlder(row)) result.rows.push(row);
    if (!scan.counts && result.rows.length === scan.limit) return;
  }
}

function bodiesOf(hot: HotRows, keys: readonly RowKey[]): StoredRow[] {
  return keys.flatMap(({ id, timestamp }) => {
    const body = hot.captchas.get(id)?.body;
    return body === undefined ? [] : [{ id, timestamp, body }];
  });
}

/** A condition on several fields would search for each of them. One test of the whole body rules out most rows. */
function bodyPasses(tests: readonly FieldTest[], body: string): boolean {
  if (tests.length > 1 && !tests[0]?.mayPass(body)) return false;
  return tests.some((test) => test.passes(fieldText(body, test.field)));
}
