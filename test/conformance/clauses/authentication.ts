/** Who may call a management endpoint: each reason to refuse, at every endpoint. */
import { expect } from 'vitest';
import { featurePermissions, features, permissionsFor } from '../../../src/contract/management/permissions.ts';
import { type Endpoint, endpoints } from '../endpoints.ts';
import type { Clause, Service } from '../service.ts';
import { eventually } from '../../support/eventually.ts';

/** What the endpoints respond to a caller with that header. The body is invalid everywhere and must not be read. */
async function refusals(service: Service, authorization: string | null, of = endpoints): Promise<string[]> {
  const seen = await Promise.all(
    of.map(async ({ method, path }) => {
      const options = { method, authorization };
      const { status, key, body } = await service.send(path, method === 'GET' ? undefined : '{"broken', options);
      expect([path, body.error.code]).toEqual([path, status]);
      return `${status} ${key}`;
    }),
  );
  return [...new Set(seen)];
}

const everyOtherPermission = (endpoint: Endpoint): string => {
  const own = permissionsFor({ ...endpoint, access: endpoint.isWrite ? 'write' : 'read' });
  return features
    .flatMap((feature) => featurePermissions[feature].map((permission) => ({ feature, permission })))
    .filter(({ feature, permission }) => feature !== endpoint.feature || !own.includes(permission))
    .map(({ feature, permission }) => `${feature}:${permission}`)
    .join(',');
};

export const authentication: readonly Clause[] = [
  {
    kind: 'rejection',
    says: 'every endpoint responds 401 without an Authorization header or with one that is malformed',
    async holds(service) {
      expect(await refusals(service, null)).toEqual(['401 API.MISSING_AUTHORIZATION_HEADER']);
      for (const header of ['Basic YTpi', 'Bearer', 'Bearer nonsense', 'Bearer e30.e30.e30']) {
        expect(await refusals(service, header)).toEqual(['401 API.UNAUTHORIZED']);
      }
    },
  },
  {
    kind: 'rejection',
    says: 'every endpoint responds 401 to a key that has expired',
    async holds(service) {
      const { id } = await service.account();
      const made = await service.operator('key', 'create', '--account', id, '--name', 'short', '--expires-in', '1');
      const header = `Bearer ${(made as { token: string }).token}`;
      await eventually(
        () => service.send('/sites/get', {}, { authorization: header }),
        ({ status }) => status === 401,
      );
      expect(await refusals(service, header)).toEqual(['401 API.KEY_EXPIRED']);
    },
  },
  {
    kind: 'rejection',
    says: 'every endpoint responds 403 to a key that has every permission but its own',
    async holds(service) {
      const permissions = [...new Set(endpoints.map(everyOtherPermission))];
      const { id } = await service.account();
      for (const granted of permissions) {
        const args = ['key', 'create', '--account', id, '--name', 'others', '--permissions', granted];
        const { token } = (await service.operator(...args)) as { token: string };
        const own = endpoints.filter((endpoint) => everyOtherPermission(endpoint) === granted);
        expect(await refusals(service, `Bearer ${token}`, own)).toEqual(['403 API.INSUFFICIENT_PERMISSIONS']);
      }
    },
  },
  {
    kind: 'rejection',
    says: 'every endpoint responds 403 while its feature, or the API feature, is not enabled on the account',
    async holds(service) {
      const { id, key } = await service.account();
      for (const feature of features) {
        const rest = features.filter((name) => name !== feature);
        await service.operator('account', 'set-features', id, rest.join(','));
        const own = endpoints.filter((endpoint) => endpoint.feature === feature || feature === 'API');
        expect(await refusals(service, `Bearer ${key}`, own)).toEqual(['403 API.FEATURE_NOT_ENABLED']);
      }
    },
  },
  {
    kind: 'rejection',
    says: 'every endpoint responds 403 while the account is disabled',
    async holds(service) {
      const { id, key } = await service.account();
      await service.operator('account', 'disable', id);
      expect(await refusals(service, `Bearer ${key}`)).toEqual(['403 API.ACCOUNT_DISABLED']);
    },
  },
  {
    kind: 'rejection',
    says: 'every write responds 403 while the account owes a payment method; reads go on',
    async holds(service) {
      const { id, key } = await service.account();
      await service.operator('account', 'require-payment', id);
      const writes = endpoints.filter(({ isWrite }) => isWrite);
      expect(await refusals(service, `Bearer ${key}`, writes)).toEqual(['403 API.PAYMENT_REQUIRED']);
      const reads = endpoints.filter(({ isWrite, method }) => !isWrite && method !== 'GET');
      expect(await refusals(service, `Bearer ${key}`, reads)).toEqual(['400 API.PARSE_ERROR']);
      expect(
        (await service.send('/users/get', undefined, { method: 'GET', authorization: `Bearer ${key}` })).status,
      ).toBe(200);
    },
  },
  {
    kind: 'state',
    says: 'features are read on every request: a change counts from the next call on',
    async holds(service) {
      const account = await service.account();
      const status = async () => (await account.call('/sites/get', {})).status;
      const seen = [await status()];
      for (const enabled of ['API,Traffic', 'API,Sites']) {
        await service.operator('account', 'set-features', account.id, enabled);
        seen.push(await status());
      }
      expect(seen).toEqual([200, 403, 200]);
    },
  },
  {
    kind: 'silent',
    says: 'accountId and token in a body are ignored: the account is always that of the key',
    async holds(service) {
      const [account, other] = [await service.account(), await service.account()];
      const { siteKey } = await account.addSite();
      await other.addSite();
      const { status, body } = await account.call('/sites/get', { accountId: other.id, token: other.key });
      expect([status, body.map((site: { siteKey: string }) => site.siteKey)]).toEqual([200, [siteKey]]);
    },
  },
];
