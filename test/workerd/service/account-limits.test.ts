/** How many items an account may have of a kind that is listed without pages, and which are removed by themselves. */
import { expect, test } from 'vitest';
import { accountLimits } from '../../../src/store/d1/account-limits.ts';
import { purgeExpiredApiKeys } from '../../../src/store/d1/api-keys.ts';
import { call, newAccount, serviceEnv, type TestAccount } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';

const numbers = 'WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?2)';
const sites = `INSERT INTO sites (site_key, account_id, name, secret_hash, secret_sealed, settings, created_at, updated_at)
  ${numbers} SELECT ?1 || value, ?1, 'filled' || value, ?1 || value, '', '{}', 0, 0 FROM n`;

interface Limit {
  what: keyof typeof accountLimits;
  /** Rows that a new account has. */
  had: number;
  fill: string[];
  path: string;
  body: (number: number, account: TestAccount) => object | Promise<object>;
}

const limits: Limit[] = [
  {
    what: 'sites',
    had: 1,
    fill: [sites],
    path: '/sites/create',
    body: (number) => ({ name: `site${number}`, settings: { domains: ['a.example'] } }),
  },
  {
    what: 'users',
    had: 1,
    fill: [
      `INSERT INTO users (account_id, email, name, role, status, created_at, updated_at)
       ${numbers} SELECT ?1, 'filled' || value, 'x', 'viewer', 'active', 0, 0 FROM n`,
    ],
    path: '/users/create',
    body: (number) => ({ email: `u${number}@example.com`, name: 'U', role: 'viewer' }),
  },
  {
    what: 'API keys',
    had: 1,
    fill: [
      `INSERT INTO api_keys (id, account_id, name, permissions, expires_at, created_at)
       ${numbers} SELECT ?1 || value, ?1, 'x', '{}', 0, 0 FROM n`,
    ],
    path: '/api-keys/create',
    body: () => ({ name: 'one', permissions: { Sites: ['getSites'] } }),
  },
  {
    what: 'active Protect instances',
    had: 0,
    fill: [
      sites,
      `INSERT INTO protect_instances (id, account_id, name, cname, global_site_key, policy, created_at, updated_at)
       ${numbers} SELECT ?1 || value, ?1, 'x', ?1 || value, ?1 || value, '{}', 0, 0 FROM n`,
    ],
    path: '/protect/instances/create',
    async body(number, { site, token }) {
      const second = { name: 'second', settings: { domains: ['b.example'] } };
      const siteKey = number === 0 ? site.siteKey : (await call(token, '/sites/create', second)).body.siteKey;
      return { name: 'one', cname: `last${number}.example`, globalSiteKey: siteKey };
    },
  },
];

test('the last one below a limit is accepted, the next is refused', () =>
  expectRows(
    limits,
    async ({ what, had, fill, path, body }) => {
      const account = await newAccount();
      for (const statement of fill) {
        const count = accountLimits[what] - had - 1;
        await serviceEnv.DB.prepare(statement).bind(account.account.id, count).run();
      }
      const last = await call(account.token, path, await body(0, account));
      expect([last.status, last.body.error]).toEqual([200, undefined]);
      const next = await call(account.token, path, await body(1, account));
      expect([next.status, next.body.error.key]).toEqual([413, 'API.TOO_MANY_ITEMS']);
    },
    ({ what }) => what,
  ));

test('keys that expired before a given time are deleted, and others stay', async () => {
  const { account, token } = await newAccount();
  const now = testNow();
  const insert = serviceEnv.DB.prepare(
    `INSERT INTO api_keys (id, account_id, name, permissions, expires_at, created_at) VALUES (?, ?, ?, '{}', ?, 0)`,
  );
  await serviceEnv.DB.batch([
    insert.bind(`${account.id}-old`, account.id, 'old', now - 2000),
    insert.bind(`${account.id}-new`, account.id, 'new', now - 500),
  ]);
  await purgeExpiredApiKeys(serviceEnv, now - 1000, 5000);
  const { body } = await call(token, '/api-keys/get', {});
  expect(body.map(({ name }: { name: string }) => name).toSorted()).toEqual(['new', 'test']);
});

test('every active instance is listed, and the latest hundred deleted ones', async () => {
  const { account, token } = await newAccount();
  await serviceEnv.DB.prepare(sites).bind(account.id, 130).run();
  await serviceEnv.DB.prepare(
    `INSERT INTO protect_instances (id, account_id, name, cname, global_site_key, policy, active, created_at, updated_at)
     ${numbers} SELECT ?1 || value, ?1, 'i' || value, ?1 || value, ?1 || value, '{}', value <= 5, value, value FROM n`,
  )
    .bind(account.id, 130)
    .run();
  const { body } = await call(token, '/protect/instances', {});
  const names = body.map(({ name }: { name: string }) => name);
  expect(names).toEqual([
    ...Array.from({ length: 5 }, (_, index) => `i${index + 1}`),
    ...Array.from({ length: 100 }, (_, index) => `i${index + 31}`),
  ]);
});
