/**
 * Every operation with every reason to refuse it. The database is watched: until a call is authorised, only its account
 * and its key are read, no Durable Object or bucket is used, and nothing is written.
 */
import { beforeAll, expect, test } from 'vitest';
import {
  type Feature,
  featurePermissions,
  features,
  type Permission,
  type PermissionMap,
  permissionsFor,
} from '../../../src/contract/management/permissions.ts';
import type { Operation } from '../../../src/service/operations/define-operation.ts';
import { operations } from '../../../src/service/operations/operation-table.ts';
import { createAccount, updateAccount } from '../../../src/store/d1/accounts.ts';
import { apiKeyToken, createApiKey, deleteApiKey } from '../../../src/store/d1/api-keys.ts';
import { expectRows } from '../../support/rows.ts';
import { send, serviceEnv } from './service-under-test.ts';
import { rootKey } from '../../../src/store/keys/root-key.ts';
import { testNow } from '../../support/clock.ts';

/** 32 bytes of another deployment's key. */
const OTHER_MASTER_KEY = `${'B'.repeat(42)}A`;

/** Bindings that record every statement and throw for everything except D1. */
function watched(): { env: ServiceEnv; statements: string[] } {
  const statements: string[] = [];
  const DB = new Proxy(serviceEnv.DB, {
    get(target, name) {
      if (name === 'prepare') {
        return (sql: string) => {
          statements.push(sql.replace(/\s+/g, ' ').trim());
          return target.prepare(sql);
        };
      }
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  const untouchable = (name: string): object =>
    new Proxy(
      {},
      {
        get() {
          throw new Error(`${name} was touched before the call was authorised`);
        },
      },
    );
  const names = [
    'RULESETS',
    'SEGMENTS',
    'RULE_BOOK',
    'VERDICT_SHARD',
    'SPEND_LEDGER',
    'RISK_BOOK',
    'LIMIT_LEDGER',
    'ATTACK_WATCH',
  ];
  const env = { ...serviceEnv, DB, ...Object.fromEntries(names.map((name) => [name, untouchable(name)])) };
  return { env, statements };
}

const principalReads = [
  // The key that checks the token's signature, read once per isolate.
  'SELECT sealed FROM root_key WHERE id = 1',
  'SELECT * FROM api_keys WHERE id = ? AND account_id = ?',
  'SELECT * FROM accounts WHERE id = ?',
];

async function expectRefused(operation: Operation, authorization: string | null, status: number, key: string) {
  const { env, statements } = watched();
  const headers = new Headers();
  if (authorization !== null) headers.set('authorization', authorization);
  const init: RequestInit = { method: operation.method, headers };
  if (operation.method !== 'GET') {
    headers.set('content-type', 'application/json');
    // The body is not read, so a refused caller learns nothing about the schema.
    init.body = '{"broken';
  }
  const response = await send(operation.path, init, env);
  const body = await response.json<{ error: { code: number; key: string } }>();
  expect([response.status, body.error.code, body.error.key]).toEqual([status, status, key]);
  for (const statement of statements) expect(principalReads).toContain(statement);
}

type Setting = {
  account: { id: string };
  key(permissions?: PermissionMap, expiresInSeconds?: number): Promise<{ id: string; bearer: string }>;
  withFeatures(enabled: readonly Feature[]): Promise<void>;
};

let accounts = 0;
async function setting(): Promise<Setting> {
  accounts += 1;
  const owner = { ownerEmail: `matrix${accounts}@example.com`, tier: 'enterprise' as const };
  const account = await createAccount(serviceEnv, owner, testNow());
  return {
    account,
    async key(permissions = featurePermissions, expiresInSeconds = 3600) {
      const now = testNow();
      const { id } = await createApiKey(
        serviceEnv,
        { accountId: account.id, name: 'matrix', permissions, expiresInSeconds },
        now,
      );
      return { id, bearer: `Bearer ${await apiKeyToken(await rootKey(serviceEnv), { accountId: account.id, id })}` };
    },
    async withFeatures(enabled) {
      await updateAccount(serviceEnv, account.id, { features: enabled }, testNow());
    },
  };
}

// The first call of a deployment creates the key. No call here is the first.
beforeAll(async () => {
  await rootKey(serviceEnv);
});

let tenant: Setting;
beforeAll(async () => {
  tenant = await setting();
});

/** Checks a fact for all operations. A failure names the operation. */
function everyOperation(check: (operation: Operation) => Promise<void>, of: readonly Operation[] = operations) {
  return () => expectRows(of, check, ({ method, path }) => `${method} ${path}`);
}

async function expectAllowed(operation: Operation, bearer: string): Promise<void> {
  const headers = { authorization: bearer };
  const { status } = await send(operation.path, { method: operation.method, headers });
  expect([401, 403]).not.toContain(status);
}

test(
  'no header is 401',
  everyOperation((operation) => expectRefused(operation, null, 401, 'API.MISSING_AUTHORIZATION_HEADER')),
);
test(
  'no bearer is 401',
  everyOperation((operation) => expectRefused(operation, 'Basic YTpi', 401, 'API.UNAUTHORIZED')),
);
test(
  'an unsigned token is 401',
  everyOperation((operation) => expectRefused(operation, 'Bearer e30.e30.e30', 401, 'API.UNAUTHORIZED')),
);

test(
  'a wrong signature is 401',
  everyOperation(async (operation) => {
    const forged = await apiKeyToken(OTHER_MASTER_KEY, { accountId: tenant.account.id, id: (await tenant.key()).id });
    await expectRefused(operation, `Bearer ${forged}`, 401, 'API.UNAUTHORIZED');
  }),
);

test(
  'a deleted key is 401',
  everyOperation(async (operation) => {
    const { id, bearer } = await tenant.key();
    await deleteApiKey(serviceEnv, tenant.account.id, id);
    await expectRefused(operation, bearer, 401, 'API.UNAUTHORIZED');
  }),
);

test(
  'an expired key is 401',
  everyOperation(async (operation) => {
    await expectRefused(operation, (await tenant.key(featurePermissions, -1)).bearer, 401, 'API.KEY_EXPIRED');
  }),
);

test(
  'the key of one account under the id of another is 401',
  everyOperation(async (operation) => {
    const other = await setting();
    const { id } = await tenant.key();
    const crossed = await apiKeyToken(await rootKey(serviceEnv), { accountId: other.account.id, id });
    await expectRefused(operation, `Bearer ${crossed}`, 401, 'API.UNAUTHORIZED');
  }),
);

test(
  'a disabled account is 403',
  everyOperation(async (operation) => {
    const own = await setting();
    const { bearer } = await own.key();
    await updateAccount(serviceEnv, own.account.id, { disabled: true }, testNow());
    await expectRefused(operation, bearer, 403, 'API.ACCOUNT_DISABLED');
  }),
);

test(
  'an account without the API feature is 403',
  everyOperation(async (operation) => {
    const own = await setting();
    const { bearer } = await own.key();
    await own.withFeatures(features.filter((feature) => feature !== 'API'));
    await expectRefused(operation, bearer, 403, 'API.FEATURE_NOT_ENABLED');
  }),
);

test(
  "an account without the endpoint's feature is 403",
  everyOperation(async (operation) => {
    const own = await setting();
    const { bearer } = await own.key();
    await own.withFeatures(features.filter((feature) => feature !== operation.feature));
    await expectRefused(operation, bearer, 403, 'API.FEATURE_NOT_ENABLED');
  }),
);

test(
  'every other permission together is 403',
  everyOperation(async (operation) => {
    const others = Object.fromEntries(
      Object.entries(featurePermissions).map(([feature, list]) => [
        feature,
        (list as readonly Permission[]).filter(
          (name) => feature !== operation.feature || !permissionsFor(operation).includes(name),
        ),
      ]),
    ) as PermissionMap;
    await expectRefused(operation, (await tenant.key(others)).bearer, 403, 'API.INSUFFICIENT_PERMISSIONS');
  }),
);

test(
  'the permission’s name under another feature is 403',
  everyOperation(async (operation) => {
    const elsewhere = operation.feature === 'Traffic' ? 'Sites' : 'Traffic';
    const misplaced = { [elsewhere]: [operation.permission] } as PermissionMap;
    await expectRefused(operation, (await tenant.key(misplaced)).bearer, 403, 'API.INSUFFICIENT_PERMISSIONS');
  }),
);

const writes = operations.filter(({ access }) => access === 'write');
const reads = operations.filter(({ access }) => access !== 'write');

async function owing(): Promise<string> {
  const own = await setting();
  const { bearer } = await own.key();
  await updateAccount(serviceEnv, own.account.id, { paymentOwed: true }, testNow());
  return bearer;
}

test(
  'a write while a payment is owed is 403',
  everyOperation(async (operation) => {
    await expectRefused(operation, await owing(), 403, 'API.PAYMENT_REQUIRED');
  }, writes),
);

test(
  'a read while a payment is owed goes on',
  everyOperation(async (operation) => expectAllowed(operation, await owing()), reads),
);

test('a permission removed from the key counts from the next call on', async () => {
  const own = await setting();
  const { id, bearer } = await own.key();
  const get = () => send('/sites/get', { method: 'POST', headers: { authorization: bearer } });
  expect((await get()).status).toBe(200);
  await serviceEnv.DB.prepare('UPDATE api_keys SET permissions = ? WHERE id = ?').bind('{}', id).run();
  expect((await get()).status).toBe(403);
});

const ofProtect = (given: readonly Operation[]) => given.filter(({ feature }) => feature === 'Protect');
const readKey = async () => (await (await setting()).key({ Protect: ['readProtect'] })).bearer;

test(
  'a key that may only read Protect is allowed when it reads',
  everyOperation(async (operation) => expectAllowed(operation, await readKey()), ofProtect(reads)),
);

test(
  'a key that may only read Protect is refused when it writes',
  everyOperation(async (operation) => {
    await expectRefused(operation, await readKey(), 403, 'API.INSUFFICIENT_PERMISSIONS');
  }, ofProtect(writes)),
);

test('every operation has its own name and route', () => {
  expect(new Set(operations.map((operation) => operation.name)).size).toBe(operations.length);
  expect(new Set(operations.map((operation) => `${operation.method} ${operation.path}`)).size).toBe(operations.length);
});
