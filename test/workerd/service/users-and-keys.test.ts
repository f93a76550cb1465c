/** Team members and API keys of an account. */
import { decodeJwt } from 'jose';
import { describe, expect, test } from 'vitest';
import { updateAccount } from '../../../src/store/d1/accounts.ts';
import { later, testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';
import { call, newAccount, serviceEnv } from './service-under-test.ts';

describe('users', () => {
  test('the owner is a user from the start', async () => {
    const { token, account } = await newAccount();
    const { body } = await call(token, '/users/get', undefined, 'GET');
    expect(body).toMatchObject([{ email: account.ownerEmail, role: 'admin', status: 'active', isOwner: true }]);
  });

  test('a user is created, changed and deleted', async () => {
    const { token } = await newAccount();
    const created = await call(token, '/users/create', { email: 'Ann@Example.com ', name: 'Ann', role: 'viewer' });
    expect(created.body).toMatchObject({ email: 'ann@example.com', name: 'Ann', role: 'viewer', isOwner: false });
    const change = { email: 'ANN@example.com', userType: 'admin', marketingPreferences: { news: true } };
    expect((await call(token, '/users/update', change, 'PUT')).body).toEqual({ success: true });
    const { body } = await call(token, '/users/get', undefined, 'GET');
    expect(body[1]).toMatchObject({ name: 'Ann', role: 'admin', marketingPreferences: { news: true } });
    expect((await call(token, '/users/delete', { email: 'ann@example.com' })).body).toEqual({
      success: true,
      deletedUserEmail: 'ann@example.com',
    });
    expect((await call(token, '/users/get', undefined, 'GET')).body).toHaveLength(1);
  });

  test('an address is used once', async () => {
    const { token } = await newAccount();
    const body = { email: 'ann@example.com', name: 'Ann', role: 'viewer' };
    await call(token, '/users/create', body);
    const again = await call(token, '/users/create', body);
    expect([again.status, again.body.error.key]).toEqual([400, 'PORTAL.USER_ALREADY_EXISTS']);
  });

  test('an address is one in all of its spellings', () =>
    expectRows(
      [
        ['é@example.com', 'e\u0301@example.com'],
        ['ann@münchen.example', 'ann@xn--mnchen-3ya.example'],
        ['ann@example.com', 'ann@example.com.'],
        ['ann@example.com', 'ann@ｅxample.com'],
      ],
      async ([address, same]) => {
        const { token } = await newAccount();
        const user = { name: 'Ann', role: 'viewer' };
        expect((await call(token, '/users/create', { ...user, email: address })).status).toBe(200);
        const again = await call(token, '/users/create', { ...user, email: same });
        expect([again.status, again.body.error?.key]).toEqual([400, 'PORTAL.USER_ALREADY_EXISTS']);
      },
    ));

  test('an address has no letter that turns into one of somebody else', async () => {
    const { token } = await newAccount();
    // The Kelvin sign: `toLowerCase` and NFC make it a k.
    const answer = await call(token, '/users/create', { email: 'fran\u212A@example.com', name: 'F', role: 'admin' });
    expect(answer).toMatchObject({ status: 400, body: { error: { key: 'API.INVALID_BODY' } } });
  });

  test('the owner cannot be created, changed or removed', async () => {
    const { token, account } = await newAccount();
    await call(token, '/users/create', { email: 'ann@example.com', name: 'Ann', role: 'admin' });
    const email = account.ownerEmail.toUpperCase();
    const answers = await Promise.all([
      call(token, '/users/create', { email, name: 'x', role: 'viewer' }),
      call(token, '/users/update', { email, userType: 'viewer' }, 'PUT'),
      call(token, '/users/delete', { email }),
    ]);
    for (const { status, body } of answers) {
      expect([status, body.error.key]).toEqual([400, 'PORTAL.CANNOT_MODIFY_OWNER_USER']);
    }
  });

  test('the last remaining user cannot be deleted', async () => {
    const { token, account } = await newAccount();
    await call(token, '/users/create', { email: 'ann@example.com', name: 'Ann', role: 'admin' });
    const removed = async (email: string) => (await call(token, '/users/delete', { email })).body;
    expect((await removed(account.ownerEmail)).error.key).toBe('PORTAL.CANNOT_MODIFY_OWNER_USER');
    expect((await removed('ann@example.com')).success).toBe(true);
    expect((await removed(account.ownerEmail)).error.key).toBe('PORTAL.CANNOT_DELETE_LAST_USER');
  });

  test('a user of another account is 404', async () => {
    const mine = await newAccount();
    const other = await newAccount();
    await call(other.token, '/users/create', { email: 'eve@example.com', name: 'Eve', role: 'viewer' });
    expect((await call(mine.token, '/users/delete', { email: 'eve@example.com' })).status).toBe(404);
    expect((await call(mine.token, '/users/update', { email: 'eve@example.com' }, 'PUT')).status).toBe(404);
  });
});

describe('API keys', () => {
  const permissions = { Sites: ['getSites'] };

  test('the token has only the account id and the key id, and the list returns the same token', async () => {
    const { token, account } = await newAccount();
    const { body } = await call(token, '/api-keys/create', { name: 'ci', permissions });
    expect(decodeJwt(body.token)).toEqual({ accountId: account.id, keyId: body.apiKeyId });
    expect(body.expiresAt - body.createdAt).toBe(30 * 24 * 3600 * 1000);
    const listed = await call(token, '/api-keys/get', {});
    expect(listed.body.find((key: any) => key.apiKeyId === body.apiKeyId)).toEqual(body);
    expect((await call(body.token, '/sites/get', {})).status).toBe(200);
  });

  test('expiresIn is in seconds, and an expired key is 401', async () => {
    const { token } = await newAccount();
    const { body } = await call(token, '/api-keys/create', { name: 'ci', permissions, expiresIn: 1 });
    expect(body.expiresAt - body.createdAt).toBe(1000);
    later(1100);
    const answer = await call(body.token, '/sites/get', {});
    expect([answer.status, answer.body.error.key]).toEqual([401, 'API.KEY_EXPIRED']);
  });

  test('a deleted key is 401 from the next call on', async () => {
    const { token } = await newAccount();
    const { body } = await call(token, '/api-keys/create', { name: 'ci', permissions });
    expect((await call(token, '/api-keys/delete', { apiKeyId: body.apiKeyId })).body).toEqual({ success: true });
    const answer = await call(body.token, '/sites/get', {});
    expect([answer.status, answer.body.error.key]).toEqual([401, 'API.UNAUTHORIZED']);
    expect((await call(token, '/api-keys/delete', { apiKeyId: body.apiKeyId })).status).toBe(404);
  });

  test('with permissions that do not exist are refused', () =>
    expectRows(
      [
        ['no permission', {}, 'permissions'],
        ['only empty lists', { Sites: [] }, 'permissions'],
        ['an unknown feature', { Nonsense: ['getSites'] }, 'permissions'],
        ['an unknown permission', { Sites: ['flySites'] }, 'permissions.Sites.0'],
        ['a permission of another feature', { Sites: ['getUsers'] }, 'permissions.Sites.0'],
      ],
      async ([, given, path]) => {
        const { token } = await newAccount();
        const { status, body } = await call(token, '/api-keys/create', { name: 'ci', permissions: given });
        expect([status, body.error.key]).toEqual([400, 'API.INVALID_BODY']);
        expect(body.error.details[0].path).toContain(path);
      },
    ));

  test('a feature that is not enabled on the account cannot be granted', async () => {
    const { token, account } = await newAccount();
    await updateAccount(serviceEnv, account.id, { features: ['API', 'Sites'] }, testNow());
    const { status, body } = await call(token, '/api-keys/create', {
      name: 'ci',
      permissions: { Sites: ['getSites'], Traffic: ['getTraffic'] },
    });
    expect(status).toBe(400);
    expect(body.error.details[0].path).toBe('permissions.Traffic');
  });

  test('a key that may create keys can grant Protect without having it', async () => {
    const { token } = await newAccount({ permissions: { API: ['createApiKey'] } });
    const { status, body } = await call(token, '/api-keys/create', {
      name: 'protect',
      permissions: { Protect: ['updateProtectSettings'] },
    });
    expect(status).toBe(200);
    expect((await call(body.token, '/protect/instances', {})).status).toBe(200);
  });
});
