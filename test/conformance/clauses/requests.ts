/** Bodies and errors, which are the same for every management endpoint. */
import { expect } from 'vitest';
import { endpoints } from '../endpoints.ts';
import type { Clause } from '../service.ts';

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
