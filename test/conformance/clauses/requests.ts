/** Bodies and errors, which are the same for every management endpoint. */
import { expect } from 'vitest';
import { endpoints } from '../endpoints.ts';
import type { Clause } from '../service.ts';
import { stackNow } from '../../support/clock.ts';

/** Where there is nothing to say. */
const WITHOUT_PARAMETERS = ['/sites/get', '/access-control/get', '/api-keys/get', '/protect/instances'];

export const requests: readonly Clause[] = [
  {
    kind: 'field',
    says: 'a body may be JSON, urlencoded or multipart',
    async holds(service) {
      const account = await service.account();
      const authorization = `Bearer ${account.key}`;
      const fields: [string, string][] = [
        ['settings[domains][]', 'shop.example'],
        ['settings[powDifficulty]', '5'],
      ];
      const multipart = new FormData();
      for (const [name, value] of [['name', 'multipart'], ...fields] as const) multipart.append(name, value);
      // The content type is the body's own: it has the boundary.
      const forms = [new URLSearchParams([['name', 'urlencoded'], ...fields]), multipart];
      for (const form of forms) {
        const { status, body } = await service.send('/sites/create', form, { authorization, contentType: null });
        expect([status, body.settings.domains, body.settings.powDifficulty]).toEqual([200, ['shop.example'], 5]);
      }
      const json = { name: 'json', settings: { domains: ['shop.example'], powDifficulty: 5 } };
      expect((await account.call('/sites/create', json)).status).toBe(200);
    },
  },
  {
    kind: 'rejection',
    says: 'a missing Content-Type is named, also where the client has put that of a form in its place',
    async holds(service) {
      const account = await service.account();
      const json = JSON.stringify({ name: 'shop', settings: { domains: ['shop.example'] } });
      const authorization = `Bearer ${account.key}`;
      for (const [body, contentType] of [
        [new Blob([json]), null],
        [json, 'application/x-www-form-urlencoded'],
      ] as const) {
        const { status, key, body: answer } = await service.send('/sites/create', body, { authorization, contentType });
        expect([status, key]).toEqual([400, 'API.NO_CONTENT_TYPE_HEADER']);
        expect(answer.error.message).toContain('Content-Type');
      }
    },
  },
  {
    kind: 'field',
    says: 'a list in a form is one value, a repeated name, bracket names or JSON text',
    async holds(service) {
      const account = await service.account();
      const authorization = `Bearer ${account.key}`;
      const [one, two] = [(await account.addSite()).siteKey, (await account.addSite()).siteKey];
      const form = (path: string, text: string) =>
        service.send(path, text, { authorization, contentType: 'application/x-www-form-urlencoded' });
      for (const fields of [
        `siteKeys=${one}`,
        `siteKeys=${one}&siteKeys=${two}`,
        `siteKeys[]=${one}&siteKeys[]=${two}`,
        `siteKeys[0]=${one}`,
        `siteKeys=${encodeURIComponent(JSON.stringify([one, two]))}`,
      ]) {
        expect([fields, (await form('/gettrafficdata', `token=x&accountId=x&${fields}`)).status]).toEqual([
          fields,
          200,
        ]);
      }
      const unknown = await form('/gettrafficdata', `token=x&accountId=x&siteKeys=${one}&siteKeys=site_unknown`);
      expect(unknown.status).toBe(404);
      await account.addInstance(one);
      for (const fields of [
        'sources=risk&sources=default',
        'sources[]=risk',
        'sources=risk&firedRules=a&firedRules=b',
      ]) {
        expect([fields, (await form('/protect/verdicts', fields)).status]).toEqual([fields, 200]);
      }
      const twice = await form('/site/get', `siteKey=${one}&siteKey=${two}`);
      expect([twice.status, twice.paths]).toEqual([400, ['siteKey']]);
    },
  },
  {
    kind: 'rejection',
    says: 'JSON under another Content-Type is refused, and the message names the header',
    async holds(service) {
      const account = await service.account();
      const authorization = `Bearer ${account.key}`;
      for (const [contentType, expected] of [
        ['application/x-www-form-urlencoded', [400, 'API.NO_CONTENT_TYPE_HEADER']],
        ['text/plain', [415, 'API.UNSUPPORTED_CONTENT_TYPE']],
      ] as const) {
        for (const path of WITHOUT_PARAMETERS) {
          const { status, key, body } = await service.send(path, '{}', { authorization, contentType });
          expect([path, status, key]).toEqual([path, ...expected]);
          expect(body.error.message).toMatch(/Content-Type.*application\/json/);
        }
      }
    },
  },
  {
    kind: 'field',
    says: 'createdAt is epoch milliseconds, except of rules, where it is an ISO 8601 time as their expiry is',
    async holds(service) {
      const account = await service.account();
      const before = stackNow() - 300_000;
      const site = await account.addSite();
      const instance = await account.addInstance(site.siteKey);
      await account.block('asn', '64496');
      const rules = [{ type: 'ip' as const, value: '192.0.2.1', verdict: 'block' as const }];
      await account.api.post('/protect/access-rules/create', { rules });
      const [user] = await account.api.get('/users/get');
      const [key] = await account.api.post('/api-keys/get');
      for (const one of [site, instance, user, key]) expect(one?.createdAt).toBeGreaterThan(before);
      const [rule] = (await account.api.post('/access-control/get')).rules;
      const [edgeRule] = (await account.api.post('/protect/access-rules', {})).rules;
      for (const one of [rule, edgeRule]) {
        expect(one?.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        expect(Date.parse(one?.createdAt ?? '')).toBeGreaterThan(before);
      }
    },
  },
  {
    kind: 'field',
    says: 'an AS number is accepted as a number, as digits and with AS, and is one value in a rule',
    async holds(service) {
      const account = await service.account();
      await account.addInstance();
      for (const value of [64496, '64496', 'AS64496']) {
        expect((await account.call('/protect/verdicts', { asn: value })).status).toBe(200);
        expect((await account.block('asn', value as string)).status).toBe(200);
        const rules = [{ type: 'asn', value, verdict: 'block' }];
        expect((await account.call('/protect/access-rules/create', { rules })).status).toBe(200);
      }
      const { rules, ruleCount } = await account.api.post('/access-control/get');
      expect([ruleCount, rules[0]?.conditions[0]?.value]).toEqual([1, '64496']);
      const listed = (await account.api.post('/protect/access-rules', {})).rules;
      expect(listed.map(({ value }) => value)).toEqual(['64496']);
    },
  },
  {
    kind: 'field',
    says: 'an endpoint without parameters accepts an empty body or {}',
    async holds(service) {
      const account = await service.account();
      for (const path of WITHOUT_PARAMETERS) {
        expect([path, (await account.call(path)).status]).toEqual([path, 200]);
        expect([path, (await account.call(path, {})).status]).toEqual([path, 200]);
      }
    },
  },
  {
    kind: 'rejection',
    says: 'a body that is missing, cannot be parsed or does not fit is 400 at every endpoint that takes one',
    async holds(service) {
      const account = await service.account();
      await account.addInstance();
      for (const { method, path } of endpoints) {
        if (method === 'GET') continue;
        const bodies: unknown[] = ['{"broken', '[]', 'null', { unknown: 1 }];
        // An endpoint whose fields are all optional accepts an empty body.
        const optional = [...WITHOUT_PARAMETERS, '/audit/searchcaptcharecords', '/protect/traffic-summary'];
        const reads = ['/protect/verdicts', '/protect/verdicts/search', '/protect/access-rules'];
        if (![...optional, ...reads].includes(path)) bodies.push(undefined, {});
        for (const body of bodies) {
          const { status, key } = await account.call(path, body, method);
          expect([path, body, status, key]).toEqual([
            path,
            body,
            400,
            expect.stringMatching(/^API\.(INVALID_BODY|PARSE_ERROR|MISSING_BODY)$/),
          ]);
        }
      }
    },
  },
  {
    kind: 'field',
    says: 'an error has an integer code, a message and a stable key',
    async holds(service) {
      const account = await service.account({ permissions: 'Sites:getSites' });
      const { status, body } = await account.call('/sites/create', {});
      expect([status, body]).toEqual([
        403,
        { error: { code: 403, message: expect.any(String), key: 'API.INSUFFICIENT_PERMISSIONS' } },
      ]);
    },
  },
  {
    kind: 'rejection',
    says: 'what does not exist is 404: a path, a site, a rule, a user, a key',
    async holds(service) {
      const account = await service.account();
      for (const [path, body] of [
        ['/nothing', {}],
        ['/site/get', { siteKey: 'unknown' }],
        ['/access-control/delete', { userScopeHash: '0'.repeat(64) }],
        ['/users/delete', { email: 'nobody@example.com' }],
        ['/api-keys/delete', { apiKeyId: 'unknown' }],
      ] as const) {
        const { status, body: response } = await account.call(path, body);
        expect([path, status, response.error.code]).toEqual([path, 404, 404]);
      }
    },
  },
];
