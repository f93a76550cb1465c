/**
 * What the rules of one account may take of an isolate that serves all accounts. They are bounded when they are
 * written, and again when the rules of several accounts are in memory.
 */
import { describe, expect, test } from 'vitest';
import { accessControlRulesFor } from '../../../src/service/captcha/access-control-rules.ts';
import { ACCESS_CONDITIONS_MAX_CHARS } from '../../../src/store/d1/access-control-rules.ts';
import { call, newAccount, serviceEnv } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';

const KEPT_FOR_MS = 3_600_000;
const VALUE_CHARS = 16_000;

/** Writes rules straight into the table: `count` rules with one `userId` condition of `chars` characters. */
async function fill(accountId: string, count: number, chars: number): Promise<void> {
  const now = testNow();
  await serviceEnv.DB.batch([
    serviceEnv.DB.prepare(
      `INSERT INTO access_control_rules (account_id, user_scope_hash, type, conditions, expiry, created_at, updated_at)
       WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?5)
       SELECT ?1, printf('h-%d', value), 'block', json_array(json_object('field', 'userId', 'value', printf('%0' || ?4 || 'd', value))), ?2, ?3, ?3
       FROM n`,
    ).bind(accountId, now + KEPT_FOR_MS, now, chars, count),
    serviceEnv.DB.prepare('INSERT INTO access_control_versions (account_id, version) VALUES (?, 1)').bind(accountId),
  ]);
}

function rule(value: string, description = ''): object {
  return { rule: { type: 'block', description, conditions: [{ field: 'userAgent', operator: 'equals', value }] } };
}

describe('writing rules', () => {
  test('refuses more text than the rules of an account may hold, however few they are', async () => {
    const { token, account } = await newAccount();
    await fill(account.id, Math.floor(ACCESS_CONDITIONS_MAX_CHARS / VALUE_CHARS) - 1, VALUE_CHARS - 100);
    expect((await call(token, '/access-control/create', rule('small'))).status).toBe(200);
    await fillUp(token);
    const refused = await call(token, '/access-control/create', rule('one too many'.padEnd(VALUE_CHARS, 'z')));
    expect([refused.status, refused.body.error.key]).toEqual([413, 'API.TOO_MANY_ITEMS']);
    // Existing rules can still be replaced.
    expect((await call(token, '/access-control/create', rule('small', 'again'))).status).toBe(200);
  });
});

/** Writes until the account is refused for the first time. */
async function fillUp(token: string): Promise<void> {
  for (let at = 0; at < 20; at++) {
    const value = String(at).padEnd(VALUE_CHARS, 'y');
    if ((await call(token, '/access-control/create', rule(value))).status !== 200) return;
  }
  throw new Error('the account was never full');
}

describe('keeping rules in memory', () => {
  test('drops the rules of other accounts before those of many large ones fill the isolate', async () => {
    const accounts = await Promise.all(Array.from({ length: 7 }, () => newAccount()));
    await Promise.all(accounts.map(({ account }) => fill(account.id, 450, VALUE_CHARS)));
    const now = testNow();
    const [first, ...others] = accounts.map(({ account }) => account.id) as [string, ...string[]];
    const before = await accessControlRulesFor(serviceEnv, first, now);
    expect(await accessControlRulesFor(serviceEnv, first, now)).toBe(before);
    for (const other of others) await accessControlRulesFor(serviceEnv, other, now);
    const after = await accessControlRulesFor(serviceEnv, first, now);
    expect(after).not.toBe(before);
    expect(after.rules).toHaveLength(450);
  });
});
