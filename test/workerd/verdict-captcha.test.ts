/** The captcha stream: events in any order make one record, and all counts follow the record. */
import { env } from 'cloudflare:workers';
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { describe, expect, test } from 'vitest';
import {
  appendCaptchas,
  type CaptchaQuery,
  countCaptchas,
  liveCaptchas,
  searchCaptchas,
} from '../../src/store/event-log/client/captcha-log.ts';
import type { CaptchaEvent, CaptchaRecordType } from '../../src/store/event-log/captcha-record.ts';
import { shard } from '../../src/store/event-log/client/shards.ts';
import { HotRows } from '../../src/store/event-log/shard/hot-rows.ts';
import { Sealer } from '../../src/store/event-log/shard/sealing.ts';
import { captchaCourse, jtiOf } from '../support/captcha-course.ts';
import { stopSealing } from './stopped-sealing.ts';
import { expectRows } from '../support/rows.ts';
import { seededRandom } from '../support/verdict-record.ts';
import { testNow } from '../support/clock.ts';

const service = env as ServiceEnv;
const MINUTE_MS = 60_000;
/** Captchas are sealed an hour after their issue. */
const start = Math.floor(testNow() / MINUTE_MS) * MINUTE_MS - 3 * 3_600_000;
const window = { since: start, until: start + 3_600_000 };
let accounts = 0;

function course(account: string, number: number, type?: CaptchaRecordType, siteKey?: string): CaptchaEvent[] {
  return captchaCourse(account, start, number, type, siteKey);
}

const all: CaptchaQuery = { since: 0, until: Number.MAX_SAFE_INTEGER, siteKey: null, type: null, conditions: [] };

const orders = [
  ['in order', [0, 1, 2]],
  ['backwards', [2, 1, 0]],
  ['mixed', [1, 2, 0]],
  ['repeated', [0, 0, 2, 1, 2, 0, 1]],
] as const;
const ways = ['together', 'one by one', 'with a restart between'] as const;

test('events make one approved record in whatever order and way they arrive', () =>
  expectRows(
    orders.flatMap(([name, order]) => ways.map((how) => ({ name, order, how }))),
    async ({ order, how }) => {
      accounts += 1;
      const account = `captcha-order-${accounts}`;
      const events = course(account, 5);
      const sent = order.map((index) => events[index] as CaptchaEvent);
      if (how === 'together') await appendCaptchas(service, sent);
      else {
        for (const event of sent) {
          await appendCaptchas(service, [event]);
          const id = service.VERDICT_SHARD.idFromName(`captcha/${account}:0:0`);
          if (how === 'with a restart between') await evictDurableObject(service.VERDICT_SHARD.get(id));
        }
      }
      const page = await searchCaptchas(service, account, all, null, 10);
      expect(page.records).toMatchObject([
        { jti: jtiOf(5), status: 'Approved', ip: '192.0.2.5', submitted_correct: true, verified: true, issued: true },
      ]);
      expect([page.total, page.totalIsExact, page.next]).toEqual([1, true, null]);
      expect(await countCaptchas(service, account, ['site-1'], { ...window, bucketMinutes: 60 })).toMatchObject([
        { type: 'pow', approved: 1, pending: 0, disapproved: 0, verified: 1 },
      ]);
    },
  ));

test('a captcha stays approved when its spent token is verified again', async () => {
  const account = 'captcha-again';
  const [issued, submitted, verified] = course(account, 1) as [CaptchaEvent, CaptchaEvent, CaptchaEvent];
  const again = { ...verified, at: start + 9000, verified: false, reason: 'API.USER_ALREADY_VERIFIED' } as CaptchaEvent;
  await appendCaptchas(service, [issued, submitted, verified, again]);
  const { records } = await searchCaptchas(service, account, all, null, 10);
  expect(records).toMatchObject([{ status: 'Approved', verified: true, result_reason: null }]);
});

test('counts follow records through merging, sealing and late events', async () => {
  const account = 'captcha-seal';
  const random = seededRandom(3);
  const types = ['pow', 'image', 'puzzle'] as const;
  const courses = Array.from({ length: 300 }, (_, number) =>
    course(account, number, types[number % 3], `site-${number % 2}`).slice(0, 1 + Math.floor(random() * 3)),
  );
  const expected = (): { approved: number; pending: number; verified: number } => ({
    approved: courses.filter(({ length }) => length > 1).length,
    pending: courses.filter(({ length }) => length === 1).length,
    verified: courses.filter(({ length }) => length > 2).length,
  });
  const counted = async (): Promise<object> => {
    const rows = await countCaptchas(service, account, ['site-0', 'site-1'], { ...window, bucketMinutes: 60 });
    const sum = (of: 'approved' | 'pending' | 'verified'): number => rows.reduce((total, row) => total + row[of], 0);
    return { approved: sum('approved'), pending: sum('pending'), verified: sum('verified') };
  };
  await appendCaptchas(
    service,
    courses.map((events) => events[0] as CaptchaEvent),
  );
  await appendCaptchas(
    service,
    courses.flatMap((events) => events.slice(1)),
  );
  expect(await counted()).toEqual(expected());
  const object = shard(service, `captcha/${account}:0:0`);
  await object.tune({ hotRowsMax: 1_000_000, segmentRows: 100 });
  await object.seal();
  expect(await counted()).toEqual(expected());
  // The counts up to here are merged now. When an unsealed record changes, it is subtracted from them and counted
  // again.
  const late = courses.findIndex((events, number) => number > 150 && events.length === 1);
  courses[late] = course(account, late, types[late % 3], `site-${late % 2}`);
  await appendCaptchas(service, courses[late].slice(1));
  expect(await counted()).toEqual(expected());
  const image = await searchCaptchas(service, account, { ...all, type: 'image', siteKey: 'site-0' }, null, 1000);
  expect(image.records).toHaveLength(50);
  expect([image.total, image.totalIsExact]).toEqual([50, true]);
});

test('a search by a field without a column pages to the end without repeating a row', async () => {
  const account = 'captcha-where';
  await appendCaptchas(service, Array.from({ length: 240 }, (_, number) => course(account, number)).flat());
  const query: CaptchaQuery = { ...all, conditions: [{ field: 'ip', is: '192.0.2.3' }] };
  const found: string[] = [];
  let before: Parameters<typeof searchCaptchas>[3] = null;
  do {
    const page: Awaited<ReturnType<typeof searchCaptchas>> = await searchCaptchas(service, account, query, before, 10);
    expect([page.total, page.totalIsExact]).toEqual([34, true]);
    found.push(...page.records.map(({ jti }) => jti));
    before = page.next;
  } while (before !== null);
  const wanted = Array.from({ length: 240 }, (_, number) => number).filter((number) => number % 7 === 3);
  expect(found).toEqual(wanted.toReversed().map(jtiOf));
});

test('live traffic has only buckets with captchas, and every address once', async () => {
  const account = 'captcha-live';
  await appendCaptchas(
    service,
    [0, 1, 2, 120, 121].flatMap((number) => course(account, number)),
  );
  const live = await liveCaptchas(service, account, 'site-1', { ...window, bucketMs: 30_000, topIps: 2 });
  expect(live.points).toEqual([
    { timestamp: start, count: 3 },
    { timestamp: start + 120_000, count: 2 },
  ]);
  expect([live.uniqueIps, live.isExact]).toEqual([3, true]);
  expect(live.topIps).toMatchObject([{ ip: '192.0.2.1', count: 2, country: 'DE' }, { count: 2 }]);
});

describe('captchas that are sealed or erased', () => {
  const stubOf = (account: string) => service.VERDICT_SHARD.getByName(`captcha/${account}:0:0`);
  const totals = async (account: string) => {
    const { records, total } = await searchCaptchas(service, account, all, null, 1000);
    const counted = await countCaptchas(service, account, null, { ...window, bucketMinutes: 60 });
    expect(counted.reduce((sum, row) => sum + row.approved + row.pending + row.disapproved, 0)).toBe(total);
    expect(new Set(records.map(({ jti }) => jti)).size).toBe(total);
    return { total, verified: records.filter(({ verified }) => verified).length };
  };
  /** What is stored of unsealed captchas. */
  const unsealed = (account: string) =>
    runInDurableObject(stubOf(account), (_, { storage }) =>
      storage.sql
        .exec<{ text: string }>(
          'SELECT events AS text FROM captcha_batches UNION ALL SELECT CAST(records AS TEXT) FROM captcha_pages',
        )
        .toArray(),
    );

  test('stay as they are when events of them arrive late, across restarts', async () => {
    const account = 'captcha-late';
    const courses = Array.from({ length: 40 }, (_, number) => course(account, number));
    await appendCaptchas(
      service,
      courses.map((events) => events[0] as CaptchaEvent),
    );
    await shard(service, `captcha/${account}:0:0`).seal();
    expect(await unsealed(account)).toEqual([]);
    await appendCaptchas(service, courses.flat());
    await evictDurableObject(stubOf(account));
    await appendCaptchas(service, courses.flat());
    expect(await totals(account)).toEqual({ total: 40, verified: 0 });
    expect(await unsealed(account)).toEqual([]);
  });

  test('leave no event behind when their session is erased, and those of other sessions stay', async () => {
    const account = 'captcha-erased';
    const events = Array.from({ length: 30 }, (_, number) => course(account, number)).flat();
    const mine = events.map((event) =>
      event.event === 'issued'
        ? { ...event, facts: { ...event.facts, session: event.timestamp % 3000 === 0 ? 'gone' : 'kept' } }
        : event,
    );
    await appendCaptchas(service, mine);
    const erased = await shard(service, `captcha/${account}:0:0`).erase('gone');
    expect(erased).toBe(10);
    expect(JSON.stringify(await unsealed(account))).not.toContain('gone');
    await evictDurableObject(stubOf(account));
    await appendCaptchas(service, mine);
    expect(await totals(account)).toEqual({ total: 20, verified: 20 });
  });

  test('take an event that arrives while they are sealed, also after a write that failed meanwhile', async () => {
    const account = 'captcha-failed-write';
    const courses = Array.from({ length: 10 }, (_, number) => course(account, number));
    await appendCaptchas(
      service,
      courses.map((events) => events[0] as CaptchaEvent),
    );
    await runInDurableObject(stubOf(account), async (_, { storage }) => {
      const hot = new HotRows(storage);
      let puts = 0;
      const put = (...given: Parameters<R2Bucket['put']>) => {
        if (puts++ === 0) {
          const full = () => {
            throw new Error('The disk is full');
          };
          expect(() => hot.transaction(full)).toThrow('The disk is full');
          hot.mergeCaptchas(courses[3]?.slice(1) ?? []);
        }
        return service.SEGMENTS.put(...given);
      };
      const bucket = { put } as unknown as R2Bucket;
      await new Sealer(storage.sql, hot, bucket, `captcha/${account}:0:0`).sealOne(100, testNow());
    });
    await evictDurableObject(stubOf(account));
    expect(await totals(account)).toEqual({ total: 10, verified: 1 });
    expect(await unsealed(account)).toEqual([]);
  });

  test('are sealed once when the object stops before the manifest is written', async () => {
    const account = 'captcha-stopped';
    const name = `captcha/${account}:0:0`;
    await appendCaptchas(service, Array.from({ length: 50 }, (_, number) => course(account, number + 10)).flat());
    await runInDurableObject(stubOf(account), async (_, { storage }) => {
      const bounds = { segmentRows: 30, nowMs: testNow() };
      expect(await stopSealing(storage, service.SEGMENTS, name, bounds)).toBe(true);
    });
    await evictDurableObject(stubOf(account));
    // Older than the newest that was chosen.
    await appendCaptchas(service, course(account, 5));
    await shard(service, name).seal();
    expect(await totals(account)).toEqual({ total: 51, verified: 51 });
    expect(await shard(service, name).statistics()).toMatchObject({ hotRows: 20, sealedRows: 31 });
  });
});
