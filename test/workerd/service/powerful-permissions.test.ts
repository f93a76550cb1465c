/** Permissions that give more than their names say, and those that give less, for keys that only read. */
import { expect, test } from 'vitest';
import {
  type PermissionMap,
  permissionPowers,
  readOnlyPermissions,
} from '../../../src/contract/management/permissions.ts';
import { operations } from '../../../src/service/operations/operation-table.ts';
import type { D1Migration } from '@cloudflare/vitest-plugin';
import { call, newAccount, send, serviceEnv } from './service-under-test.ts';

async function keyWith(token: string, permissions: PermissionMap): Promise<string> {
  const { status, body } = await call(token, '/api-keys/create', { name: 'key', permissions });
  expect(status).toBe(200);
  return body.token as string;
}

test('a key with readSites lists sites without their secret keys; getSites and getSite show them', async () => {
  const { token, site } = await newAccount();
  const reader = await keyWith(token, { Sites: ['readSites'] });
  const { siteKey, secretKey } = site;
  for (const [path, body] of [
    ['/sites/get', {}],
    ['/site/get', { siteKey }],
  ] as const) {
    const answer = await call(reader, path, body);
    expect(answer.status).toBe(200);
    expect(JSON.stringify(answer.body)).toContain(siteKey);
    expect(JSON.stringify(answer.body)).not.toContain(secretKey);
    const full = await keyWith(token, { Sites: ['readSites', path === '/site/get' ? 'getSite' : 'getSites'] });
    expect(JSON.stringify((await call(full, path, body)).body)).toContain(secretKey);
  }
  expect((await call(reader, '/sites/update', { siteKey, name: 'x' })).status).toBe(403);
});

test('the audit trail has a permission of its own, which shows no key', async () => {
  const { token } = await newAccount();
  const auditor = await keyWith(token, { API: ['getAuditTrail'] });
  expect((await call(auditor, '/audit-trail/get', {})).body.entries).toHaveLength(1);
  expect((await call(auditor, '/api-keys/get', {})).status).toBe(403);
  const others = await keyWith(token, { API: ['getApiKeys', 'createApiKey', 'deleteApiKey'] });
  expect((await call(others, '/audit-trail/get', {})).status).toBe(403);
});

test('a key that reads the audit trail by getApiKeys keeps it when the database migrates', async () => {
  const { account } = await newAccount({ permissions: { API: ['getApiKeys'], Sites: ['getSites'] } });
  const plain = await newAccount({ permissions: { Sites: ['getSites'] } });
  const migration = (serviceEnv as ServiceEnv & { TEST_MIGRATIONS: D1Migration[] }).TEST_MIGRATIONS.find(({ name }) =>
    name.includes('audit_trail_permission'),
  )!;
  for (const query of migration.queries) await serviceEnv.DB.prepare(query).run();
  const sql = 'SELECT permissions FROM api_keys WHERE account_id = ?';
  const permissionsOf = async (id: string) =>
    JSON.parse((await serviceEnv.DB.prepare(sql).bind(id).first<string>('permissions'))!) as PermissionMap;
  expect(await permissionsOf(account.id)).toEqual({ API: ['getApiKeys', 'getAuditTrail'], Sites: ['getSites'] });
  expect(await permissionsOf(plain.account.id)).toEqual({ Sites: ['getSites'] });
});

test('no response to a read-only key has a secret of the account, and nothing can be changed with it', async () => {
  const { token, site } = await newAccount();
  await call(token, '/users/create', { email: 'ann@example.com', name: 'Ann', role: 'admin' });
  const reader = await keyWith(token, readOnlyPermissions);
  for (const { method, path, access } of operations) {
    const headers = { authorization: `Bearer ${reader}`, 'content-type': 'application/json' };
    const response = await send(path, { method, headers, ...(method === 'GET' ? {} : { body: '{}' }) });
    if (access === 'write') expect([path, response.status]).toEqual([path, 403]);
    const text = await response.text();
    for (const secret of [site.secretKey, token, reader]) expect([path, text.includes(secret)]).toEqual([path, false]);
  }
  const granted = new Set(Object.values(readOnlyPermissions).flat());
  expect(Object.keys(permissionPowers).filter((name) => granted.has(name as never))).toEqual([]);
});
