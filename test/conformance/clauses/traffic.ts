/** Counts of captchas by period, and what a site sees right now. */
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Account, Clause } from '../service.ts';
import { stackNow } from '../../support/clock.ts';

const DAY_MS = 86_400_000;
/** Both are required and neither counts. */
const ignored = { token: 'anything', accountId: 'another-account' };
const iso = (ms: number): string => new Date(ms).toISOString();
const start = Date.UTC(2026, 0, 10);

const rows = (account: Account, body: object) => account.api.post('/gettrafficdata', { ...ignored, ...body });
const live = (account: Account, siteKey: string) => account.api.post('/getlivesessions', { ...ignored, siteKey });

export const traffic: readonly Clause[] = [
  {
    kind: 'endpoint',
    says: 'POST /gettrafficdata counts what became of the captchas of every site, or of the chosen ones',
    async holds(service) {
      const account = await service.account();
      const [one, two] = [await account.addSite(), await account.addSite()];
      await service.verify(one.secretKey, await service.token(one.siteKey));
      await service.challenge(two.siteKey);
      await service.challenge(two.siteKey);
      const total = async (siteKeys?: string[]) =>
        (await rows(account, siteKeys ? { siteKeys } : {})).reduce((sum, row) => sum + row.total, 0);
      await eventually(
        () => Promise.all([total(), total([one.siteKey]), total([two.siteKey])]),
        (totals) => totals.join() === '3,1,2',
      );
      const verified = (await rows(account, { siteKeys: [one.siteKey] })).find((row) => row.total === 1);
      expect(verified).toMatchObject({ submissions: 1, verifications: 1, approved: 1, pow: { total: 1 } });
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /getlivesessions returns the points of a site that saw traffic, and its addresses',
    async holds(service) {
      const account = await service.account({ tier: 'free' });
      const { siteKey } = await account.addSite();
      expect(await live(account, siteKey)).toMatchObject({ points: [], uniqueIps: 0, topIps: [] });
      await service.challenge(siteKey);
      const seen = await eventually(
        () => live(account, siteKey),
        ({ uniqueIps }) => uniqueIps === 1,
      );
      expect(seen.points.map(({ count }) => count)).toEqual([1]);
      expect(seen.topIps).toEqual([{ ip: '127.0.0.1', count: 1 }]);
    },
  },
  {
    kind: 'field',
    says: 'an entry of topIps has country, network and the flags for VPN, proxy and datacenter on paid tiers',
    async holds(service) {
      for (const tier of ['professional', 'enterprise'] as const) {
        const account = await service.account({ tier });
        const { siteKey } = await account.addSite();
        await service.challenge(siteKey);
        const { topIps } = await eventually(
          () => live(account, siteKey),
          ({ uniqueIps }) => uniqueIps === 1,
        );
        expect(Object.keys(topIps[0] ?? {}).toSorted()).toEqual(
          ['asn', 'count', 'country', 'ip', 'isDatacenter', 'isProxy', 'isVpn'].toSorted(),
        );
      }
    },
  },
  {
    kind: 'silent',
    says: 'token and accountId of a traffic call must be there and are ignored: the account is that of the key',
    async holds(service) {
      const [account, other] = [await service.account(), await service.account()];
      const { siteKey } = await account.addSite();
      const foreign = { token: other.key, accountId: other.id };
      await account.api.post('/gettrafficdata', { ...foreign, siteKeys: [siteKey] });
      await account.api.post('/getlivesessions', { ...foreign, siteKey });
      for (const [path, body] of [
        ['/gettrafficdata', {}],
        ['/getlivesessions', { siteKey }],
      ] as const) {
        await account.refused(path, { ...body, token: 'x' }, 'accountId');
        await account.refused(path, { ...body, accountId: 'x' }, 'token');
        await account.refused(path, { ...body, token: '', accountId: 'x' }, 'token');
      }
    },
  },
  {
    kind: 'field',
    says: 'the range is startDate with endDate, or month with year, and the current month by default',
    async holds(service) {
      const account = await service.account();
      const pair = await rows(account, { startDate: iso(start), endDate: iso(start + DAY_MS) });
      expect([pair.length, pair[0]?.date]).toEqual([24, iso(start)]);
      const february = await rows(account, { month: 2, year: 2024 });
      expect([february.length, february[28]?.date]).toEqual([29, iso(Date.UTC(2024, 1, 29))]);
      const now = new Date(stackNow());
      const [first] = await rows(account, {});
      expect(first?.timestamp).toBe(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
    },
  },
  {
    kind: 'limit',
    says: 'a range of more than seven days is counted by the day, a shorter one by the hour',
    async holds(service) {
      const account = await service.account();
      const granularity = async (days: number) => {
        const [row] = await rows(account, { startDate: iso(start), endDate: iso(start + days * DAY_MS) });
        return row?.granularity;
      };
      expect([await granularity(6), await granularity(7), await granularity(8)]).toEqual(['hour', 'hour', 'day']);
    },
  },
  {
    kind: 'limit',
    says: 'a range has up to 7,305 days, twenty years, and may begin long before the log',
    async holds(service) {
      const account = await service.account();
      expect(await rows(account, { month: 12, year: 1999 })).toHaveLength(31);
      expect(await rows(account, { startDate: '20200101', endDate: '2025-12-31' })).toHaveLength(2192);
      expect(await rows(account, { startDate: '2001-01-01', endDate: '2020-12-31' })).toHaveLength(7305);
      const longer = { ...ignored, startDate: '2001-01-01', endDate: '2021-01-01' };
      await account.refused('/gettrafficdata', longer, 'startDate');
    },
  },
  {
    kind: 'limit',
    says: 'month is 1 to 12 and comes with a year',
    async holds(service) {
      const account = await service.account();
      for (const month of [1, 12]) expect((await rows(account, { month, year: 2026 })).length).toBe(31);
      for (const month of [0, 13]) await account.refused('/gettrafficdata', { ...ignored, month, year: 2026 }, 'month');
      await account.refused('/gettrafficdata', { ...ignored, month: 1 }, 'year');
    },
  },
  {
    kind: 'limit',
    says: 'windowMinutes is 5 to 360 and 60 by default, bucketSeconds 30 to 3600 and 60 by default',
    async holds(service) {
      const account = await service.account();
      const { siteKey } = await account.addSite();
      expect(await live(account, siteKey)).toMatchObject({ windowMinutes: 60, bucketSeconds: 60 });
      for (const [field, least, most] of [
        ['windowMinutes', 5, 360],
        ['bucketSeconds', 30, 3600],
      ] as const) {
        const body = { ...ignored, siteKey };
        for (const value of [least, most]) {
          expect(await account.api.post('/getlivesessions', { ...body, [field]: value })).toMatchObject({
            [field]: value,
          });
        }
        for (const value of [least - 1, most + 1]) {
          await account.refused('/getlivesessions', { ...body, [field]: value }, field);
        }
      }
    },
  },
  {
    kind: 'rejection',
    says: 'a site key that the account does not own is 404 on both traffic calls',
    async holds(service) {
      const [account, other] = [await service.account(), await service.account()];
      const { siteKey } = await other.addSite();
      const own = (await account.addSite()).siteKey;
      expect((await account.call('/gettrafficdata', { ...ignored, siteKeys: [own, siteKey] })).status).toBe(404);
      expect((await account.call('/getlivesessions', { ...ignored, siteKey })).status).toBe(404);
    },
  },
];
