/**
 * A page far from the beginning of the log, of rows of the greatest size. Together the rows before it are larger than
 * one message from a shard (32 MiB), and larger than a reader should hold.
 */
import { env } from 'cloudflare:workers';
import { beforeAll, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { everything } from '../../src/store/event-log/row-filter.ts';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { type VerdictPage, readPage } from '../../src/store/event-log/client/verdict-page.ts';
import { verdictRow } from '../../src/store/event-log/log-row.ts';
import type { LogName } from '../../src/store/event-log/client/shards.ts';
import { arrivalNow, verdictRecordOf } from '../support/verdict-record.ts';
import { testNow } from '../support/clock.ts';

const service = env as ServiceEnv;
const log: LogName = { stream: 'verdicts', owner: 'offset' };
const ROWS = 2500;
const start = testNow() - 3_600_000;
/** 64 rules with the longest ids: about 24 kB per row. */
const firedRules = Array.from({ length: 64 }, (_, rule) => ({
  id: `userAgent:${String(rule).padStart(300, 'x')}`,
  verdict: 'allow' as const,
  mode: 'monitor' as const,
}));
const records: VerdictRecord[] = Array.from({ length: ROWS }, (_, seq) =>
  verdictRecordOf(log.owner, { timestamp: start + seq, fired_rules: firedRules }),
);

beforeAll(async () => {
  for (let at = 0; at < ROWS; at += 100) {
    const rows = records.slice(at, at + 100).map((record) => verdictRow(record, true));
    await appendRows(service, log, rows, arrivalNow());
  }
});

function pageAt(offset: number, limit: number): Promise<VerdictPage> {
  return readPage(service, log, { filter: everything, before: null, offset, limit, wantTotal: true });
}

test('a page after 2,400 large rows is read', async () => {
  const { rows, total, next } = await pageAt(2400, 3);
  const newestFirst = records.toReversed();
  expect(rows.map(({ id }) => id)).toEqual(newestFirst.slice(2400, 2403).map(({ id }) => id));
  expect(total).toBe(ROWS);
  expect(next?.id).toBe(newestFirst[2402]?.id);
});

test.each([2498, 2499, 2500])('a page at row %i of 2,500 is the last one', async (offset) => {
  const { rows, total, next } = await pageAt(offset, 10);
  expect([rows.length, total, next]).toEqual([ROWS - offset, ROWS, null]);
});
