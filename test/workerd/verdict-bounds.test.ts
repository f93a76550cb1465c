/**
 * Reads that would be unbounded: a rare match in much sealed data. The page ends early and says where
 * to go on; the total says that it is a lower bound.
 */
import { env } from 'cloudflare:workers';
import { beforeAll, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/verdict-record.ts';
import { everything } from '../../src/store/verdict-log/filter.ts';
import type { RowFilter } from '../../src/store/verdict-log/filter.ts';
import { appendRows } from '../../src/store/verdict-log/log.ts';
import { PAGE_BLOCKS_MAX } from '../../src/store/verdict-log/plan.ts';
import { readPage } from '../../src/store/verdict-log/read-page.ts';
import type { Page } from '../../src/store/verdict-log/read-page.ts';
import { compareNewestFirst, verdictRow } from '../../src/store/verdict-log/row.ts';
import type { RowKey } from '../../src/store/verdict-log/row.ts';
import { shard } from '../../src/store/verdict-log/shards.ts';
import type { LogName } from '../../src/store/verdict-log/shards.ts';
import { seededRandom, variedRecord } from '../support/verdict-record.ts';

const service = env as ServiceEnv;
const log: LogName = { stream: 'verdicts', owner: 'bounds' };
const start = Date.now() - 4 * 3_600_000;
/** One block each: more than one page may open. */
const SEGMENTS = PAGE_BLOCKS_MAX + 100;
const ROWS_PER_SEGMENT = 3;
const random = seededRandom(5);
const records: VerdictRecord[] = Array.from({ length: SEGMENTS * ROWS_PER_SEGMENT }, (_, seq) =>
  // Neighbours overlap in time, as late rows do.
  variedRecord(log.owner, start + seq * 1000 + Math.floor(random() * 20_000), random, seq),
);
const rare: RowFilter = {
  ...everything,
  devices: ['tablet', 'bot', 'mobile', 'desktop'],
  outcomes: [2],
  minRulesFired: 1,
};
const isRare = (record: VerdictRecord): boolean =>
  record.device_type !== 'unknown' && record.decision === 'block' && record.fired_rules.length > 0;

beforeAll(async () => {
  const object = shard(service, `verdicts/${log.owner}:0:0`);
  await object.tune({ hotRowsMax: 1_000_000, segmentRows: ROWS_PER_SEGMENT });
  for (let at = 0; at < records.length; at += 300) {
    const rows = records.slice(at, at + 300).map((record) => verdictRow(record, true));
    await appendRows(service, log, rows, 30);
    for (let segment = 0; segment < 300 / ROWS_PER_SEGMENT; segment++) await object.seal();
  }
}, 60_000);

function page(filter: RowFilter, before: RowKey | null, limit: number): Promise<Page> {
  return readPage(service, log, { filter, before, offset: 0, limit, wantTotal: true });
}

test('a page that looked at its share ends early, and cursors lead through everything once', async () => {
  const found: string[] = [];
  let before: RowKey | null = null;
  let early = 0;
  do {
    const answer: Page = await page(rare, before, 500);
    if (answer.next !== null && answer.rows.length < 500) early++;
    found.push(...answer.rows.map(({ id }) => id));
    before = answer.next;
  } while (before !== null);
  expect(early).toBeGreaterThan(0);
  expect(found).toEqual(
    records
      .filter(isRare)
      .toSorted(compareNewestFirst)
      .map(({ id }) => id),
  );
});

test('a total that would open too much is a lower bound and says so', async () => {
  const { total, totalIsExact } = await page(rare, null, 10);
  expect(totalIsExact).toBe(false);
  expect(total).toBeLessThanOrEqual(records.filter(isRare).length);
});

test('a total that the rollups know is exact however much is sealed', async () => {
  const { total, totalIsExact } = await page({ ...everything, outcomes: [1], devices: ['bot'] }, null, 10);
  const wanted = records.filter(({ decision, device_type }) => decision === 'challenge' && device_type === 'bot');
  expect([total, totalIsExact]).toEqual([wanted.length, true]);
});

test('a deep page without a filter is the same by offset and by cursor', async () => {
  const sorted = records.toSorted(compareNewestFirst).map(({ id }) => id);
  const deep = await readPage(service, log, {
    filter: everything,
    before: null,
    offset: 300,
    limit: 20,
    wantTotal: false,
  });
  expect(deep.rows.map(({ id }) => id)).toEqual(sorted.slice(300, 320));
  const first = await page(everything, null, 300);
  expect((await page(everything, first.next, 20)).rows.map(({ id }) => id)).toEqual(sorted.slice(300, 320));
});
