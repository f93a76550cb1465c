/** The audit trail of management writes, and the rate limit of a key. */
import { expect, test } from 'vitest';
import { deeds } from '../../../src/console/views/access/audit-deeds.ts';
import { operations } from '../../../src/service/operations/operation-table.ts';
import { apiKeyToken } from '../../../src/store/d1/api-keys.ts';
import { rootKey } from '../../../src/store/keys/root-key.ts';
import { expectRows } from '../../support/rows.ts';
import { call, newAccount, serviceEnv, type TestAccount } from './service-under-test.ts';

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

test('every operation that writes has words in the console', () => {
  const writing = operations.filter(({ access }) => access === 'write').map(({ name }) => name);
  expect(writing.filter((name) => deeds[name] === undefined)).toEqual([]);
});

/** An account with an instance. */
async function withInstance(): Promise<TestAccount & { instanceId: string }> {
  const made = await newAccount();
  const body = { name: 'Shop', cname: 'shop.example.com', globalSiteKey: made.site.siteKey };
  const created = await call(made.token, '/protect/instances/create', body);
  return { ...made, instanceId: created.body.id };
}

const value = '192.0.2.0/24';
const rule = (verdict: string) => ({ rules: [{ type: 'ipMask', value, verdict }] });
const policy = (action: string) => ({ name: 'admin', when: 'path startsWith "/admin"', then: { action } });
const member = { email: 'bob@example.com', name: 'Bob', role: 'viewer' };

test('an entry says which thing changed, by its name, and from what to what', () =>
  expectRows<[string, [string, object, string?][], object]>(
    [
      [
        'a rule that is there already',
        [
          ['/protect/access-rules/create', rule('challenge')],
          ['/protect/access-rules/create', rule('block')],
        ],
        {
          kind: 'rule',
          name: value,
          change: 'changed',
          fields: [{ field: 'verdict', before: 'challenge', after: 'block' }],
        },
      ],
      [
        'a deleted rule',
        [
          ['/protect/access-rules/create', rule('challenge')],
          ['/protect/access-rules/delete', { conditions: [{ type: 'ipMask', value }] }],
        ],
        { kind: 'rule', name: value, change: 'deleted', fields: [{ field: 'verdict', before: 'challenge' }, {}, {}] },
      ],
      [
        'a policy',
        [
          ['/protect/policies/add', { policy: policy('challenge') }],
          ['/protect/policies/update', { name: 'admin', policy: policy('block') }],
        ],
        {
          kind: 'policy',
          name: 'admin',
          change: 'changed',
          fields: [{ field: 'then', before: { action: 'challenge' }, after: { action: 'block' } }],
        },
      ],
      [
        'a bot of the account',
        [['/protect/bots/own/add', { id: 'shopbot', behaviours: ['monitor'], patterns: ['ShopBot'] }]],
        { kind: 'bot', name: 'shopbot', change: 'added', fields: [{ field: 'behaviours' }, { field: 'patterns' }, {}] },
      ],
      [
        'a list',
        [
          ['/protect/lists/create', { name: 'office', verdict: 'allow' }],
          ['/protect/lists/update', { name: 'office', verdict: 'block' }],
        ],
        {
          kind: 'list',
          name: 'office',
          change: 'changed',
          fields: [{ field: 'verdict', before: 'allow', after: 'block' }],
        },
      ],
      [
        'attack mode',
        [['/protect/attack-mode/set', { on: true }]],
        { kind: 'attack mode', name: 'Shop', fields: [{ field: 'active', before: false, after: true }, {}] },
      ],
      [
        'a person who is removed',
        [
          ['/users/create', member],
          ['/users/delete', { email: member.email }],
        ],
        { kind: 'person', name: 'Bob', change: 'deleted', fields: [] },
      ],
      [
        'a person',
        [
          ['/users/create', member],
          ['/users/update', { email: member.email, name: 'Robert' }, 'PUT'],
        ],
        { kind: 'person', name: 'Bob', change: 'changed', fields: [{ field: 'name', before: 'Bob', after: 'Robert' }] },
      ],
      [
        'an access control rule',
        [
          [
            '/access-control/create',
            {
              rule: {
                type: 'block',
                conditions: [{ field: 'ip', operator: 'equals', value: '192.0.2.7' }],
                expiry: '2099-01-01T00:00:00Z',
              },
            },
          ],
          [
            '/access-control/create',
            {
              rule: {
                type: 'restrict',
                captchaType: 'image',
                conditions: [{ field: 'ip', operator: 'equals', value: '192.0.2.7' }],
                expiry: '2099-01-01T00:00:00Z',
              },
            },
          ],
        ],
        {
          kind: 'access control rule',
          name: '192.0.2.7',
          change: 'changed',
          fields: [
            { field: 'type', before: 'block', after: 'restrict' },
            { field: 'captchaType', after: 'image' },
          ],
        },
      ],
      [
        'an alert channel',
        [
          [
            '/alerts/channels/create',
            { name: 'On call', shape: 'webhook', webhookUrl: 'https://hooks.example.com/a/b' },
          ],
        ],
        {
          kind: 'alert channel',
          name: 'On call',
          change: 'added',
          fields: [{ field: 'shape' }, { field: 'host', after: 'hooks.example.com' }, { field: 'enabled' }],
        },
      ],
    ],
    async ([, calls, item]) => {
      const { token } = await withInstance();
      for (const [path, body, method] of calls) {
        const answer = await call(token, path, body, method ?? 'POST');
        expect([path, answer.status, answer.body]).toEqual([path, 200, expect.anything()]);
      }
      const { body } = await call(token, '/audit-trail/get', { limit: 1 });
      expect(body.entries[0].changes.items).toMatchObject([item]);
    },
  ));

test('an instance and a site note only the settings that changed', async () => {
  const { token, site, instanceId } = await withInstance();
  await call(token, '/protect/instances/update', { id: instanceId, monitor: false, hosts: ['a.example', 'b.example'] });
  await call(token, '/protect/instances/update', { id: instanceId, hosts: ['b.example', 'c.example'] });
  await call(token, '/sites/update', { siteKey: site.siteKey, settings: { captchaType: 'image' } });
  const { body } = await call(token, '/audit-trail/get', { limit: 3 });
  expect(body.entries.map(({ changes }: any) => changes.items[0].fields)).toEqual([
    [expect.objectContaining({ field: 'captchaType', after: 'image' })],
    [{ field: 'hosts', before: ['a.example'], after: ['c.example'] }],
    [
      { field: 'monitor', before: true, after: false },
      { field: 'hosts', after: ['a.example', 'b.example'] },
    ],
  ]);
});

test('a change of many rules counts them, and lists ten', async () => {
  const { token } = await withInstance();
  const rules = Array.from({ length: 12 }, (_, index) => ({ type: 'ip', value: `192.0.2.${index}`, verdict: 'block' }));
  await call(token, '/protect/access-rules/create', { rules });
  const { changes } = (await call(token, '/audit-trail/get', { limit: 1 })).body.entries[0];
  expect(changes.counts).toEqual([{ kind: 'rule', change: 'added', count: 12 }]);
  expect([changes.items.length, changes.instance]).toEqual([10, 'Shop']);
});

test('a history names a key as it was called, after it was deleted too', async () => {
  const { token, account } = await withInstance();
  const permissions = { Protect: ['updateProtectSettings'] };
  const { body: key } = await call(token, '/api-keys/create', { name: 'deploy', permissions });
  const keyToken = await apiKeyToken(await rootKey(serviceEnv), { accountId: account.id, id: key.apiKeyId });
  await call(keyToken, '/protect/access-rules/create', rule('block'));
  await call(keyToken, '/protect/policies/add', { policy: policy('block') });
  const names = async () => {
    const [rules, policies, listed] = await Promise.all([
      call(token, '/protect/access-rules/history', {}),
      call(token, '/protect/policies/history', {}),
      call(token, '/protect/access-rules', { limit: 10 }),
    ]);
    return [rules.body.versions[0].byName, policies.body.versions[0].byName, listed.body.rules[0].updatedByName];
  };
  expect(await names()).toEqual(['deploy', 'deploy', 'deploy']);
  await call(token, '/api-keys/delete', { apiKeyId: key.apiKeyId });
  expect(await names()).toEqual(['deploy', 'deploy', 'deploy']);
  const { body } = await call(token, '/audit-trail/get', { limit: 1 });
  expect(body.entries[0].changes.items).toEqual([{ kind: 'API key', name: 'deploy', change: 'deleted', fields: [] }]);
});
