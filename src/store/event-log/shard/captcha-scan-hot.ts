/** The unsealed rows of an audit search: their bodies decide, and only those of the page are kept. */
import type { HotRows } from './hot-rows.ts';
import { compareNewestFirst } from '../log-row.ts';
import { cheapestFirst, type FieldTest, fieldTests, fieldText } from '../columns/captcha-field-test.ts';
import type { CaptchaScan, CaptchaScanStep } from '../shard-rpc.ts';

/** Adds what it finds to the result of the first step. */
export function scanHot(hot: HotRows, scan: CaptchaScan, result: CaptchaScanStep): void {
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

/** A condition on several fields would search for each of them. One test of the whole body rules out most rows. */
export function passesAny(tests: readonly FieldTest[], body: string): boolean {
  if (tests.length > 1 && !tests[0]?.mayPass(body)) return false;
  return tests.some((test) => test.passes(fieldText(body, test.field)));
}
