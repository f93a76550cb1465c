/** Access control rules: what a visitor meets in the widget, on every site of the account. */
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Clause } from '../service.ts';
import { stackNow } from '../../support/clock.ts';

const HOUR_MS = 3_600_000;
const ipIs = (value: string) => ({ field: 'ip', operator: 'equals', value }) as const;
const block = (ip: string, more: object = {}) => ({
  rule: { type: 'block' as const, conditions: [ipIs(ip)], ...more },
});

export const accessControl: readonly Clause[] = [
  {
    kind: 'endpoint',
    says: 'POST /access-control/create adds a rule and responds "Added new rule"',
    async holds(service) {
      const account = await service.account();
      expect(await account.api.post('/access-control/create', block('192.0.2.1'))).toEqual({
        status: 'Added new rule',
      });
      expect((await account.api.post('/access-control/get')).rules).toMatchObject([
        { type: 'block', conditions: [ipIs('192.0.2.1')] },
      ]);
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /access-control/get pages, filters, sorts and counts the rules and their groups',
    async holds(service) {
      const account = await service.account();
      for (const [ip, ruleGroupId] of [
        ['192.0.2.1', 'a'],
        ['192.0.2.2', 'a'],
        ['192.0.2.3', 'b'],
      ] as const) {
        await account.api.post('/access-control/create', block(ip, { ruleGroupId, description: ip }));
      }
      const { rules, ...counts } = await account.api.post('/access-control/get', { page: 2, limit: 2 });
      expect(rules).toHaveLength(1);
      expect(counts).toMatchObject({ ruleCount: 3, page: 2, pages: 2 });
      expect(counts.ruleGroupsAndCounts).toEqual(
        expect.arrayContaining([
          { ruleGroupId: 'a', count: 2 },
          { ruleGroupId: 'b', count: 1 },
        ]),
      );
      expect((await account.api.post('/access-control/get', { ruleGroupId: 'a' })).ruleCount).toBe(2);
      const sorted = (sortOrder: 1 | -1) =>
        account.api.post('/access-control/get', { sortBy: 'description', sortOrder });
      const descriptions = async (order: 1 | -1) => (await sorted(order)).rules.map((rule) => rule.description);
      expect(await descriptions(1)).toEqual(['192.0.2.1', '192.0.2.2', '192.0.2.3']);
      expect(await descriptions(-1)).toEqual(['192.0.2.3', '192.0.2.2', '192.0.2.1']);
      for (const sortBy of ['createdAt', 'expiry', 'userScopeHash', 'ruleGroupId'] as const) {
        expect((await account.api.post('/access-control/get', { sortBy })).ruleCount).toBe(3);
      }
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /access-control/delete deletes the rule with that userScopeHash and responds "Deleted rule"',
    async holds(service) {
      const account = await service.account();
      await account.api.post('/access-control/create', block('192.0.2.1'));
      await account.api.post('/access-control/create', block('192.0.2.2'));
      const userScopeHash = (await account.api.post('/access-control/get')).rules[0]!.userScopeHash;
      expect(await account.api.post('/access-control/delete', { userScopeHash })).toEqual({ status: 'Deleted rule' });
      const left = (await account.api.post('/access-control/get')).rules.map((rule) => rule.userScopeHash);
      expect(left).toHaveLength(1);
      expect(left).not.toContain(userScopeHash);
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /access-control/group/delete names a job that removes every rule of the group, and no other',
    async holds(service) {
      const account = await service.account();
      await account.api.post('/access-control/create', block('192.0.2.1', { ruleGroupId: 'gone' }));
      await account.api.post('/access-control/create', block('192.0.2.2', { ruleGroupId: 'gone' }));
      await account.api.post('/access-control/create', block('192.0.2.3', { ruleGroupId: 'kept' }));
      const { status, jobId } = await account.api.post('/access-control/group/delete', { ruleGroupId: 'gone' });
      expect(status).toBe(`Group removal pending. Job ID: ${jobId}`);
      const { rules } = await eventually(
        () => account.api.post('/access-control/get'),
        ({ ruleCount }) => ruleCount === 1,
      );
      expect(rules[0]?.ruleGroupId).toBe('kept');
    },
  },
  {
    kind: 'field',
    says: 'conditions accept each of the seven fields',
    async holds(service) {
      const account = await service.account();
      const values = {
        ip: '2001:db8::1',
        ipMask: '192.0.2.0/24',
        userId: 'u-1',
        ja4Hash: 't13d1516h2_8daaf6152771_02713d6af862',
        userAgent: 'Bot/1.0',
        countryCode: 'NL',
        asn: 64496,
      };
      const conditions = Object.entries(values).map(([field, value]) => ({ field, operator: 'equals', value }));
      expect((await account.call('/access-control/create', { rule: { type: 'block', conditions } })).status).toBe(200);
      const listed = (await account.api.post('/access-control/get')).rules[0]?.conditions ?? [];
      expect(listed.map(({ field }) => field).toSorted()).toEqual(Object.keys(values).toSorted());
    },
  },
  {
    kind: 'field',
    says: 'conditions are combined with AND',
    async holds(service) {
      const account = await service.account();
      const { siteKey } = await account.addSite();
      const conditions = [
        { field: 'userAgent', operator: 'equals', value: 'Both/1.0' },
        { field: 'ip', operator: 'equals', value: '127.0.0.1' },
      ] as const;
      const elsewhere = [
        { ...conditions[0], value: 'Half/1.0' },
        { ...conditions[1], value: '192.0.2.1' },
      ] as const;
      await account.api.post('/access-control/create', { rule: { type: 'block', conditions: [...conditions] } });
      await account.api.post('/access-control/create', { rule: { type: 'block', conditions: [...elsewhere] } });
      expect((await service.challenge(siteKey, 'Both/1.0')).status).toBe(403);
      expect((await service.challenge(siteKey, 'Half/1.0')).status).toBe(200);
    },
  },
  {
    kind: 'field',
    says: 'a userId condition matches the account that the site’s backend names, and nothing that a visitor sends',
    async holds(service) {
      const account = await service.account();
      const { siteKey, secretKey } = await account.addSite();
      await account.block('userId', 'u-1');
      expect((await service.challenge(siteKey, undefined, { sessionId: 'u-1', userToken: 'u-1' })).status).toBe(200);
      const answer = await service.verify(secretKey, await service.token(siteKey), { userAccount: 'u-1' });
      expect(answer).toMatchObject({ verified: false, reason: 'API.ACCESS_POLICY_BLOCK' });
    },
  },
  {
    kind: 'field',
    says: 'a block rule fails the request outright, on every site of the account and on no other',
    async holds(service) {
      const [account, other] = [await service.account(), await service.account()];
      await account.block('userAgent', 'Blocked/1.0');
      for (const [owner, status] of [
        [account, 403],
        [account, 403],
        [other, 200],
      ] as const) {
        const { siteKey } = await owner.addSite();
        expect((await service.challenge(siteKey, 'Blocked/1.0')).status).toBe(status);
      }
    },
  },
  {
    kind: 'field',
    says: 'a restrict rule serves another challenge to those it matches',
    async holds(service) {
      const account = await service.account();
      await account.api.post('/access-control/create', {
        rule: {
          type: 'restrict',
          conditions: [{ field: 'userAgent', operator: 'equals', value: 'Restricted/1.0' }],
          captchaType: 'image',
        },
      });
      const { siteKey } = await account.addSite();
      expect((await service.challenge(siteKey, 'Restricted/1.0')).body.kind).toBe('image');
      expect((await service.challenge(siteKey, 'Another/1.0')).body.kind).toBe('pow');
    },
  },
  {
    kind: 'field',
    says: 'a restrict rule keeps every field that only restrict rules have',
    async holds(service) {
      const account = await service.account();
      const restriction = {
        captchaType: 'image',
        solvedImagesCount: 3,
        unsolvedImagesCount: 2,
        imageThreshold: 0.7,
        powDifficulty: 5.5,
        frictionlessScore: 0.3,
        deferToVerify: true,
      } as const;
      await account.api.post('/access-control/create', {
        rule: { type: 'restrict', conditions: [ipIs('192.0.2.1')], ...restriction },
      });
      expect((await account.api.post('/access-control/get')).rules[0]).toMatchObject(restriction);
    },
  },
  {
    kind: 'field',
    says: 'a listed rule can be passed back to create unchanged',
    async holds(service) {
      const account = await service.account();
      const rule = { ruleGroupId: 'g', description: 'slow', captchaType: 'pow', powDifficulty: 6 } as const;
      await account.api.post('/access-control/create', {
        rule: { type: 'restrict', conditions: [ipIs('2001:DB8:0::1')], ...rule },
      });
      const [listed] = (await account.api.post('/access-control/get')).rules;
      await account.api.post('/access-control/create', { rule: listed! });
      const again = await account.api.post('/access-control/get');
      expect(again.rules).toEqual([{ ...listed!, updatedAt: again.rules[0]?.updatedAt }]);
    },
  },
  {
    kind: 'field',
    says: 'a listed rule can be passed back to create unchanged after its expiry, and stays expired',
    async holds(service) {
      const account = await service.account();
      const expiry = new Date(stackNow() + 1000).toISOString();
      await account.api.post('/access-control/create', block('192.0.2.9', { expiry }));
      const [listed] = (await account.api.post('/access-control/get')).rules;
      await eventually(
        () => account.api.post('/access-control/get'),
        ({ rules }) => rules[0]!.expired,
      );
      await account.api.post('/access-control/create', { rule: listed! });
      expect((await account.api.post('/access-control/get')).rules).toMatchObject([{ expiry, expired: true }]);
    },
  },
  {
    kind: 'limit',
    says: 'a rule without expiry expires one hour after its creation',
    async holds(service) {
      const account = await service.account();
      const before = stackNow();
      await account.api.post('/access-control/create', block('192.0.2.1'));
      const expiry = Date.parse((await account.api.post('/access-control/get')).rules[0]!.expiry);
      expect(expiry).toBeGreaterThanOrEqual(before + HOUR_MS);
      expect(expiry).toBeLessThanOrEqual(stackNow() + HOUR_MS);
    },
  },
  {
    kind: 'rejection',
    says: 'an expiry that has passed is refused',
    async holds(service) {
      const account = await service.account();
      for (const expiry of ['2020-01-01T00:00:00Z', new Date(stackNow() - 60_000).toISOString()]) {
        const rule = { type: 'block', conditions: [{ field: 'asn', operator: 'equals', value: 64496 }], expiry };
        await account.refused('/access-control/create', { rule }, 'rule.expiry');
      }
      expect((await account.api.post('/access-control/get')).ruleCount).toBe(0);
    },
  },
  {
    kind: 'state',
    says: 'a rule has no effect once its expiry is reached',
    async holds(service) {
      const account = await service.account();
      const { siteKey } = await account.addSite();
      await account.block('userAgent', 'Soon/1.0', { expiry: new Date(stackNow() + 5000).toISOString() });
      expect((await service.challenge(siteKey, 'Soon/1.0')).status).toBe(403);
      await eventually(
        () => service.challenge(siteKey, 'Soon/1.0'),
        ({ status }) => status === 200,
      );
    },
  },
  {
    kind: 'state',
    says: 'a rule acts soon after its creation, also where the rules were known before',
    async holds(service) {
      const account = await service.account();
      const { siteKey } = await account.addSite();
      expect((await service.challenge(siteKey, 'Later/1.0')).status).toBe(200);
      await account.block('userAgent', 'Later/1.0');
      await eventually(
        () => service.challenge(siteKey, 'Later/1.0'),
        ({ status }) => status === 403,
      );
    },
  },
  {
    kind: 'silent',
    says: 'a condition whose operator is not equals is dropped',
    async holds(service) {
      const account = await service.account();
      const dropped = { field: 'asn', operator: 'contains', value: 64496 } as const;
      const { status } = await account.call('/access-control/create', {
        rule: { type: 'block', conditions: [ipIs('192.0.2.1'), dropped] },
      });
      expect(status).toBe(200);
      expect((await account.api.post('/access-control/get')).rules[0]?.conditions).toEqual([ipIs('192.0.2.1')]);
    },
  },
  {
    kind: 'limit',
    says: '/access-control/get returns at most 10,000 rules a page',
    async holds(service) {
      const account = await service.account();
      await account.api.post('/access-control/get', { limit: 10_000 });
      await account.refused('/access-control/get', { limit: 10_001 }, 'limit');
    },
  },
  {
    kind: 'rejection',
    says: '/access-control/get refuses an unknown sortBy or sortOrder, and a page or limit below 1',
    async holds(service) {
      const account = await service.account();
      for (const [field, value] of [
        ['sortBy', 'type'],
        ['sortOrder', 0],
        ['sortOrder', 2],
        ['page', 0],
        ['limit', 0],
      ] as const) {
        await account.refused('/access-control/get', { [field]: value }, field);
      }
    },
  },
  {
    kind: 'rejection',
    says: 'a block rule with captchaType or solvedImagesCount is refused, and so is one without a type',
    async holds(service) {
      const account = await service.account();
      await account.refused('/access-control/create', block('192.0.2.1', { captchaType: 'image' }), 'rule.captchaType');
      await account.refused(
        '/access-control/create',
        block('192.0.2.1', { solvedImagesCount: 3 }),
        'rule.solvedImagesCount',
      );
      await account.refused('/access-control/create', { rule: { conditions: [ipIs('192.0.2.1')] } }, 'rule.type');
      expect((await account.api.post('/access-control/get')).ruleCount).toBe(0);
    },
  },
  {
    kind: 'rejection',
    says: 'an unknown field and a value that does not fit its field are refused by their place',
    async holds(service) {
      const account = await service.account();
      for (const [field, value, path] of [
        ['colour', 'red', 'field'],
        ['ip', '1.2.3', 'value'],
        ['ipMask', '192.0.2.1', 'value'],
        ['countryCode', 'XQ', 'value'],
        ['ja4Hash', 'x', 'value'],
        ['asn', -1, 'value'],
      ] as const) {
        const conditions = [{ field, operator: 'equals', value }];
        const body = { rule: { type: 'block', conditions } };
        await account.refused('/access-control/create', body, `rule.conditions.0.${path}`);
      }
    },
  },
];
