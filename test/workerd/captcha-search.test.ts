/**
 * The audit search reads unsealed rows one by one and sealed rows by column. Both must find what a plain search of all
 * records finds, page by page, through sealing, erasing and a restart.
 */
import { env } from 'cloudflare:workers';
import { evictDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, test } from 'vitest';
import { appendCaptchas, type CaptchaQuery, searchCaptchas } from '../../src/store/event-log/client/captcha-log.ts';
import { type CaptchaEvent, type CaptchaRecord, mergeCaptcha } from '../../src/store/event-log/captcha-record.ts';
import { captchaFields } from '../../src/store/event-log/captcha-fields.ts';
import type { CaptchaCondition } from '../../src/store/event-log/captcha-condition.ts';
import type { RowKey } from '../../src/store/event-log/log-row.ts';
import { scanShards } from '../../src/store/event-log/client/captcha-search.ts';
import { shard } from '../../src/store/event-log/client/shards.ts';
import { seededRandom } from '../support/verdict-record.ts';
import { testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';

const service = env as ServiceEnv;
const ACCOUNT = 'captcha-search';
const ROWS = 6000;
/** Captchas are sealed an hour after their issue. */
const start = testNow() - 10 * 3_600_000;
const random = seededRandom(11);
const jtiOf = (number: number): string => number.toString(16).padStart(6, '0').padEnd(32, '7');

function one<T>(values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

function issued(number: number): CaptchaEvent {
  return {
    event: 'issued',
    jti: jtiOf(number),
    account_id: ACCOUNT,
    site_key: `site-${number % 3}`,
    // Several in one millisecond, and not in the order of their numbers.
    timestamp: start + (((number * 7919) % ROWS) >> 1) * 1000,
    captcha_type: one(['pow', 'image', 'puzzle', 'blocked']),
    facts: {
      ip: one(['192.0.2.1', '192.0.2.11', '2001:db8::1', null]),
      asn: one([64_496, 64_497, null]),
      country: one(['DE', 'FR', null]),
      ja4: one(['t13d1516h2_8daaf6152771_b0da82dd1658', null]),
      user_agent: one(['Mozilla/5.0 "quoted" \\ Chrome/129', 'curl/8', 'ΑΣ Ünïcode/1', '"country":"XX"']),
      device_type: one(['desktop', 'mobile']),
      ip_category: one([[], ['vpn'], ['datacenter', 'vpn'], ['odd ]"}, name']]),
      host: 'shop.example',
      action: one(['login', null]),
      lane: null,
      user_account: one(['vpn', 'Anna\nMeier', `account-${number}`]),
      session: null,
      web_view: one([true, false, null]),
      iframe: false,
      score: one([0, 0.1, 0.15, 1e-7]),
      threshold: 0.5,
      detectors: one([[], ['burst'], ['burst', 'headers']]),
      selection_reason: one(['OLD_TIMESTAMP', null]),
      access_rule: one(['ab12', 'ab1', null]),
      policy_type: one(['block', 'restrict', null]),
    },
  };
}

const records: CaptchaRecord[] = [];
const object = () => shard(service, `captcha/${ACCOUNT}:0:0`);

beforeAll(async () => {
  const events = Array.from({ length: ROWS }, (_, number) => issued(number));
  for (let at = 0; at < ROWS; at += 500) await appendCaptchas(service, events.slice(at, at + 500));
  records.push(...events.map((event) => mergeCaptcha(null, event)));
  records.sort((a, b) => b.timestamp - a.timestamp || (a.id < b.id ? 1 : -1));
  await object().tune({ hotRowsMax: 1_000_000, segmentRows: 2600 });
});

const text = (contains: string): CaptchaCondition => ({ fields: captchaFields, contains });
const searches: [string, CaptchaCondition[], (record: CaptchaRecord) => boolean][] = [
  ['a country', [{ field: 'country', is: 'FR' }], ({ country }) => country === 'FR'],
  ['a country that only a user agent names', [{ field: 'country', is: 'XX' }], () => false],
  ['an address', [{ field: 'ip', is: '192.0.2.1' }], ({ ip }) => ip === '192.0.2.1'],
  ['a flag', [{ field: 'web_view', is: true }], (record) => record.web_view === true],
  ['an item of a list', [{ field: 'ip_category', has: 'vpn' }], (record) => record.ip_category.includes('vpn')],
  [
    'an item that a list lacks',
    [{ field: 'ip_category', lacks: 'vpn' }],
    (record) => !record.ip_category.includes('vpn'),
  ],
  [
    'an item with special characters',
    [{ field: 'ip_category', has: 'odd ]"}, name' }],
    (record) => record.ip_category.length === 1 && record.ip_category[0] !== 'vpn',
  ],
  [
    'part of a user agent',
    [{ field: 'user_agent', contains: 'QUOTED" \\ chr' }],
    (record) => record.user_agent.includes('"quoted" \\ Chr'),
  ],
  [
    'one of many accounts',
    [{ field: 'user_account', is: 'account-17' }],
    (record) => record.user_account === 'account-17',
  ],
  [
    'several at once',
    [
      { field: 'captcha_type', is: 'image' },
      { field: 'status', is: 'Pending' },
      { field: 'detectors', has: 'headers' },
      { field: 'access_rule', is: 'ab1' },
    ],
    (record) => record.captcha_type === 'image' && record.detectors.includes('headers') && record.access_rule === 'ab1',
  ],
  ['a text anywhere', [text('VPN')], (record) => record.ip_category.includes('vpn') || record.user_account === 'vpn'],
  ['a text with a line feed', [text('anna\nm')], (record) => record.user_account === 'Anna\nMeier'],
  ['a text that occurs only in an escape sequence', [text('a\\nm')], () => false],
  ['digits of a number', [text('0.15')], (record) => record.score === 0.15],
  ['the text of a boolean, without a result', [text('true')], () => false],
];

async function everyPage(query: CaptchaQuery, limit: number): Promise<{ ids: string[]; totals: Set<string> }> {
  const ids: string[] = [];
  const totals = new Set<string>();
  let before: RowKey | null = null;
  do {
    const page: Awaited<ReturnType<typeof searchCaptchas>> = await searchCaptchas(
      service,
      ACCOUNT,
      query,
      before,
      limit,
    );
    ids.push(...page.records.map(({ id }) => id));
    totals.add(`${page.total} ${page.totalIsExact}`);
    before = page.next;
  } while (before !== null);
  return { ids, totals };
}

describe.each([
  ['unsealed', async () => {}],
  ['partly sealed', async () => object().seal()],
  [
    'mostly sealed, after a restart and an erasure',
    async () => {
      await object().seal();
      const erased = records.at(-1) as CaptchaRecord;
      expect(await object().erase(erased.jti)).toBe(1);
      records.pop();
      const id = service.VERDICT_SHARD.idFromName(`captcha/${ACCOUNT}:0:0`);
      await evictDurableObject(service.VERDICT_SHARD.get(id));
    },
  ],
])('captchas that are %s', (_, prepare) => {
  beforeAll(async () => {
    await prepare();
  });

  test('are found by every condition, each once and in order', () =>
    expectRows(
      searches,
      async ([, conditions, expected]) => {
        const found = records.filter(expected).map(({ id }) => id);
        const query = { since: 0, until: Number.MAX_SAFE_INTEGER, siteKey: null, type: null, conditions };
        const { ids, totals } = await everyPage(query, Math.max(100, Math.ceil(found.length / 3)));
        expect([...totals]).toEqual([`${found.length} true`]);
        expect(ids).toEqual(found);
      },
      ([name]) => name,
    ));

  test('are found as whole records within a window and of one site', async () => {
    const [since, until] = [start + 500_000, start + 2_000_000];
    const query = {
      since,
      until,
      siteKey: 'site-1',
      type: null,
      conditions: [{ field: 'country', is: 'DE' } as const],
    };
    const expected = records.filter(
      (record) =>
        record.timestamp >= since &&
        record.timestamp < until &&
        record.site_key === 'site-1' &&
        record.country === 'DE',
    );
    const page = await searchCaptchas(service, ACCOUNT, query, null, 1000);
    expect(page.records).toEqual(expected);
    expect(page.total).toBe(expected.length);
  });
});

test('a search that reaches its limit of rows is marked, and continues where it stopped', async () => {
  // Small segments, so that there are more runs than one step searches.
  const name = 'captcha/captcha-share:0:0';
  const share = shard(service, name);
  await share.tune({ hotRowsMax: 1_000_000, segmentRows: 5 });
  const events = Array.from({ length: 600 }, (_, number) => ({ ...issued(number), account_id: 'captcha-share' }));
  await appendCaptchas(service, events);
  for (let left = 600; left > 0;) left = await share.seal();
  const wanted = events
    .map((event) => mergeCaptcha(null, event))
    .filter(({ country }) => country === 'DE')
    .sort((a, b) => b.timestamp - a.timestamp || (a.id < b.id ? 1 : -1));
  const search = {
    conditions: [{ field: 'country' as const, is: 'DE' }],
    since: 0,
    until: Number.MAX_SAFE_INTEGER,
    searchedRowsMax: 100,
  };
  const found: string[] = [];
  let before: RowKey | null = null;
  let pages = 0;
  do {
    const page: Awaited<ReturnType<typeof scanShards>> = await scanShards(service, [name], search, before, 1000);
    expect(page.totalIsExact).toBe(false);
    expect(page.total).toBeLessThan(wanted.length);
    found.push(...page.rows.map(({ id }) => id));
    before = page.next;
    pages += 1;
  } while (before !== null);
  expect(found).toEqual(wanted.map(({ id }) => id));
  expect(pages).toBe(2);
});

test('a search during which a row is erased must start again', async () => {
  const name = 'captcha/captcha-stale:0:0';
  const log = shard(service, name);
  await log.tune({ hotRowsMax: 1_000_000, segmentRows: 2 });
  const events = Array.from({ length: 4 }, (_, number) => ({ ...issued(number), account_id: 'captcha-stale' }));
  await appendCaptchas(service, events);
  for (let left = 4; left > 0;) left = await log.seal();
  const scan = { conditions: [], since: 0, until: Number.MAX_SAFE_INTEGER, before: null, limit: 10, counts: true };
  const from = { after: null, lastSegment: Number.MAX_SAFE_INTEGER, revision: 0 };
  expect(await log.scanCaptchas({ ...scan, from })).toMatchObject({ counted: 4, isStale: false });
  await log.erase(jtiOf(1));
  expect(await log.scanCaptchas({ ...scan, from })).toMatchObject({ rows: [], counted: 0, isStale: true });
  expect(await log.scanCaptchas({ ...scan, from: null })).toMatchObject({ counted: 3, isStale: false });
});

test('long texts split a segment into several runs, and every row is found', async () => {
  const account = 'captcha-long';
  const log = shard(service, `captcha/${account}:0:0`);
  const events = Array.from({ length: 1200 }, (_, number): CaptchaEvent => {
    const event = { ...issued(number), account_id: account };
    if (event.event !== 'issued') return event;
    return { ...event, facts: { ...event.facts, user_agent: `${number} ${'ü'.repeat(1000)}`, country: 'DE' } };
  });
  for (let at = 0; at < events.length; at += 400) await appendCaptchas(service, events.slice(at, at + 400));
  expect(await log.seal()).toBe(0);
  const query = { since: 0, until: Number.MAX_SAFE_INTEGER, siteKey: null, type: null };
  const [all, single] = await Promise.all([
    searchCaptchas(service, account, { ...query, conditions: [{ field: 'country', is: 'DE' }] }, null, 2000),
    searchCaptchas(service, account, { ...query, conditions: [{ field: 'user_agent', contains: '777 ü' }] }, null, 10),
  ]);
  expect(new Set(all.records.map(({ jti }) => jti))).toEqual(new Set(events.map(({ jti }) => jti)));
  expect(single.records.map(({ jti }) => jti)).toEqual([jtiOf(777)]);
});
