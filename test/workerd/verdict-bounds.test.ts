/**
 * Reads that must not grow without bound: matches in more row groups than one page may open, or matches that only the
 * rows themselves show. The page ends early with a cursor, and the total is marked when it is a lower bound.
 */
import { env } from 'cloudflare:workers';
import { beforeAll, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { everything, type RowFilter } from '../../src/store/event-log/row-filter.ts';
import { appendRows } from '../../src/store/event-log/client/append-verdicts.ts';
import { eraseSession } from '../../src/store/event-log/client/verdict-log.ts';
import { PAGE_ROW_GROUPS_MAX } from '../../src/store/event-log/shard-rpc.ts';
import { type VerdictPage, type PageStart, readPage } from '../../src/store/event-log/client/verdict-page.ts';
import { compareNewestFirst, type RowKey, verdictRow } from '../../src/store/event-log/log-row.ts';
import { type LogName, shard } from '../../src/store/event-log/client/shards.ts';
import { arrivalNow, seededRandom, variedRecord } from '../support/verdict-record.ts';
import { testNow } from '../support/clock.ts';

const service = env as ServiceEnv;
const log: LogName = { stream: 'verdicts', owner: 'bounds' };
const start = testNow() - 4 * 3_600_000;
/** One row group each: more row groups than one page may open. */
const SEGMENTS = PAGE_ROW_GROUPS_MAX + 100;
const ROWS_PER_SEGMENT = 3;
const random = seededRandom(5);
const records: VerdictRecord[] = Array.from({ length: SEGMENTS * ROWS_PER_SEGMENT }, (_, seq) =>
  // Neighbouring segments overlap in time, because some rows arrive late.
  ({
    ...variedRecord(log.owner, start + seq * 1000 + Math.floor(random() * 20_000), random, seq),
    // Paths longer than an index key that differ only beyond its end.
    request_path: `/${'long'.repeat(40)}/${seq % 7}`,
  }),
);
const rare: RowFilter = {
  ...everything,
  devices: ['tablet', 'bot', 'mobile', 'desktop'],
  outcomes: [2],
  minRulesFired: 1,
};
/** In nearly every row group: more row groups than one page may open. */
const often: RowFilter = { ...everything, outcomes: [1, 2] };
const isOften = (record: VerdictRecord): boolean => record.decision !== 'allow';
const isRare = (record: VerdictRecord): boolean =>
  record.device_type !== 'unknown' && record.decision === 'block' && record.fired_rules.length > 0;

beforeAll(async () => {
  const object = shard(service, `verdicts/${log.owner}:0:0`);
  await object.tune({ hotRowsMax: 1_000_000, segmentRows: ROWS_PER_SEGMENT });
  for (let at = 0; at < records.length; at += ROWS_PER_SEGMENT) {
    const rows = records.slice(at, at + ROWS_PER_SEGMENT).map((record) => verdictRow(record, true));
    await appendRows(service, log, rows, arrivalNow());
    await object.seal();
  }
});

function page(filter: RowFilter, before: RowKey | null, limit: number): Promise<VerdictPage> {
  return readPage(service, log, { filter, before, offset: 0, limit, wantTotal: true });
}

test('a page that reaches its limit of row groups ends early, and cursors visit every row once', async () => {
  const found: string[] = [];
  let before: RowKey | null = null;
  let early = 0;
  do {
    const answer: VerdictPage = await page(often, before, 500);
    if (answer.next !== null && answer.rows.length < 500) early++;
    expect([answer.total, answer.totalIsExact]).toEqual([records.filter(isOften).length, true]);
    found.push(...answer.rows.map(({ id }) => id));
    before = answer.next;
  } while (before !== null);
  expect(early).toBeGreaterThan(0);
  expect(found).toEqual(
    records
      .filter(isOften)
      .toSorted(compareNewestFirst)
      .map(({ id }) => id),
  );
});

const sevenths: [string, RowFilter][] = [
  ['a path', { ...everything, path: { text: `/${'long'.repeat(40)}/3`, prefix: false } }],
  ['the beginning of a path', { ...everything, path: { text: `/${'long'.repeat(40)}/3`, prefix: true } }],
];

test.each(sevenths)(
  '%s longer than an index key is found, and its total is marked when it is a lower bound',
  async (_, filter) => {
    const wanted = records.filter((record) => record.request_path.endsWith('/3')).toSorted(compareNewestFirst);
    const first = await page(filter, null, 10);
    expect(first.totalIsExact).toBe(false);
    expect(first.total).toBeGreaterThan(0);
    expect(first.total).toBeLessThan(wanted.length);
    const found: string[] = [];
    let before: RowKey | null = null;
    do {
      const answer: VerdictPage = await page(filter, before, 40);
      found.push(...answer.rows.map(({ id }) => id));
      before = answer.next;
    } while (before !== null);
    expect(found).toEqual(wanted.map(({ id }) => id));
    const few = { ...filter, since: (wanted[20] as VerdictRecord).timestamp };
    const answer = await page(few, null, 10);
    const inWindow = wanted.filter(({ timestamp }) => timestamp >= few.since);
    expect([answer.total, answer.totalIsExact]).toEqual([inWindow.length, true]);
  },
);

test('any other total is exact, however many rows are sealed', async () => {
  const few = { ...everything, outcomes: [1], devices: ['bot'] };
  const wanted = records.filter(({ decision, device_type }) => decision === 'challenge' && device_type === 'bot');
  const answers = [await page(few, null, 10), await page(rare, null, 10)];
  expect(answers.map(({ total, totalIsExact }) => [total, totalIsExact])).toEqual([
    [wanted.length, true],
    [records.filter(isRare).length, true],
  ]);
});

test('a deep page without a filter has the same rows by offset and by cursor', async () => {
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

test('an offset beyond the limit of one page continues on the next page', async () => {
  const sorted = records.filter(isOften).toSorted(compareNewestFirst);
  const offset = Math.floor(sorted.length * 0.9);
  const found: string[] = [];
  let next: PageStart | null = null;
  let passOver = offset;
  let pages = 0;
  do {
    const request = { filter: often, before: next, offset: passOver, limit: 500, wantTotal: false };
    const answer: VerdictPage = await readPage(service, log, request);
    found.push(...answer.rows.map(({ id }) => id));
    next = answer.next;
    passOver = next?.skip ?? 0;
    pages++;
  } while (next !== null);
  expect(pages).toBeGreaterThan(1);
  expect(found).toEqual(sorted.slice(offset).map(({ id }) => id));
});

test('an old row that arrived late does not hide newer rows beyond the limit of one page', async () => {
  const late: LogName = { stream: 'verdicts', owner: 'bounds-late' };
  const object = shard(service, `verdicts/${late.owner}:0:0`);
  await object.tune({ hotRowsMax: 1_000_000, segmentRows: 1 });
  let seq = 0;
  const made = (timestamp: number, changes: Partial<VerdictRecord> = {}): VerdictRecord =>
    ({
      ...variedRecord(late.owner, timestamp, random, seq++),
      device_type: 'bot',
      fired_rules: [],
      ...changes,
    }) as VerdictRecord;
  const match = { decision: 'block', request_path: '/rare' } as const;
  const common = Array.from({ length: PAGE_ROW_GROUPS_MAX + 10 }, (_, at) =>
    made(start + 10_000 + at * 1000, { decision: 'block', request_path: '/' }),
  );
  const sealed = made(start + 5000, match);
  for (const record of [sealed, ...common]) {
    await appendRows(service, late, [verdictRow(record, true)], arrivalNow());
    await object.seal();
  }
  const old = made(start, match);
  await appendRows(service, late, [verdictRow(old, true)], arrivalNow());
  const filter: RowFilter = { ...everything, outcomes: [2], path: { text: '/r', prefix: true } };
  const found: string[] = [];
  let before: PageStart | null = null;
  do {
    const answer: VerdictPage = await readPage(service, late, {
      filter,
      before,
      offset: 0,
      limit: 1,
      wantTotal: false,
    });
    found.push(...answer.rows.map(({ id }) => id));
    before = answer.next;
  } while (before !== null);
  expect(found).toEqual([sealed.id, old.id]);
});

test('a page that is read during an erasure has every row of the other sessions', async () => {
  const jti = records.find((record) => record.jti !== null)?.jti as string;
  const erasing: Promise<number>[] = [];
  const bucket = {
    async get(...given: Parameters<R2Bucket['get']>): Promise<unknown> {
      if (erasing.length === 0) erasing.push(eraseSession(service, log, jti));
      await erasing[0];
      return service.SEGMENTS.get(...given);
    },
  };
  const world = { ...service, SEGMENTS: bucket as unknown as R2Bucket };
  const others = records.filter((record) => record.jti !== jti).toSorted(compareNewestFirst);
  const from = others.length - 100;
  const filter = { ...everything, until: (others[from] as VerdictRecord).timestamp + 1 };
  const { rows } = await readPage(world, log, { filter, before: null, offset: 0, limit: 1000, wantTotal: false });
  expect(await erasing[0]).toBeGreaterThan(0);
  const wanted = others.filter(({ timestamp }) => timestamp < filter.until);
  expect(rows.map(({ id }) => id)).toEqual(wanted.slice(0, rows.length).map(({ id }) => id));
  expect(rows.length).toBe(wanted.length);
});
