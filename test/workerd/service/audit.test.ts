/** The captcha records of an account, with records that are weeks old. */
import { describe, expect, test } from 'vitest';
import type { CaptchaFacts } from '../../../src/store/event-log/captcha-record.ts';
import { writeCaptchas } from './captcha-events.ts';
import { call, newAccount, type TestAccount } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';

const DAY_MS = 24 * 3_600_000;
const recently = () => testNow() - 3_600_000;

async function search(account: TestAccount, body: object = {}) {
  const answer = await call(account.token, '/audit/searchcaptcharecords', body);
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  return answer.body;
}

const withFacts = async (facts: Partial<CaptchaFacts>) => {
  const account = await newAccount();
  const at = recently();
  await writeCaptchas(account.account.id, account.site.siteKey, [{ at: at - 1 }, { at, facts, correct: false }]);
  return account;
};

test('a record has every step of its captcha', async () => {
  const account = await newAccount();
  const at = recently();
  const [jti] = await writeCaptchas(account.account.id, account.site.siteKey, [{ at, correct: true, verified: true }]);
  const body = await search(account);
  expect(body).toMatchObject({ total: 1, totalIsExact: true, limit: 20, hasMore: false, lastTimestamp: at });
  expect(body.records[0]).toMatchObject({
    jti,
    timestamp: at,
    siteKey: account.site.siteKey,
    captchaType: 'pow',
    status: 'Approved',
    ip: '192.0.2.1',
    countryCode: 'DE',
    vpn: false,
    submittedAt: at + 500,
    verifiedAt: at + 900,
    verified: true,
  });
  expect(body.lastId).toBe(body.records[0].id);
});

test('captchaType chooses a type or blocked requests, and the default is all', async () => {
  const account = await newAccount();
  const at = recently();
  await writeCaptchas(account.account.id, account.site.siteKey, [
    { at, type: 'pow' },
    { at, type: 'image' },
    { at, type: 'puzzle' },
    { at, type: 'blocked' },
  ]);
  for (const [captchaType, total] of [
    ['pow', 1],
    ['image', 1],
    ['puzzle', 1],
    ['blocked', 1],
    ['all', 4],
  ] as const) {
    const body = await search(account, { captchaType });
    expect([captchaType, body.total]).toEqual([captchaType, total]);
  }
  expect((await search(account)).total).toBe(4);
});

test('each criterion finds the matching record and no other', () =>
  expectRows<[string, Partial<CaptchaFacts>, object, object]>(
    [
      ['ip', { ip: '2001:db8::7' }, { ip: '2001:DB8:0::7' }, { ip: '192.0.2.99' }],
      [
        'ja4',
        { ja4: 't13d0000h2_000000000000_000000000000' },
        { ja4: 'T13D0000h2_000000000000_000000000000' },
        { ja4: 'x' },
      ],
      ['userAgent', { user_agent: 'EvilBot/2.0' }, { userAgent: 'evilbot' }, { userAgent: 'goodbot' }],
      ['countryCode', { country: 'FR' }, { countryCode: 'fr' }, { countryCode: 'IT' }],
      ['deviceType', { device_type: 'mobile' }, { deviceType: 'mobile' }, { deviceType: 'tablet' }],
      ['vpn', { ip_category: ['vpn'] }, { vpn: true }, { vpn: true, freeText: 'nowhere' }],
      ['webView', { web_view: true }, { webView: true }, { webView: true, iFrame: true }],
      ['status', {}, { status: 'Disapproved' }, { status: 'Approved' }],
      [
        'selectionReason',
        { selection_reason: 'OLD_TIMESTAMP' },
        { selectionReason: 'OLD_TIMESTAMP' },
        { selectionReason: 'X' },
      ],
      ['resultReason', {}, { resultReason: 'CAPTCHA.INVALID_SOLUTION' }, { resultReason: 'X' }],
      ['accessRule', { access_rule: 'ab12' }, { accessRule: 'ab12' }, { accessRule: 'ab1' }],
      ['policyType', { policy_type: 'restrict' }, { policyType: 'restrict' }, { policyType: 'block' }],
      [
        'triggeredDetectors',
        { detectors: ['automation', 'burst'] },
        { triggeredDetectors: ['burst'] },
        { triggeredDetectors: ['burst', 'headers'] },
      ],
      ['freeText', { host: 'Pay.Example' }, { freeText: 'pay.exa' }, { freeText: 'pay.exb' }],
    ],
    async ([, facts, matching, missing]) => {
      const account = await withFacts(facts);
      const found = await search(account, { searchCriteria: matching });
      expect([found.total, found.totalIsExact, found.records.length]).toEqual([1, true, 1]);
      expect(found.records[0].resultReason).toBe('CAPTCHA.INVALID_SOLUTION');
      expect((await search(account, { searchCriteria: missing })).records).toEqual([]);
    },
  ));

describe('the time range', () => {
  test('is the last seven days by default', async () => {
    const account = await newAccount();
    await writeCaptchas(account.account.id, account.site.siteKey, [
      { at: testNow() - 6 * DAY_MS },
      { at: testNow() - 8 * DAY_MS },
    ]);
    expect((await search(account)).total).toBe(1);
    expect((await search(account, { startDate: testNow() - 9 * DAY_MS })).total).toBe(2);
  });

  test('reaches back 30 days at most: an older startDate is moved forward', async () => {
    const account = await newAccount();
    await writeCaptchas(account.account.id, account.site.siteKey, [
      { at: testNow() - 29 * DAY_MS },
      { at: testNow() - 31 * DAY_MS },
    ]);
    expect((await search(account, { startDate: 0 })).total).toBe(1);
  });

  test('includes its endDate', async () => {
    const account = await newAccount();
    const at = recently();
    await writeCaptchas(account.account.id, account.site.siteKey, [{ at }, { at: at + 1 }]);
    expect((await search(account, { endDate: at })).total).toBe(1);
  });
});

describe('a page', () => {
  test('neither skips nor repeats a record while new ones arrive', async () => {
    const account = await newAccount();
    const at = recently();
    const { siteKey } = account.site;
    const jtis = await writeCaptchas(
      account.account.id,
      siteKey,
      Array.from({ length: 45 }, (_, index) => ({ at: at + Math.floor(index / 3) })),
    );
    const seen: string[] = [];
    let pagination: object = { limit: 10 };
    for (;;) {
      const page = await search(account, { pagination });
      seen.push(...page.records.map((record: any) => record.jti));
      await writeCaptchas(account.account.id, siteKey, [{ at: at + 1000 }]);
      if (!page.hasMore) break;
      pagination = { limit: 10, lastId: page.lastId, lastTimestamp: page.lastTimestamp };
    }
    expect(seen).toHaveLength(45);
    expect(new Set(seen)).toEqual(new Set(jtis));
  });

  test('of a search with a mistake is refused by its path', () =>
    expectRows(
      [
        [{ pagination: { limit: 0 } }, 'pagination.limit'],
        [{ pagination: { limit: 101 } }, 'pagination.limit'],
        [{ pagination: { lastTimestamp: 1 } }, 'pagination'],
        [{ captchaType: 'audio' }, 'captchaType'],
        [{ searchCriteria: { ip: '1.2.3' } }, 'searchCriteria.ip'],
        [{ searchCriteria: { colour: 'red' } }, 'searchCriteria.colour'],
        [{ startDate: '2026-01-01' }, 'startDate'],
        [{ startDate: 2, endDate: 1 }, 'startDate'],
      ],
      async ([body, path]) => {
        const { token } = await newAccount();
        const answer = await call(token, '/audit/searchcaptcharecords', body);
        expect([answer.status, answer.body.error.details[0].path]).toEqual([400, path]);
      },
    ));
});

test('a search covers one site or all, and a site of another account is 404', async () => {
  const account = await newAccount();
  const other = await newAccount();
  const { body } = await call(account.token, '/sites/create', { name: 'b', settings: { domains: ['b.example'] } });
  const at = recently();
  await writeCaptchas(account.account.id, account.site.siteKey, [{ at }]);
  await writeCaptchas(account.account.id, body.siteKey, [{ at }]);
  expect((await search(account)).total).toBe(2);
  expect((await search(account, { siteKey: body.siteKey })).total).toBe(1);
  expect((await search(other)).total).toBe(0);
  const foreign = await call(account.token, '/audit/searchcaptcharecords', { siteKey: other.site.siteKey });
  expect([foreign.status, foreign.body.error.key]).toEqual([404, 'GENERAL.SITE_KEY_NOT_FOUND']);
});

test('a search counts exactly, however many records it reads', async () => {
  const account = await newAccount();
  const at = recently();
  const BATCH = 500;
  for (let written = 0; written < 10_500; written += BATCH) {
    const list = Array.from({ length: BATCH }, (_, index) => ({ at: at - written - index }));
    await writeCaptchas(account.account.id, account.site.siteKey, list);
  }
  const body = await search(account, { searchCriteria: { countryCode: 'DE' }, pagination: { limit: 1 } });
  expect([body.total, body.totalIsExact, body.hasMore]).toEqual([10_500, true, true]);
});
