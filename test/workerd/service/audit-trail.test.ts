/** The audit trail of management writes, and the rate limit of a key. */
import { expect, test } from 'vitest';
import { call, newAccount } from './service-under-test.ts';

test('every successful write leaves one entry, without secrets', async () => {
  const { token, site } = await newAccount();
  await call(token, '/sites/create', { name: 'a', settings: { domains: ['a.example'] }, token: 'x', accountId: 'y' });
  await call(token, '/sites/create', { name: 'a', settings: { domains: ['a.example'] } });
  await call(token, '/sites/get', {});
  await call(token, '/sites/update', { siteKey: site.siteKey, name: 'b' });
  const { body } = await call(token, '/audit-trail/get', {});
  expect(body.entries.map((entry: any) => entry.operation)).toEqual(['update-site', 'create-site']);
  expect(body.entries[0]).toMatchObject({ apiKeyName: 'test', body: { siteKey: site.siteKey, name: 'b' } });
  expect(body.entries[0].requestId).toMatch(/^[0-9a-f-]{36}$/);
  expect(body.entries[1].body.settings.domains).toEqual(['a.example']);
  expect(JSON.stringify(body)).not.toContain(site.secretKey);
  expect(body.nextCursor).toBeNull();
});

test('an entry has no secret, however deep in lists and objects the body has it', async () => {
  const { token } = await newAccount();
  const marketingPreferences = {
    tokens: ['hidden-1', ['hidden-2', { value: 'hidden-3' }]],
    secret: { current: 'hidden-4', former: [{ at: 7, text: 'hidden-5' }] },
    list: [{ apiKey: 'hidden-6' }, { 'api-key': 'hidden-7' }, { credentials: { user: 'hidden-8' } }],
    passphrase: 'hidden-9',
    privateKey: ['hidden-10'],
    note: 'shown',
    tokenCount: 3,
  };
  const user = { email: 'deep@example.com', name: 'Deep', role: 'viewer' };
  await call(token, '/users/create', user);
  const update = { email: user.email, marketingPreferences };
  expect((await call(token, '/users/update', update, 'PUT')).status).toBe(200);
  const { body } = await call(token, '/audit-trail/get', {});
  const kept = body.entries[0].body.marketingPreferences;
  expect(JSON.stringify(body.entries)).not.toContain('hidden');
  expect(kept).toMatchObject({ tokens: ['[redacted]', ['[redacted]', { value: '[redacted]' }]], tokenCount: 3 });
  expect(kept.secret.former[0].at).toBe(7);
  expect(kept.note).toBe('shown');
});

test('pages go back in time without gaps', async () => {
  const { token } = await newAccount();
  for (let index = 0; index < 5; index++) {
    await call(token, '/users/create', { email: `u${index}@example.com`, name: 'U', role: 'viewer' });
  }
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const { body } = await call(token, '/audit-trail/get', cursor === undefined ? { limit: 2 } : { limit: 2, cursor });
    seen.push(...body.entries.map((entry: any) => entry.body.email));
    cursor = body.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(seen.toSorted()).toEqual(['u0', 'u1', 'u2', 'u3', 'u4'].map((name) => `${name}@example.com`));
});

test('an account reads only its own trail', async () => {
  const mine = await newAccount();
  const other = await newAccount();
  await call(mine.token, '/users/create', { email: 'ann@example.com', name: 'Ann', role: 'viewer' });
  expect((await call(other.token, '/audit-trail/get', {})).body.entries).toEqual([]);
});

test('a cursor of another account is refused', async () => {
  const { token } = await newAccount();
  const { status, body } = await call(token, '/audit-trail/get', { cursor: "1.'; DROP" });
  expect([status, body.error.details[0].path]).toEqual([400, 'cursor']);
});
