/** The preview of a file of rules: what it would change, and what that would have done to the last day's requests. */
import { describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { newInstance, sendVerdicts } from './rule-book-instance.ts';
import { call } from './service/service-under-test.ts';
import { testNow } from '../support/clock.ts';

type Instance = Awaited<ReturnType<typeof newInstance>>;

async function logged({ id, jwt }: Instance, ...given: Partial<VerdictRecord>[]): Promise<VerdictRecord[]> {
  const records = given.map((one, index) => verdictRecordOf(id, { timestamp: testNow() - 60_000 + index, ...one }));
  expect((await sendVerdicts(jwt, crypto.randomUUID(), records)).status).toBe(200);
  return records;
}

describe('a file', () => {
  test('is compared with the stored rules, line by line', async () => {
    const { rules } = await newInstance();
    await rules('/create', {
      rules: [
        { type: 'ip', value: '192.0.2.1', verdict: 'block' },
        { type: 'ip', value: '192.0.2.2', verdict: 'block', note: 'kept' },
      ],
    });
    const content = ['# a list', '192.0.2.1', '192.0.2.2', '192.0.2.3', 'nonsense', '198.51.100.0/24', '1.2.3'].join(
      '\n',
    );
    const { status, body } = await rules('/preview', { content, verdict: 'block' });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.plan).toEqual({ added: 2, changed: 1, unchanged: 1, removed: 0, refused: 2 });
    expect(body.format).toBe('list');
    expect(body.refusedLines.map(({ line }: any) => line)).toEqual([5, 7]);
    expect(body.refusedLines[0].reason).toContain('is no address');
    expect(body.differences.map(({ change, rule, before }: any) => [change, rule?.value, before?.note])).toEqual([
      ['changed', '192.0.2.2', 'kept'],
      ['added', '192.0.2.3', undefined],
      ['added', '198.51.100.0/24', undefined],
    ]);
    expect((await rules('', { limit: 9 })).body.total).toBe(2);
  });

  test('has for each rule how many requests and visitors it would have touched, and examples', async () => {
    const instance = await newInstance();
    await logged(
      instance,
      ...Array.from({ length: 5 }, (_, n) => ({ ip: `192.0.2.${n % 2}`, request_path: `/${n}` })),
      { ip: '192.0.2.9', jti: 'one' },
      { ip: '192.0.2.10', jti: 'one' },
      { ip: '203.0.113.1' },
    );
    const content = 'type,value,verdict\nipMask,192.0.2.0/24,challenge\nip,192.0.2.0,block\nip,203.0.113.9,block\n';
    const { body } = await instance.rules('/preview', { content });
    expect(body).toMatchObject({
      format: 'csv',
      examined: 8,
      inWindow: 8,
      complete: true,
      changed: 7,
      rulesTouched: 2,
    });
    const effects = body.effects.map(({ rule, change, requests, visitors, changes }: any) => [
      rule,
      change,
      requests,
      visitors,
      changes,
    ]);
    expect(effects).toEqual([
      [
        'ipMask:192.0.2.0/24',
        'added',
        7,
        3,
        [
          { from: 'allow', to: 'challenge', requests: 4 },
          { from: 'allow', to: 'block', requests: 3 },
        ],
      ],
      ['ip:192.0.2.0', 'added', 3, 1, [{ from: 'allow', to: 'block', requests: 3 }]],
    ]);
    expect(body.effects.map(({ examples }: any) => examples.length)).toEqual([3, 3]);
    expect(body.effects[1].examples.map(({ requestPath }: any) => requestPath)).toEqual(['/4', '/2', '/0']);
  });

  test('in pieces is examined on the same requests, and names the rules that together have its whole effect', async () => {
    const instance = await newInstance();
    const records = await logged(
      instance,
      ...Array.from({ length: 4 }, (_, n) => ({ ip: '192.0.2.1', request_path: `/${n}` })),
    );
    const until = records[2]!.timestamp;
    const window = { since: until - 60_000, until };
    const one = await instance.rules('/preview', { content: '192.0.2.0/24', verdict: 'block', ...window });
    const other = await instance.rules('/preview', { content: '192.0.2.1', verdict: 'allow', ...window });
    for (const { body } of [one, other]) {
      expect(body).toMatchObject({ examined: 2, complete: true, rulesTouched: 1 });
      expect(Date.parse(body.examinedSince)).toBe(window.since);
      expect(Date.parse(body.until)).toBe(until);
    }
    const proposed = [...one.body.effects, ...other.body.effects].map((effect: any) => effect.proposed);
    expect(proposed).toMatchObject([
      { type: 'ipMask', value: '192.0.2.0/24', verdict: 'block' },
      { type: 'ip', value: '192.0.2.1', verdict: 'allow' },
    ]);
    const content = proposed.map((rule) => JSON.stringify(rule)).join('\n');
    const whole = await instance.rules('/preview', { content, ...window });
    expect(whole.body).toMatchObject({ format: 'ndjson', examined: 2, changed: 0 });
    expect(one.body.changed).toBe(2);
  });

  test('of 30,000 lines is previewed at once, and one of too many is refused', async () => {
    const { rules } = await newInstance();
    const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
    const list = (length: number) => Array.from({ length }, (_, n) => address(n)).join('\n');
    const { status, body } = await rules('/preview', { content: `${list(30_000)}\nx\n`, verdict: 'block' });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.plan).toEqual({ added: 30_000, changed: 0, unchanged: 0, removed: 0, refused: 1 });
    expect(body.refusedLines.map(({ line }: any) => line)).toEqual([30_001]);
    expect(body.differences).toHaveLength(1000);
    const agents = Array.from({ length: 10_001 }, (_, n) => `userAgent,bot${n},block`).join('\n');
    const refused = await Promise.all([
      rules('/preview', { content: list(100_001), verdict: 'block' }),
      rules('/preview', { content: agents, format: 'csv' }),
    ]);
    expect(refused.map((answer) => [answer.status, answer.body.error.key])).toEqual([
      [413, 'API.TOO_MANY_ITEMS'],
      [413, 'API.TOO_MANY_ITEMS'],
    ]);
  });
});

test('rules that would be deleted are previewed by the requests in which they fired', async () => {
  const instance = await newInstance();
  await instance.rules('/create', { rules: [{ type: 'asn', value: 64500, verdict: 'block' }] });
  const fired_rules = [{ id: 'asn:64500', verdict: 'block' as const, mode: 'enforce' as const }];
  const blocked = {
    decision: 'block' as const,
    source: 'access-rule' as const,
    decided_by: 'asn:64500',
    fired_rules,
    asn: 64_500,
  };
  await logged(instance, { ...blocked, ip: '192.0.2.1' }, { ...blocked, ip: '192.0.2.2' }, {}, {});
  const conditions = [
    { type: 'asn', value: 'AS64500' },
    { type: 'asn', value: 64501 },
  ];
  const { body } = await instance.rules('/preview', { conditions });
  expect(body.plan).toEqual({ added: 0, changed: 0, unchanged: 0, removed: 1, refused: 0 });
  expect(body).toMatchObject({ examined: 4, inWindow: 4, complete: true, changed: 2 });
  expect(body.effects).toEqual([
    expect.objectContaining({
      rule: 'asn:64500',
      change: 'removed',
      requests: 2,
      visitors: 2,
      changes: [{ from: 'block', to: 'allow', requests: 2 }],
    }),
  ]);
});

test('a proposal of one address or of networks is exact over the whole window, by the index of the log', async () => {
  const instance = await newInstance();
  await logged(
    instance,
    { ip: '192.0.2.7', asn: 64_500 },
    { ip: '192.0.2.8', asn: 64_500 },
    { source: 'error' },
    { asn: null },
  );
  const one = await instance.rules('/preview', { rules: [{ type: 'ip', value: '192.0.2.7', verdict: 'block' }] });
  expect(one.body).toMatchObject({ examined: 3, inWindow: 3, complete: true, changed: 1 });
  const network = await instance.rules('/preview', { rules: [{ type: 'asn', value: 64500, verdict: 'block' }] });
  expect(network.body).toMatchObject({ examined: 3, complete: true, changed: 2, changedAddresses: 2 });
});

test('requests of older edges, which did not record what was decided from, are left out and counted', async () => {
  const instance = await newInstance();
  const older = { explain: 'Allowed by default; ruleset version 1.' };
  const foreignHost = { ...older, source: 'policy', decision: 'block', decided_by: 'policy:hosts' } as const;
  await logged(instance, {}, older, { ...older, ip: '198.51.100.1' }, foreignHost);
  const { body } = await instance.rules('/preview', {
    rules: [{ type: 'ipMask', value: '192.0.2.0/24', verdict: 'block' }],
  });
  expect(body).toMatchObject({ examined: 4, changed: 1, withoutInputs: 1, effects: [{ requests: 1 }] });
});

test('requests for a host that the instance no longer serves are left out', async () => {
  const instance = await newInstance();
  await logged(instance, { host: 'shop.example:8443' }, { host: 'old.example' });
  await call(instance.token, '/protect/instances/update', { id: instance.id, hosts: ['shop.example'] });
  const { body } = await instance.rules('/preview', { rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'block' }] });
  expect(body).toMatchObject({ examined: 2, changed: 1 });
});

test('a call that got 401 for its missing session gets it again, unless a rule says otherwise', async () => {
  const instance = await newInstance();
  const endpointRules = [{ pattern: '/api/*', pathType: 'json' }];
  await call(instance.token, '/protect/instances/update', { id: instance.id, endpointRules });
  await logged(instance, {
    request_path: '/api/cart',
    session_status: 'no-session',
    source: 'no-session',
    decision: 'challenge',
    decided_by: 'policy:noSession',
    inputs: {},
  });
  const changesOf = async (rule: object) => (await instance.rules('/preview', { rules: [rule] })).body.changes;
  const to = (decision: string) => [{ from: 'challenge', to: decision, requests: 1, addresses: 1 }];
  expect(await changesOf({ type: 'userAgent', value: 'mozilla', verdict: 'allow' })).toEqual([]);
  expect(await changesOf({ type: 'ip', value: '192.0.2.1', verdict: 'allow' })).toEqual(to('allow'));
  expect(await changesOf({ type: 'ip', value: '192.0.2.1', verdict: 'block' })).toEqual(to('block'));
});

test('a preview knows the rules of now, also those that were made after the requests', async () => {
  const instance = await newInstance();
  await logged(instance, { ip: '192.0.2.1' }, { ip: '192.0.2.2' }, { ip: '198.51.100.1' });
  await instance.rules('/create', { rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'allow' }] });
  const content = '192.0.2.0/24';
  const { body } = await instance.rules('/preview', { content, verdict: 'block' });
  expect(body.changes).toEqual([{ from: 'allow', to: 'block', requests: 1, addresses: 1 }]);
  await instance.rules('/import', { content, verdict: 'block' });
  expect((await instance.rules('/preview', { content, verdict: 'block' })).body).toMatchObject({ changed: 0 });
  const conditions = [{ type: 'ipMask', value: '192.0.2.0/24' }];
  expect((await instance.rules('/preview', { conditions })).body.changes).toEqual([
    { from: 'block', to: 'allow', requests: 1, addresses: 1 },
  ]);
});

test('a preview leaves out the addresses of the gate itself', async () => {
  const instance = await newInstance();
  const internal = { source: 'internal', request_path: '/__protect/session', inputs: {} } as const;
  await logged(instance, internal, internal, {});
  const rule = { type: 'ip', value: '192.0.2.1', verdict: 'block' };
  expect((await instance.rules('/preview', { rules: [rule] })).body).toMatchObject({ inWindow: 1, changed: 1 });
});

test('a preview is of rules, of a file or of rules to delete', async () => {
  const { rules } = await newInstance();
  const rule = { type: 'ip', value: '192.0.2.7', verdict: 'block' };
  for (const body of [{}, { rules: [rule], content: '192.0.2.1', verdict: 'block' }, { rules: [] }, { content: '' }]) {
    expect((await rules('/preview', body)).status, JSON.stringify(body)).toBe(400);
  }
});
