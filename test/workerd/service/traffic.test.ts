/** The traffic of an account's sites, with captchas of past days. */
import { describe, expect, test } from 'vitest';
import { writeCaptchas } from './captcha-events.ts';
import { call, newAccount } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ignored = { token: 'anything', accountId: 'of-somebody-else' };
/** A recent day, at midnight UTC. */
const day = Math.floor(testNow() / DAY_MS) * DAY_MS - 10 * DAY_MS;
const iso = (at: number) => new Date(at).toISOString();

async function traffic(token: string, body: object) {
  return call(token, '/gettrafficdata', { ...ignored, ...body });
}

describe('/gettrafficdata', () => {
  test('counts the results of every captcha by the hour, with rows of zeros', async () => {
    const { token, account, site } = await newAccount();
    await writeCaptchas(account.id, site.siteKey, [
      { at: day + 60_000, correct: true, verified: true },
      { at: day + 120_000, correct: false },
      { at: day + 180_000 },
      { at: day + 2 * HOUR_MS, type: 'image', correct: true },
      { at: day + 2 * HOUR_MS + 1, type: 'blocked' },
    ]);
    const { status, body } = await traffic(token, { startDate: iso(day), endDate: iso(day + 4 * HOUR_MS) });
    expect(status).toBe(200);
    expect(body.map((row: any) => [row.timestamp, row.granularity, row.total])).toEqual([
      [day, 'hour', 3],
      [day + HOUR_MS, 'hour', 0],
      [day + 2 * HOUR_MS, 'hour', 1],
      [day + 3 * HOUR_MS, 'hour', 0],
    ]);
    const first = { total: 3, submissions: 2, verifications: 1, approved: 1, disapproved: 1, pending: 1 };
    expect(body[0]).toMatchObject({ ...first, date: iso(day), blocked: 0, pow: first });
    expect(body[2]).toMatchObject({ blocked: 1, image: { total: 1, approved: 1 }, pow: { total: 0 } });
  });

  test('counts up to seven days by the hour, and more by the day', async () => {
    const { token } = await newAccount();
    const week = await traffic(token, { startDate: iso(day), endDate: iso(day + 7 * DAY_MS) });
    expect([week.body.length, week.body[0].granularity]).toEqual([168, 'hour']);
    const more = await traffic(token, { startDate: iso(day), endDate: iso(day + 7 * DAY_MS + 1) });
    expect([more.body.length, more.body[0].granularity]).toEqual([8, 'day']);
  });

  test('takes a month with its year, and the current month by default, in UTC', async () => {
    const { token } = await newAccount();
    const february = await traffic(token, { month: 2, year: 2024 });
    expect([february.body.length, february.body[0].date, february.body[28].date]).toEqual([
      29,
      '2024-02-01T00:00:00.000Z',
      '2024-02-29T00:00:00.000Z',
    ]);
    const now = new Date(testNow());
    const current = await traffic(token, {});
    expect(current.body[0].timestamp).toBe(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  });

  test('takes a day as endDate as the whole day', async () => {
    const { token } = await newAccount();
    const minutes = await traffic(token, { startDate: '2026-03-01T00:00Z', endDate: '2026-03-01T02:00Z' });
    expect(minutes.body).toHaveLength(2);
    const { body } = await traffic(token, { startDate: '2026-03-01', endDate: '2026-03-01' });
    expect(body).toHaveLength(24);
  });

  test('counts the chosen sites or all, and responds 404 for a site of another account', async () => {
    const { token, account, site } = await newAccount();
    const other = await newAccount();
    const second = await call(token, '/sites/create', { name: 'second', settings: { domains: ['b.example'] } });
    await writeCaptchas(account.id, site.siteKey, [{ at: day }]);
    await writeCaptchas(account.id, second.body.siteKey, [{ at: day }, { at: day }]);
    const range = { startDate: iso(day), endDate: iso(day + HOUR_MS) };
    const totals = async (siteKeys?: string[]) =>
      (await traffic(token, { ...range, ...(siteKeys ? { siteKeys } : {}) })).body[0].total;
    expect([await totals(), await totals([site.siteKey]), await totals([second.body.siteKey])]).toEqual([3, 1, 2]);
    const foreign = await traffic(token, { ...range, siteKeys: [site.siteKey, other.site.siteKey] });
    expect([foreign.status, foreign.body.error.details[0].path]).toEqual([404, 'siteKeys.1']);
  });

  test('a window with a mistake is refused by its path', () =>
    expectRows(
      [
        [{ startDate: iso(day) }, 'endDate'],
        [{ endDate: iso(day) }, 'startDate'],
        [{ startDate: iso(day), endDate: iso(day - 1) }, 'endDate'],
        [{ startDate: iso(day), endDate: iso(day + 1), month: 1, year: 2026 }, 'month'],
        [{ month: 1 }, 'year'],
        [{ year: 2026 }, 'month'],
        [{ month: 13, year: 2026 }, 'month'],
        [{ month: 0, year: 2026 }, 'month'],
        [{ startDate: 'yesterday', endDate: iso(day) }, 'startDate'],
        [{ startDate: '2000-01-01', endDate: '2020-01-01' }, 'startDate'],
      ],
      async ([body, path]) => {
        const { token } = await newAccount();
        const answer = await traffic(token, body);
        expect([answer.status, answer.body.error.details[0].path]).toEqual([400, path]);
      },
    ));

  test('requires token and accountId and ignores them', async () => {
    const { token } = await newAccount();
    for (const path of ['token', 'accountId']) {
      const body: Record<string, string> = { ...ignored };
      delete body[path];
      const answer = await call(token, '/gettrafficdata', body);
      expect([answer.status, answer.body.error.details[0].path]).toEqual([400, path]);
    }
  });
});

describe('/getlivesessions', () => {
  test('has only points with traffic, and describes the top addresses on a paid plan', async () => {
    const { token, account, site } = await newAccount({ tier: 'professional' });
    const minute = Math.floor(testNow() / 60_000) * 60_000;
    await writeCaptchas(account.id, site.siteKey, [
      { at: minute - 600_000, facts: { ip: '192.0.2.9', ip_category: ['vpn', 'datacenter'] } },
      { at: minute - 600_000, facts: { ip: '192.0.2.9', ip_category: ['vpn', 'datacenter'] } },
      { at: minute - 60_000, facts: { ip: '198.51.100.1' } },
      { at: minute - 2 * HOUR_MS },
    ]);
    const { status, body } = await call(token, '/getlivesessions', { ...ignored, siteKey: site.siteKey });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      points: [
        { timestamp: minute - 600_000, count: 2 },
        { timestamp: minute - 60_000, count: 1 },
      ],
      windowMinutes: 60,
      bucketSeconds: 60,
      uniqueIps: 2,
    });
    expect(body.topIps[0]).toEqual({
      ip: '192.0.2.9',
      count: 2,
      country: 'DE',
      asn: 64_496,
      isVpn: true,
      isProxy: false,
      isDatacenter: true,
    });
  });

  test('only names the top addresses on the free plan', async () => {
    const { token, account, site } = await newAccount({ tier: 'free' });
    await writeCaptchas(account.id, site.siteKey, [{ at: testNow() - 1000 }]);
    const { body } = await call(token, '/getlivesessions', { ...ignored, siteKey: site.siteKey });
    expect(body.topIps).toEqual([{ ip: '192.0.2.1', count: 1 }]);
  });

  test('a window that is out of range is refused by its path', () =>
    expectRows(
      [
        [{ windowMinutes: 4 }, 'windowMinutes'],
        [{ windowMinutes: 361 }, 'windowMinutes'],
        [{ bucketSeconds: 29 }, 'bucketSeconds'],
        [{ bucketSeconds: 3601 }, 'bucketSeconds'],
      ],
      async ([body, path]) => {
        const { token, site } = await newAccount();
        const answer = await call(token, '/getlivesessions', { ...ignored, siteKey: site.siteKey, ...body });
        expect([answer.status, answer.body.error.details[0].path]).toEqual([400, path]);
      },
    ));

  test('responds 404 for a site of another account', async () => {
    const { token } = await newAccount();
    const { site } = await newAccount();
    const answer = await call(token, '/getlivesessions', { ...ignored, siteKey: site.siteKey });
    expect([answer.status, answer.body.error.key]).toEqual([404, 'GENERAL.SITE_KEY_NOT_FOUND']);
  });
});
