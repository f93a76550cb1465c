/** API keys: what they carry, how long they live, what they may grant. */
import { expect } from 'vitest';
import { decodeJwt } from 'jose';
import { eventually } from '../../support/eventually.ts';
import type { Clause } from '../service.ts';

const THIRTY_DAYS_MS = 30 * 86_400_000;
const key = { name: 'ci', permissions: { Sites: ['getSites'] } } as const;

export const apiKeys: readonly Clause[] = [
  {
    kind: 'endpoint',
    says: 'POST /api-keys/create returns the key with its token, and POST /api-keys/get lists every key with its token',
    async holds(service) {
      const account = await service.account();
      const made = await account.api.post('/api-keys/create', { ...key, permissions: { Sites: ['getSites'] } });
      const listed = await account.api.post('/api-keys/get');
      expect(listed).toContainEqual(made);
      for (const { token } of listed) {
        const status = (await account.withKey(token).call('/sites/get', {})).status;
        expect(status).toBe(200);
      }
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /api-keys/delete makes the key invalid at once',
    async holds(service) {
      const account = await service.account();
      const { apiKeyId, token } = await account.api.post('/api-keys/create', {
        ...key,
        permissions: { Sites: ['getSites'] },
      });
      expect((await account.withKey(token).call('/sites/get', {})).status).toBe(200);
      expect(await account.api.post('/api-keys/delete', { apiKeyId })).toEqual({ success: true });
      expect((await account.withKey(token).call('/sites/get', {})).status).toBe(401);
    },
  },
  {
    kind: 'field',
    says: 'the token carries the account id and the key id, and nothing else',
    async holds(service) {
      const account = await service.account();
      const made = await account.api.post('/api-keys/create', { ...key, permissions: { Sites: ['getSites'] } });
      expect(decodeJwt(made.token)).toEqual({ accountId: account.id, keyId: made.apiKeyId });
    },
  },
  {
    kind: 'limit',
    says: 'a key lives 30 days unless expiresIn, in seconds, says otherwise',
    async holds(service) {
      const account = await service.account();
      const life = async (expiresIn?: number) => {
        const made = await account.api.post('/api-keys/create', {
          ...key,
          permissions: { Sites: ['getSites'] },
          ...(expiresIn === undefined ? {} : { expiresIn }),
        });
        return made.expiresAt - made.createdAt;
      };
      expect([await life(), await life(60)]).toEqual([THIRTY_DAYS_MS, 60_000]);
      for (const expiresIn of [0, -1]) await account.refused('/api-keys/create', { ...key, expiresIn }, 'expiresIn');
    },
  },
  {
    kind: 'state',
    says: 'an expired key is 401',
    async holds(service) {
      const account = await service.account();
      const { token } = await account.api.post('/api-keys/create', {
        ...key,
        permissions: { Sites: ['getSites'] },
        expiresIn: 1,
      });
      const { key: reason } = await eventually(
        () => account.withKey(token).call('/sites/get', {}),
        ({ status }) => status === 401,
      );
      expect(reason).toBe('API.KEY_EXPIRED');
    },
  },
  {
    kind: 'rejection',
    says: 'a key needs at least one permission, of a feature that the account has',
    async holds(service) {
      const account = await service.account();
      for (const permissions of [{}, { Sites: [] }]) {
        await account.refused('/api-keys/create', { name: 'ci', permissions }, 'permissions');
      }
      await service.operator('account', 'set-features', account.id, 'API,Sites');
      const permissions = { Sites: ['getSites'], Traffic: ['getTraffic'] };
      await account.refused('/api-keys/create', { name: 'ci', permissions }, 'permissions.Traffic');
    },
  },
  {
    kind: 'rejection',
    says: 'a permission that does not exist, or belongs to another feature, is refused',
    async holds(service) {
      const account = await service.account();
      for (const permission of ['flySites', 'getUsers']) {
        const permissions = { Sites: [permission] };
        await account.refused('/api-keys/create', { name: 'ci', permissions }, 'permissions.Sites.0');
      }
    },
  },
  {
    kind: 'field',
    says: 'a key that may create keys can grant updateProtectSettings',
    async holds(service) {
      const account = await service.account({ permissions: 'API:createApiKey' });
      const { token } = await account.api.post('/api-keys/create', {
        name: 'protect',
        permissions: { Protect: ['updateProtectSettings'] },
      });
      expect(await account.withKey(token).api.post('/protect/instances')).toEqual([]);
    },
  },
  {
    kind: 'state',
    says: 'the permissions of a key cannot be edited: a replacement is created and the key is deleted',
    async holds(service) {
      const account = await service.account();
      expect((await account.call('/api-keys/update', {})).status).toBe(404);
      const made = await account.api.post('/api-keys/create', { ...key, permissions: { Sites: ['getSites'] } });
      expect((await account.withKey(made.token).call('/users/get', undefined, 'GET')).status).toBe(403);
      const better = await account.api.post('/api-keys/create', { name: 'ci', permissions: { Users: ['getUsers'] } });
      expect((await account.withKey(better.token).call('/users/get', undefined, 'GET')).status).toBe(200);
      await account.api.post('/api-keys/delete', { apiKeyId: made.apiKeyId });
    },
  },
];
