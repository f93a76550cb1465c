/** Who would have been above limits, by the requests of the log. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { newInstance, sendVerdicts } from './rule-book-instance.ts';
import { call } from './service/service-under-test.ts';
import { testNow } from '../support/clock.ts';

let instance: Awaited<ReturnType<typeof newInstance>>;
const preview = (body: object) => call(instance.token, '/protect/limits/preview', body);
const limited = (name: string, when = 'path equals "/login"', mode = 'enforce') => ({
  name: `asks-${name}`,
  when,
  then: { action: 'limit', limit: name },
  mode,
});
const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);

async function logged(...given: Partial<VerdictRecord>[]): Promise<VerdictRecord[]> {
  const records = given.map((one, index) => {
    const record = verdictRecordOf(instance.id, {
      timestamp: testNow() - 60_000 + index,
      request_path: '/login',
      ...one,
    });
    return { ...record, request_id: record.id };
  });
  expect((await sendVerdicts(instance.jwt, crypto.randomUUID(), records)).status).toBe(200);
  return records;
}

beforeEach(async () => {
  instance = await newInstance();
});

describe('a preview of limits', () => {
  test('says who would have been above them, and how far it looked', async () => {
    const records = await logged(
      ...times(5, { ip: '192.0.2.1' }),
      ...times(3, { ip: '192.0.2.2', country: 'NL', asn: 64_497 }),
      { ip: '192.0.2.1', request_path: '/other' },
    );
    const { status, body } = await preview({
      limits: [
        { name: 'login', key: ['ip'], count: 2, windowSeconds: 60 },
        { name: 'watched', key: ['country'], count: 1, windowSeconds: 60, mode: 'monitor' },
        { name: 'unused', key: ['ip'], count: 1, windowSeconds: 60 },
      ],
      policies: [limited('login'), limited('watched', 'path equals "/other"')],
    });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({ examined: 9, inWindow: 9, complete: true, refused: 4, allowedRequestsIncluded: true });
    expect(body.effects.map(({ limit, mode, requests, above }: any) => [limit, mode, requests, above])).toEqual([
      ['login', 'enforce', 8, 4],
      ['watched', 'monitor', 1, 0],
      ['unused', 'enforce', 0, 0],
    ]);
    expect(body.effects[0]).toMatchObject({ unsure: 0, untold: 0, keys: 2, addresses: 2, unlogged: [] });
    expect(body.effects[0].visitors).toMatchObject([
      { ip: '192.0.2.1', country: 'DE', asn: 64_496, above: 3, requestId: records[4]!.id },
      { ip: '192.0.2.2', country: 'NL', asn: 64_497, above: 1, requestId: records[7]!.id },
    ]);
  });

  test('counts only what reaches a limit', async () => {
    const block = { type: 'ip', value: '192.0.2.9', verdict: 'block' };
    const allow = { type: 'ip', value: '192.0.2.10', verdict: 'allow' };
    await instance.rules('/create', { rules: [block, allow] });
    const formerLimit: Partial<VerdictRecord> = {
      fired_rules: [{ id: 'limit:former', verdict: 'block', mode: 'enforce' }],
      decision: 'block',
      source: 'limit',
      decided_by: 'limit:former',
      origin_ms: null,
      status: 429,
    };
    await logged(...times(3, { ip: '192.0.2.9' }), ...times(3, { ip: '192.0.2.10' }), ...times(3, formerLimit));
    const { body } = await preview({
      limits: [{ name: 'login', key: ['prefix'], count: 1, windowSeconds: 60 }],
      policies: [limited('login')],
    });
    const stopped = [{ by: 'access-rule', requests: 3 }];
    expect(body.effects).toMatchObject([{ requests: 3, above: 2, untold: 0, addresses: 1, stopped }]);
  });

  test('counts every request of an instance that enforces nothing', async () => {
    await instance.rules('/create', { rules: [{ type: 'ip', value: '192.0.2.9', verdict: 'block' }] });
    await call(instance.token, '/protect/instances/update', { id: instance.id, monitor: true });
    await logged(...times(3, { ip: '192.0.2.9' }));
    const { body } = await preview({
      limits: [{ name: 'login', key: ['ip'], count: 1, windowSeconds: 60 }],
      policies: [limited('login')],
    });
    expect(body.effects).toMatchObject([{ requests: 3, above: 2, stopped: [] }]);
  });

  test('of log-ins says that nobody can tell the user, and what the network alone says', async () => {
    const failed: Partial<VerdictRecord> = { method: 'POST', status: 401 };
    await logged(...times(3, failed), { method: 'POST', status: 302 }, ...times(100, { ...failed, ip: '192.0.2.8' }));
    const { body } = await preview({
      limits: [
        {
          name: 'guessing',
          key: ['user'],
          count: 1,
          windowSeconds: 60,
          on: 'loginFailed',
          loginFailed: { status: [401], usernameField: 'email' },
        },
      ],
      policies: [limited('guessing')],
    });
    // Of 103 failures of one network 100 are within its companion; whose they were nobody knows.
    expect(body.effects).toMatchObject([{ requests: 104, above: 3, untold: 100, unlogged: ['user'] }]);
  });

  test('says of a header, a cookie, a failed challenge and an unknown policy that it cannot tell', async () => {
    await logged(...times(3, {}));
    const on = (name: string, changes: object) => ({ name, key: ['ip'], count: 1, windowSeconds: 60, ...changes });
    const { body } = await preview({
      limits: [
        on('header', { key: ['ip', 'header:x-api-key'] }),
        on('challenges', { on: 'challengeFailed' }),
        on('answers', { on: 'loginFailed', loginFailed: { header: { name: 'x-failed' } } }),
        on('conditional', {}),
      ],
      policies: [
        limited('header'),
        limited('challenges'),
        limited('answers'),
        limited('conditional', 'cookie["sid"] exists'),
      ],
    });
    const told = body.effects.map(({ limit, above, untold, unsure, unlogged }: any) => [
      limit,
      above,
      untold,
      unsure,
      unlogged.join(),
    ]);
    expect(told).toEqual([
      ['challenges', 0, 3, 0, 'challengeFailed'],
      ['header', 0, 2, 0, 'header:x-api-key'],
      ['answers', 0, 2, 0, 'loginFailed.header'],
      ['conditional', 0, 2, 3, ''],
    ]);
  });

  test('leaves out requests of older edges, which did not record what was decided from', async () => {
    await logged({}, {}, { explain: 'Allowed by default; ruleset version 1.' });
    const { body } = await preview({
      limits: [{ name: 'login', key: ['ip'], count: 1, windowSeconds: 60 }],
      policies: [limited('login')],
    });
    expect(body).toMatchObject({ examined: 3, withoutInputs: 1, effects: [{ requests: 2, above: 1 }] });
  });

  test('takes the current policies and limits where none are given, and refuses what cannot be a set', async () => {
    const set = { limits: [{ name: 'login', key: ['ip'], count: 1, windowSeconds: 60 }], policies: [limited('login')] };
    await call(instance.token, '/protect/policies/set', set);
    await logged({}, {});
    expect((await preview({})).body).toMatchObject({ refused: 1, effects: [{ limit: 'login', above: 1 }] });
    expect((await preview({ limits: [] })).status).toBe(400);
    expect((await preview({ since: testNow() + 3_600_000 })).status).toBe(400);
  });
});
