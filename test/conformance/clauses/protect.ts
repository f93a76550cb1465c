/** Protect: instances, the credential of their edges, and edge access rules. */
import { decodeJwt } from 'jose';
import { expect } from 'vitest';
import type { Clause } from '../service.ts';

const WEEK_SECONDS = 7 * 86_400;
const CENTURY_SECONDS = 100 * 365 * 86_400;
const NO_INSTANCE = { error: expect.stringMatching(/no active protect instance/i) as string };

const values = {
  ip: '192.0.2.1',
  ipMask: '192.0.2.0/24',
  ja4Hash: 't13d1516h2_8daaf6152771_02713d6af862',
  userAgent: 'badbot',
  countryCode: 'NL',
  asn: '64496',
} as const;
const types = Object.keys(values) as (keyof typeof values)[];

export const protect: readonly Clause[] = [
  {
    kind: 'endpoint',
    says: 'POST /protect/instances/create makes an active instance of name, cname and global site key, and POST /protect/instances lists it',
    async holds(service) {
      const account = await service.account();
      const { siteKey } = await account.addSite();
      const cname = `${service.nextName()}.example.org`;
      const made = await account.api.post('/protect/instances/create', {
        name: 'Shop',
        cname,
        globalSiteKey: siteKey,
        ipCategoryRules: { tor: 'block' },
      });
      expect(made).toMatchObject({ name: 'Shop', cname, globalSiteKey: siteKey, active: true });
      expect(made.ipCategoryRules).toEqual({ tor: 'block' });
      expect(await account.api.post('/protect/instances')).toEqual([made]);
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/instances/update changes the fields that are sent',
    async holds(service) {
      const account = await service.account();
      const made = await account.addInstance();
      const changed = await account.api.post('/protect/instances/update', {
        id: made.id,
        name: 'Renamed',
        rollout: 25,
      });
      expect(changed).toEqual({
        ...made,
        name: 'Renamed',
        rollout: 25,
        version: changed.version,
        updatedAt: changed.updatedAt,
      });
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/instances/delete makes the instance inactive and its client JWTs invalid',
    async holds(service) {
      const account = await service.account();
      const { id } = await account.addInstance();
      const { clientJwt } = await account.api.post('/protect/client-jwt/generate', {
        protectInstanceId: id,
        expiresInWeeks: 1,
      });
      await account.api.post('/protect/instances/delete', { id });
      expect((await account.api.post('/protect/instances')).map(({ active }) => active)).toEqual([false]);
      const call = { method: 'GET', authorization: `Bearer ${clientJwt}` };
      expect((await service.send('/edge/v1/config', undefined, call)).status).toBe(401);
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/client-jwt/generate issues the credential of an edge for so many weeks; 0 is effectively unlimited',
    async holds(service) {
      const account = await service.account();
      const { id } = await account.addInstance();
      for (const [expiresInWeeks, seconds] of [
        [2, 2 * WEEK_SECONDS],
        [0, CENTURY_SECONDS],
      ] as const) {
        const made = await account.api.post('/protect/client-jwt/generate', { protectInstanceId: id, expiresInWeeks });
        const { iat = 0, exp = 0 } = decodeJwt(made.clientJwt);
        expect(exp - iat).toBe(seconds);
        const edge = { method: 'GET', authorization: `Bearer ${made.clientJwt}` };
        expect((await service.send('/edge/v1/config', undefined, edge)).body.instanceId).toBe(id);
        expect((await service.send('/protect/instances', {}, { authorization: edge.authorization })).status).toBe(401);
      }
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/access-rules/create accepts six types with three verdicts each, and POST /protect/access-rules lists them',
    async holds(service) {
      const account = await service.account();
      await account.addInstance();
      for (const verdict of ['allow', 'challenge', 'block'] as const) {
        const rules = types.map((type) => ({ type, value: values[type], verdict }));
        await account.api.post('/protect/access-rules/create', { rules });
        const listed = await account.api.post('/protect/access-rules');
        const seen = listed.rules.map((rule) => [rule.type, rule.value, rule.verdict]);
        expect(seen).toHaveLength(types.length);
        expect(seen).toEqual(expect.arrayContaining(types.map((type) => [type, values[type], verdict])));
      }
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /protect/access-rules/delete removes the rules with that type and value, and no other',
    async holds(service) {
      const account = await service.account();
      await account.addInstance();
      const rules = types.map((type) => ({ type, value: values[type], verdict: 'block' as const }));
      await account.api.post('/protect/access-rules/create', { rules });
      const conditions = [
        { type: 'ip' as const, value: values.ip },
        { type: 'asn' as const, value: values.asn },
      ];
      await account.api.post('/protect/access-rules/delete', { conditions });
      const left = (await account.api.post('/protect/access-rules')).rules.map(({ type }) => type);
      expect(left.toSorted()).toEqual(types.filter((type) => type !== 'ip' && type !== 'asn').toSorted());
    },
  },
  {
    kind: 'rejection',
    says: 'an edge access rule of another type or verdict is refused, and the whole batch with it',
    async holds(service) {
      const account = await service.account();
      await account.addInstance();
      const good = { type: 'ip', value: '192.0.2.1', verdict: 'block' };
      for (const bad of [
        { ...good, type: 'userId' },
        { ...good, verdict: 'restrict' },
        { ...good, value: '1.2.3' },
      ]) {
        const { status, paths } = await account.call('/protect/access-rules/create', { rules: [good, bad] });
        expect([status, paths[0]?.startsWith('rules[1].')]).toEqual([400, true]);
      }
      expect((await account.api.post('/protect/access-rules')).rules).toEqual([]);
    },
  },
  {
    kind: 'rejection',
    says: 'two rules for one condition with different verdicts in one call are refused, and nothing is stored',
    async holds(service) {
      const account = await service.account();
      await account.addInstance();
      const rule = { type: 'ip', value: '192.0.2.1', verdict: 'allow' };
      const { status, paths } = await account.call('/protect/access-rules/create', {
        rules: [rule, { ...rule, verdict: 'block' }],
      });
      expect([status, paths]).toEqual([400, ['rules[1]']]);
      expect((await account.api.post('/protect/access-rules')).rules).toEqual([]);
    },
  },
  {
    kind: 'field',
    says: 'without siteKey a call is about the account’s active instance, with it about the instance of that site',
    async holds(service) {
      const account = await service.account();
      const first = await account.addInstance();
      const rules = [{ type: 'ip' as const, value: '192.0.2.1', verdict: 'block' as const }];
      await account.api.post('/protect/access-rules/create', { rules });
      const { globalSiteKey: siteKey } = first;
      expect((await account.api.post('/protect/access-rules', { siteKey })).rules).toHaveLength(1);
      expect((await account.api.post('/protect/access-rules', {})).rules).toHaveLength(1);
    },
  },
  {
    kind: 'field',
    says: 'without siteKey, access rules of several active instances are those of the oldest, which the response names; a call with ifVersion is 409 and lists them',
    async holds(service) {
      const account = await service.account();
      const instances = [await account.addInstance(), await account.addInstance()];
      const rules = [{ type: 'ip' as const, value: '192.0.2.1', verdict: 'block' as const }];
      const conditions = [{ type: 'ip', value: '192.0.2.1' }];
      const [{ globalSiteKey: oldest }, { globalSiteKey: newer }] = [instances[0]!, instances[1]!];
      const rulesOf = async (siteKey: string) => (await account.api.post('/protect/access-rules', { siteKey })).total;
      for (const [path, body, left] of [
        ['/protect/access-rules/create', { rules }, 1],
        ['/protect/access-rules/delete', { conditions }, 0],
      ] as const) {
        const done = await account.call(path, body);
        expect([path, done.status, done.headers.get('x-protect-site-key')]).toEqual([path, 200, oldest]);
        expect([path, await rulesOf(oldest), await rulesOf(newer)]).toEqual([path, left, 0]);
        const { status, body: answer } = await account.call(path, { ...body, ifVersion: done.body.version });
        const { key, details } = answer.error;
        expect([path, status, key, details.length]).toEqual([path, 409, 'API.CONFLICT', 2]);
        for (const { globalSiteKey, cname } of instances) {
          expect(JSON.stringify(details)).toContain(`${globalSiteKey}: Shop, ${cname}`);
        }
      }
      expect([await rulesOf(oldest), await rulesOf(newer)]).toEqual([0, 0]);
      await account.api.post('/protect/access-rules/create', { rules, siteKey: newer });
      expect([await rulesOf(oldest), await rulesOf(newer)]).toEqual([0, 1]);
    },
  },
  {
    kind: 'field',
    says: 'without siteKey a read is about the oldest active instance, and every response names its site key',
    async holds(service) {
      const account = await service.account();
      const [first, second] = [await account.addInstance(), await account.addInstance()];
      for (const [path, body] of [
        ['/protect/access-rules', {}],
        ['/protect/access-rules/export', { format: 'csv' }],
        ['/protect/verdicts', {}],
        ['/protect/traffic-summary', {}],
      ] as const) {
        for (const { globalSiteKey: siteKey } of [first, second]) {
          const named = siteKey === first.globalSiteKey ? body : { ...body, siteKey };
          const { status, headers } = await account.call(path, named);
          expect([path, status, headers.get('x-protect-site-key')]).toEqual([path, 200, siteKey]);
        }
      }
    },
  },
  {
    kind: 'rejection',
    says: 'a call to an account without a matching active instance is 404, with a string as error',
    async holds(service) {
      const [account, other] = [await service.account(), await service.account()];
      const { id, globalSiteKey: siteKey } = await other.addInstance();
      const rule = { type: 'ip', value: '192.0.2.1' };
      for (const [path, body] of [
        ['/protect/verdicts', {}],
        ['/protect/verdicts/search', {}],
        ['/protect/verdicts/distinct-sources', { since: 0 }],
        ['/protect/verdicts/distinct-fired-rules', { since: 0 }],
        ['/protect/risk-history', { jti: 'x' }],
        ['/protect/session-telemetry', { jti: 'x' }],
        ['/protect/traffic-summary', {}],
        ['/protect/traffic-by-dimension', { groupBy: 'none' }],
        ['/protect/access-rules', {}],
        ['/protect/access-rules/create', { rules: [{ ...rule, verdict: 'block' }] }],
        ['/protect/access-rules/delete', { conditions: [rule] }],
      ] as const) {
        for (const named of [body, { ...body, siteKey }]) {
          const { status, body: response } = await account.call(path, named);
          expect([path, status, response]).toEqual([path, 404, NO_INSTANCE]);
        }
      }
      for (const [path, body] of [
        ['/protect/instances/update', { id, name: 'X' }],
        ['/protect/instances/delete', { id }],
        ['/protect/client-jwt/generate', { protectInstanceId: id, expiresInWeeks: 1 }],
      ] as const) {
        const { status, body: response } = await account.call(path, body);
        expect([path, status, response]).toEqual([path, 404, NO_INSTANCE]);
      }
    },
  },
];
