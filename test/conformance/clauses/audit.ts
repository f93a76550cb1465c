/** Searching the records of single captchas. */
import { SignJWT } from 'jose';
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { type Account, type Clause, once } from '../service.ts';
import { stackNow } from '../../support/clock.ts';

const DAY_MS = 86_400_000;
const PATH = '/audit/searchcaptcharecords';

const search = (account: Account, body: object = {}) => account.api.post(PATH, body);

/** An account with one verified captcha, one without a solution, and one visitor who was blocked before any. */
const recorded = once(async (service) => {
  const account = await service.account();
  await account.block('userAgent', 'Blocked/1.0');
  const { siteKey, secretKey } = await account.addSite();
  await service.verify(secretKey, await service.token(siteKey, 'Mozilla/5.0 (solver)'));
  await service.challenge(siteKey, 'Mozilla/5.0 (silent)');
  await service.challenge(siteKey, 'Blocked/1.0');
  await eventually(
    () => search(account),
    ({ total, records }) => total === 3 && records.some((record) => record.verified === true),
  );
  return { account, siteKey };
});

export const audit: readonly Clause[] = [
  {
    kind: 'endpoint',
    says: 'POST /audit/searchcaptcharecords finds the captchas of every site, newest first, and counts them',
    async holds(service) {
      const { account, siteKey } = await recorded(service);
      const found = await search(account);
      expect(found).toMatchObject({ total: 3, totalIsExact: true, limit: 20, hasMore: false });
      const [blocked, , verified] = found.records;
      expect(blocked).toMatchObject({ siteKey, captchaType: 'blocked' });
      expect(verified).toMatchObject({ siteKey, captchaType: 'pow', status: 'Approved', ip: '127.0.0.1' });
      expect((await search(account, { siteKey })).total).toBe(3);
    },
  },
  {
    kind: 'field',
    says: 'captchaType chooses pow, image, puzzle, blocked requests or all, which is the default',
    async holds(service) {
      const { account } = await recorded(service);
      for (const [captchaType, total] of [
        ['pow', 2],
        ['image', 0],
        ['puzzle', 0],
        ['blocked', 1],
        ['all', 3],
      ] as const) {
        expect([captchaType, (await search(account, { captchaType })).total]).toEqual([captchaType, total]);
      }
      await account.refused(PATH, { captchaType: 'audio' }, 'captchaType');
    },
  },
  {
    kind: 'field',
    says: 'searchCriteria takes sixteen criteria, and all that are given must match',
    async holds(service) {
      const { account } = await recorded(service);
      for (const [criterion, matching, total, missing] of [
        ['ip', '127.0.0.1', 3, '192.0.2.99'],
        ['userAgent', 'SOLVER', 1, 'nobody'],
        ['vpn', false, 3, true],
        ['webView', false, 3, true],
        ['policyType', 'block', 1, 'restrict'],
        ['resultReason', 'API.ACCESS_POLICY_BLOCK', 1, 'CAPTCHA.INVALID_SOLUTION'],
        ['freeText', 'solver', 1, 'nobody'],
      ] as const) {
        const count = async (value: unknown) =>
          (await search(account, { searchCriteria: { [criterion]: value } })).total;
        expect([criterion, await count(matching), await count(missing)]).toEqual([criterion, total, 0]);
      }
      for (const [criterion, missing] of [
        ['ja4', 't13d1516h2_8daaf6152771_02713d6af862'],
        ['userAccount', 'u-1'],
        ['countryCode', 'NL'],
        ['deviceType', 'tablet'],
        ['iFrame', true],
        ['selectionReason', 'OLD_TIMESTAMP'],
        ['accessRule', 'none'],
        ['triggeredDetectors', ['none-of-them']],
        ['triggeredDetectors', 'none-of-them'],
        ['policyType', 'allow'],
      ] as const) {
        expect([criterion, (await search(account, { searchCriteria: { [criterion]: missing } })).total]).toEqual([
          criterion,
          0,
        ]);
      }
      for (const status of ['Approved', 'Pending', 'Disapproved'] as const) {
        expect([status, (await search(account, { searchCriteria: { status } })).total]).toEqual([status, 1]);
      }
      const both = { status: 'Approved', userAgent: 'silent' } as const;
      expect((await search(account, { searchCriteria: both })).total).toBe(0);
      await account.refused(PATH, { searchCriteria: { colour: 'red' } }, 'searchCriteria.colour');
    },
  },
  {
    kind: 'field',
    says: 'userAccount finds the account that the site signed or verified with, and iFrame what the widget reported',
    async holds(service) {
      const account = await service.account();
      const { siteKey, secretKey } = await account.addSite();
      const userToken = await new SignJWT({ sub: 'u-1' })
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(secretKey));
      await service.challenge(siteKey, 'Mozilla/5.0 (signed)', { userToken, iFrame: true });
      await service.challenge(siteKey, 'Mozilla/5.0 (claimed)', { userToken: 'u-1', iFrame: false });
      await service.verify(secretKey, await service.token(siteKey, 'Mozilla/5.0 (named)'), { userAccount: 'u-2' });
      for (const [searchCriteria, userAgent] of [
        [{ userAccount: 'u-1' }, 'Mozilla/5.0 (signed)'],
        [{ userAccount: 'u-2' }, 'Mozilla/5.0 (named)'],
        [{ iFrame: true }, 'Mozilla/5.0 (signed)'],
        [{ iFrame: false }, 'Mozilla/5.0 (claimed)'],
      ] as const) {
        const { records } = await eventually(
          () => search(account, { searchCriteria }),
          ({ total }) => total === 1,
        );
        expect([searchCriteria, records[0]?.userAgent]).toEqual([searchCriteria, userAgent]);
      }
    },
  },
  {
    kind: 'field',
    says: 'startDate and endDate are epoch milliseconds, both inclusive',
    async holds(service) {
      const { account } = await recorded(service);
      const moments = (await search(account)).records.map(({ timestamp }) => timestamp);
      const [first, last] = [Math.min(...moments), Math.max(...moments)];
      expect((await search(account, { startDate: first, endDate: last })).total).toBe(3);
      expect((await search(account, { endDate: first - 1 })).total).toBe(0);
      await account.refused(PATH, { startDate: '2026-01-01' }, 'startDate');
    },
  },
  {
    kind: 'silent',
    says: 'a startDate older than 30 days is moved forward, not refused',
    async holds(service) {
      const { account } = await recorded(service);
      for (const startDate of [0, stackNow() - 31 * DAY_MS]) {
        expect((await search(account, { startDate })).total).toBe(3);
      }
    },
  },
  {
    kind: 'field',
    says: 'lastId and lastTimestamp of a page lead to the next one, without gap or repetition',
    async holds(service) {
      const { account } = await recorded(service);
      const first = await search(account, { pagination: { limit: 2 } });
      expect(first).toMatchObject({ total: 3, limit: 2, hasMore: true });
      const { lastId, lastTimestamp } = first;
      const second = await search(account, { pagination: { limit: 2, lastId, lastTimestamp } });
      expect(second.hasMore).toBe(false);
      const ids = [...first.records, ...second.records].map(({ id }) => id);
      expect(ids).toEqual((await search(account)).records.map(({ id }) => id));
    },
  },
  {
    kind: 'limit',
    says: 'pagination.limit is 1 to 100 and 20 by default',
    async holds(service) {
      const account = await service.account();
      expect((await search(account)).limit).toBe(20);
      for (const limit of [1, 100]) expect((await search(account, { pagination: { limit } })).limit).toBe(limit);
      for (const limit of [0, 101]) await account.refused(PATH, { pagination: { limit } }, 'pagination.limit');
    },
  },
  {
    kind: 'rejection',
    says: 'a site key that the account does not own is 404 in a search',
    async holds(service) {
      const [account, other] = [await service.account(), await service.account()];
      const { siteKey } = await other.addSite();
      expect((await account.call(PATH, { siteKey })).status).toBe(404);
    },
  },
];
