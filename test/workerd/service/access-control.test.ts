/** Access control rules of an account over the management API. */
import { describe, expect, test } from 'vitest';
import { accessControlRulesFor } from '../../../src/service/captcha/access-control-rules.ts';
import { requestGroupRemoval, resumeGroupRemovals, runGroupRemoval } from '../../../src/store/d1/rule-group-jobs.ts';
import { later, testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';
import { call, newAccount, serviceEnv } from './service-under-test.ts';

const MINUTE_MS = 60_000;

const ipIs = (value: string) => ({ field: 'ip', operator: 'equals', value });

async function create(token: string, rule: object) {
  return call(token, '/access-control/create', { rule });
}
async function list(token: string, query: object = {}) {
  return (await call(token, '/access-control/get', query)).body;
}

/** Writes rules straight into the table, for tests of what happens with many. */
async function insertRules(accountId: string, group: string, count: number, at: number) {
  const statement = serviceEnv.DB.prepare(
    `INSERT INTO access_control_rules (account_id, user_scope_hash, type, conditions, rule_group_id, expiry, created_at, updated_at)
     WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?5)
     SELECT ?1, printf('%s-%d', ?2, value), 'block', '[{"field":"userId","value":"u"}]', ?2, ?3, ?4, ?4
     FROM n`,
  );
  await statement.bind(accountId, group, at + 3_600_000, at, count).run();
}

describe('creating a rule', () => {
  test('without expiry makes it expire in an hour', async () => {
    const { token } = await newAccount();
    const before = testNow();
    const answer = await create(token, { type: 'block', conditions: [ipIs('192.0.2.1')] });
    expect([answer.status, answer.body]).toEqual([200, { status: 'Added new rule' }]);
    const { rules } = await list(token);
    const life = Date.parse(rules[0].expiry) - before;
    expect(life).toBeGreaterThanOrEqual(3_600_000);
    expect(life).toBeLessThan(3_610_000);
    expect(rules[0]).toMatchObject({ type: 'block', expired: false, conditions: [ipIs('192.0.2.1')] });
  });

  test('drops conditions with other operators silently', async () => {
    const { token } = await newAccount();
    await create(token, {
      type: 'block',
      conditions: [ipIs('192.0.2.1'), { field: 'asn', operator: 'contains', value: 64496 }],
    });
    expect((await list(token)).rules[0].conditions).toEqual([ipIs('192.0.2.1')]);
  });

  test('refuses a rule with no condition left and gives the reason', async () => {
    const { token } = await newAccount();
    const answer = await create(token, {
      type: 'block',
      conditions: [{ field: 'asn', operator: 'contains', value: 64496 }],
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details).toEqual([
      { path: 'rule.conditions', message: 'needs at least one condition with the operator equals' },
    ]);
  });

  test('a block rule with a field of a restriction is refused', () =>
    expectRows(
      [
        ['captchaType', 'image'],
        ['solvedImagesCount', 3],
        ['powDifficulty', 5],
        ['deferToVerify', true],
      ],
      async ([name, value]) => {
        const { token } = await newAccount();
        const answer = await create(token, { type: 'block', conditions: [ipIs('192.0.2.1')], [name]: value });
        expect([answer.status, answer.body.error.details[0].path]).toEqual([400, `rule.${name}`]);
        expect((await list(token)).ruleCount).toBe(0);
      },
    ));

  test('a restrict rule keeps every field', async () => {
    const { token } = await newAccount();
    const restriction = {
      captchaType: 'image',
      solvedImagesCount: 3,
      unsolvedImagesCount: 2,
      imageThreshold: 0.7,
      powDifficulty: 5.5,
      frictionlessScore: 0.3,
      deferToVerify: true,
    };
    await create(token, { type: 'restrict', conditions: [ipIs('192.0.2.1')], ...restriction });
    expect((await list(token)).rules[0]).toMatchObject(restriction);
  });

  test('a condition with a mistake is refused by its path', () =>
    expectRows(
      [
        [{ field: 'ip', operator: 'equals', value: '1.2.3' }, 'rule.conditions.0.value'],
        [{ field: 'ipMask', operator: 'equals', value: '192.0.2.1' }, 'rule.conditions.0.value'],
        [{ field: 'countryCode', operator: 'equals', value: 'XQ' }, 'rule.conditions.0.value'],
        [{ field: 'ja4Hash', operator: 'equals', value: 'x' }, 'rule.conditions.0.value'],
        [{ field: 'asn', operator: 'equals', value: -1 }, 'rule.conditions.0.value'],
        [{ field: 'colour', operator: 'equals', value: 'red' }, 'rule.conditions.0.field'],
        [{ field: 'ip', value: '192.0.2.1' }, 'rule.conditions.0.operator'],
      ],
      async ([condition, path]) => {
        const { token } = await newAccount();
        const answer = await create(token, { type: 'block', conditions: [condition] });
        expect([answer.status, answer.body.error.details[0].path]).toEqual([400, path]);
      },
    ));

  test('an expiry without an offset is UTC', async () => {
    const { token } = await newAccount();
    await create(token, { type: 'block', conditions: [ipIs('192.0.2.1')], expiry: '2045-01-02T03:04:05' });
    await create(token, { type: 'block', conditions: [ipIs('192.0.2.2')], expiry: '2045-01-02T03:04:05+02:00' });
    await create(token, { type: 'block', conditions: [ipIs('192.0.2.3')], expiry: '2045-01-02T01:04Z' });
    await create(token, { type: 'block', conditions: [ipIs('192.0.2.4')], expiry: '2045-01-02T01:03' });
    const { rules } = await list(token, { sortBy: 'expiry', sortOrder: -1 });
    expect(rules.map((rule: any) => rule.expiry)).toEqual([
      '2045-01-02T03:04:05.000Z',
      '2045-01-02T01:04:05.000Z',
      '2045-01-02T01:04:00.000Z',
      '2045-01-02T01:03:00.000Z',
    ]);
  });
});

describe('userScopeHash', () => {
  test('is the same for the same conditions in another order and spelling, which are one rule', async () => {
    const { token } = await newAccount();
    await create(token, {
      type: 'block',
      conditions: [ipIs('2001:DB8::0:1'), { field: 'asn', operator: 'equals', value: 'AS64496' }],
    });
    const first = (await list(token)).rules[0];
    await create(token, {
      type: 'restrict',
      captchaType: 'pow',
      conditions: [{ field: 'asn', operator: 'equals', value: 64496 }, ipIs('2001:db8::1')],
    });
    const { rules, ruleCount } = await list(token);
    expect(ruleCount).toBe(1);
    expect(rules[0]).toMatchObject({
      userScopeHash: first.userScopeHash,
      type: 'restrict',
      createdAt: first.createdAt,
    });
  });

  test('deletes its rule, once', async () => {
    const { token } = await newAccount();
    await create(token, { type: 'block', conditions: [ipIs('192.0.2.1')] });
    const { userScopeHash } = (await list(token)).rules[0];
    expect((await call(token, '/access-control/delete', { userScopeHash })).body).toEqual({ status: 'Deleted rule' });
    expect((await call(token, '/access-control/delete', { userScopeHash })).status).toBe(404);
    expect((await list(token)).ruleCount).toBe(0);
  });

  test('of another account is 404', async () => {
    const mine = await newAccount();
    const other = await newAccount();
    await create(mine.token, { type: 'block', conditions: [ipIs('192.0.2.1')] });
    const { userScopeHash } = (await list(mine.token)).rules[0];
    expect((await call(other.token, '/access-control/delete', { userScopeHash })).status).toBe(404);
    expect((await list(mine.token)).ruleCount).toBe(1);
    expect((await list(other.token)).ruleCount).toBe(0);
  });
});

describe('listing rules', () => {
  test('a listed rule can be passed back to create unchanged', async () => {
    const { token } = await newAccount();
    await create(token, {
      type: 'restrict',
      description: 'slow them down',
      ruleGroupId: 'scrapers',
      captchaType: 'pow',
      powDifficulty: 6,
      expiry: '2045-01-01T00:00:00Z',
      conditions: [
        { field: 'userAgent', operator: 'equals', value: 'Bot/1.0 (+x)' },
        { field: 'ipMask', operator: 'equals', value: '192.0.2.77/24' },
        { field: 'countryCode', operator: 'equals', value: 'de' },
        { field: 'userId', operator: 'equals', value: 'u-1' },
      ],
    });
    const [rule] = (await list(token)).rules;
    expect((await create(token, rule)).status).toBe(200);
    const again = await list(token);
    expect(again.ruleCount).toBe(1);
    expect({ ...again.rules[0], updatedAt: '' }).toEqual({ ...rule, updatedAt: '' });
  });

  test('a listed rule can be passed back after its expiry too, and stays expired', async () => {
    const { token } = await newAccount();
    const expiry = new Date(testNow() + 60_000).toISOString();
    await create(token, { type: 'block', conditions: [ipIs('192.0.2.1')], expiry });
    const [before] = (await list(token)).rules;
    later(120_000);
    expect((await create(token, before)).status).toBe(200);
    const [after] = (await list(token)).rules;
    expect(after).toEqual({ ...before, updatedAt: after.updatedAt, expired: true });
    expect((await create(token, after)).status).toBe(200);
    const { type, conditions } = after;
    expect((await create(token, { type, conditions, expiry })).body.error.details).toEqual([
      { path: 'rule.expiry', message: 'is in the past' },
    ]);
  });

  test('pages neither skip nor repeat a rule, in every order, up to 10,000 at once', async () => {
    const { token, account } = await newAccount();
    await insertRules(account.id, 'g', 10_001, testNow());
    const whole = await list(token, { limit: 10_000 });
    expect([whole.rules.length, whole.ruleCount, whole.page, whole.pages]).toEqual([10_000, 10_001, 1, 2]);
    expect((await list(token, { limit: 10_000, page: 2 })).rules).toHaveLength(1);
    for (const sortBy of ['createdAt', 'description', 'expiry', 'userScopeHash', 'ruleGroupId']) {
      const seen = new Set<string>();
      for (let page = 1; page <= 3; page++) {
        for (const rule of (await list(token, { sortBy, page, limit: 4000, sortOrder: 1 })).rules) {
          seen.add(rule.userScopeHash);
        }
      }
      expect([sortBy, seen.size]).toEqual([sortBy, 10_001]);
    }
  });

  test('sorts in both directions and counts groups whatever the filter', async () => {
    const { token, account } = await newAccount();
    await insertRules(account.id, 'a', 2, testNow());
    await insertRules(account.id, 'b', 3, testNow());
    await create(token, { type: 'block', conditions: [ipIs('192.0.2.1')] });
    const filtered = await list(token, { ruleGroupId: 'a', sortBy: 'userScopeHash', sortOrder: -1 });
    expect(filtered.rules.map((rule: any) => rule.userScopeHash)).toEqual(['a-2', 'a-1']);
    expect([filtered.ruleCount, filtered.pages]).toEqual([2, 1]);
    expect(filtered.ruleGroupsAndCounts).toEqual([
      { ruleGroupId: 'b', count: 3 },
      { ruleGroupId: 'a', count: 2 },
    ]);
  });

  test('a mistake is refused by its path', () =>
    expectRows(
      [
        [{ limit: 10_001 }, 'limit'],
        [{ limit: 0 }, 'limit'],
        [{ page: 0 }, 'page'],
        [{ sortBy: 'type' }, 'sortBy'],
        [{ sortOrder: 2 }, 'sortOrder'],
      ],
      async ([query, path]) => {
        const { token } = await newAccount();
        const { status, body } = await call(token, '/access-control/get', query);
        expect([status, body.error.details[0].path]).toEqual([400, path]);
      },
    ));

  test('an expired rule stays listed as expired and has no effect', async () => {
    const { token, account } = await newAccount();
    const expiry = new Date(testNow() + MINUTE_MS).toISOString();
    await create(token, { type: 'block', conditions: [ipIs('192.0.2.1')], expiry });
    expect((await list(token)).rules[0].expired).toBe(false);
    later(MINUTE_MS + 1);
    expect((await list(token)).rules[0].expired).toBe(true);
    expect((await accessControlRulesFor(serviceEnv, account.id, testNow())).rules).toEqual([]);
  });
});

describe('a rule group', () => {
  test('is removed by a job whose state can be read', async () => {
    const { token, account } = await newAccount();
    await insertRules(account.id, 'gone', 2500, testNow() - 10);
    await insertRules(account.id, 'kept', 3, testNow() - 10);
    const { status, body } = await call(token, '/access-control/group/delete', { ruleGroupId: 'gone' });
    expect(status).toBe(200);
    expect(body.status).toBe(`Group removal pending. Job ID: ${body.jobId}`);
    const job = await call(token, '/access-control/group/job', { jobId: body.jobId });
    expect(job.body).toMatchObject({ ruleGroupId: 'gone', status: 'finished', deletedCount: 2500 });
    expect((await list(token)).ruleCount).toBe(3);
    const other = await newAccount();
    expect((await call(other.token, '/access-control/group/job', { jobId: body.jobId })).status).toBe(404);
  });

  test('is removed completely after a restart in the middle, and later rules stay', async () => {
    const { token, account } = await newAccount();
    const asked = testNow() - 20_000;
    await insertRules(account.id, 'gone', 2500, asked - 1);
    const job = await requestGroupRemoval(serviceEnv, account.id, 'gone', asked);
    // One step of a thousand rules succeeds, then the isolate fails.
    let steps = 0;
    const dying = () => {
      if (steps++ > 0) throw new Error('the isolate is gone');
      return asked;
    };
    await expect(runGroupRemoval(serviceEnv, job, dying)).rejects.toThrow('the isolate is gone');
    await create(token, { type: 'block', ruleGroupId: 'gone', conditions: [ipIs('192.0.2.1')] });
    const between = await call(token, '/access-control/group/job', { jobId: job.id });
    expect(between.body).toMatchObject({ status: 'pending', deletedCount: 1000 });
    await resumeGroupRemovals(serviceEnv, testNow(), testNow);
    expect((await call(token, '/access-control/group/job', { jobId: job.id })).body).toMatchObject({
      status: 'finished',
      deletedCount: 2500,
    });
    expect((await list(token)).rules.map((rule: any) => rule.conditions)).toEqual([[ipIs('192.0.2.1')]]);
  });
});

describe('the rules in an isolate’s memory', () => {
  test('take a change within two seconds, without a read in between', async () => {
    const { token, account } = await newAccount();
    const now = testNow();
    const empty = await accessControlRulesFor(serviceEnv, account.id, now);
    expect(empty.rules).toEqual([]);
    await create(token, { type: 'block', conditions: [ipIs('192.0.2.1')] });
    expect(await accessControlRulesFor(serviceEnv, account.id, now + 500)).toBe(empty);
    const after = await accessControlRulesFor(serviceEnv, account.id, now + 1500);
    expect(after.rules).toMatchObject([{ type: 'block', conditions: [{ field: 'ip', value: '192.0.2.1' }] }]);
    expect(after.version).toBeGreaterThan(empty.version);
    expect(await accessControlRulesFor(serviceEnv, account.id, now + 3000)).toBe(after);
  });
});
