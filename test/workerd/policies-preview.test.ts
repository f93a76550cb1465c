/** Policies tried on logged requests and on requests that a caller describes, and how often they fired. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { newInstance, sendVerdicts } from './rule-book-instance.ts';
import { call } from './service/service-under-test.ts';
import { testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';

let instance: Awaited<ReturnType<typeof newInstance>>;
const ask = (operation: string, body: object = {}) => call(instance.token, `/protect/policies${operation}`, body);
const policy = (name: string, when: string, then: object = { action: 'block' }, mode = 'enforce') => ({
  name,
  when,
  then,
  mode,
});

async function logged(...given: Partial<VerdictRecord>[]): Promise<VerdictRecord[]> {
  const records = given.map((one, index) => {
    const record = verdictRecordOf(instance.id, { timestamp: testNow() - 60_000 + index, ...one });
    return { ...record, request_id: record.id };
  });
  expect((await sendVerdicts(instance.jwt, crypto.randomUUID(), records)).status).toBe(200);
  return records;
}

beforeEach(async () => {
  instance = await newInstance();
});

describe('a preview', () => {
  test('says what would have changed, by which policy, and of how many requests nobody can tell', async () => {
    await logged(
      { request_path: '/a/1', ip: '192.0.2.1' },
      { request_path: '/a/2', ip: '192.0.2.1' },
      { request_path: '/b', ip: '192.0.2.2' },
      { request_path: '/c', country: 'DE' },
      { request_path: '/other' },
    );
    const policies = [
      policy('watched', 'path startsWith "/a"', { action: 'block' }, 'monitor'),
      policy('blocked', 'path startsWith "/a"'),
      policy('no-cookie', 'path equals "/b" and not cookie["sid"] exists', { action: 'challenge' }),
      policy('same-anyway', 'path equals "/other" and header["x"] exists', { action: 'allow' }),
      policy('elsewhere', 'country equals "DE" and path equals "/c"', { action: 'redirect', location: '/x' }),
    ];
    const { status, body } = await ask('/preview', { policies });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body).toMatchObject({
      examined: 5,
      inWindow: 5,
      complete: true,
      changed: 3,
      untold: 1,
      allowedRequestsIncluded: true,
    });
    expect(body.changes).toEqual([
      { from: 'allow', to: 'redirect', requests: 1, addresses: 1 },
      { from: 'allow', to: 'block', requests: 2, addresses: 1 },
    ]);
    expect(body.effects).toEqual([
      { policy: 'watched', requests: 2, unknown: 0 },
      { policy: 'blocked', requests: 2, unknown: 0 },
      { policy: 'elsewhere', requests: 1, unknown: 0 },
      { policy: 'same-anyway', requests: 0, unknown: 1 },
      { policy: 'no-cookie', requests: 0, unknown: 1 },
    ]);
    expect(body.samples.find(({ to }: any) => to === 'block')).toMatchObject({
      requestPath: '/a/2',
      decidedBy: 'policy:blocked',
    });
    expect(body.differences.policies).toHaveLength(5);
    expect((await ask('')).body.version).toBe(0);
  });

  test('leaves alone what other inputs decide, and what a clearance lifts', async () => {
    await instance.rules('/create', { rules: [{ type: 'ip', value: '192.0.2.1', verdict: 'block' }] });
    const rule = { id: 'ip:192.0.2.1', verdict: 'block', mode: 'enforce' } as const;
    await logged(
      {
        ip: '192.0.2.1',
        request_path: '/a',
        fired_rules: [rule],
        decision: 'block',
        source: 'access-rule',
        decided_by: rule.id,
      },
      { ip: '192.0.2.2', request_path: '/a', source: 'clearance', level: 1 },
    );
    const { body } = await ask('/preview', { policies: [policy('a', 'path equals "/a"', { action: 'challenge' })] });
    expect(body).toMatchObject({ examined: 2, changed: 0, untold: 0, effects: [{ policy: 'a', requests: 2 }] });
  });

  test('says what becomes of requests that a policy of now decides', async () => {
    await ask('/set', { policies: [policy('gone', 'path startsWith "/"')] });
    const id = 'policy:gone';
    const was: Partial<VerdictRecord> = {
      fired_rules: [{ id, verdict: 'block', mode: 'enforce' }],
      decision: 'block',
      source: 'policy',
      decided_by: id,
    };
    await logged({ ...was, session_status: 'active' }, { ...was, session_status: 'none' });
    const { body } = await ask('/preview', { policies: [] });
    // Without the policy, a page without a session passes on its network's budget.
    expect(body).toMatchObject({ changed: 2, untold: 0, changes: [{ from: 'block', to: 'allow', requests: 2 }] });
    const kept = await ask('/preview', { policies: [policy('gone', 'path startsWith "/"')] });
    expect(kept.body).toMatchObject({ changed: 0, untold: 0 });
  });

  test('compares paths in every reading that the gate compares', async () => {
    await logged({ request_path: '/Admin' }, { request_path: '/Admin;a=1' }, { request_path: '/x/%2e%2e/admin' });
    await logged({ request_path: ':9;no-path%' });
    const { body } = await ask('/preview', { policies: [policy('a', 'path equals "/admin"')] });
    expect(body.changes).toMatchObject([{ from: 'allow', to: 'block', requests: 3 }]);
  });

  test('leaves out requests of older edges, which did not record what was decided from', async () => {
    const [, older] = await logged({ request_path: '/a' }, { request_path: '/a', explain: 'Allowed by default.' });
    const policies = [policy('a', 'path equals "/a"')];
    const { body } = await ask('/preview', { policies });
    expect(body).toMatchObject({ examined: 2, changed: 1, withoutInputs: 1, effects: [{ policy: 'a', requests: 1 }] });
    const tested = await ask('/test', { policies, requestId: older!.request_id });
    expect(tested.body).toMatchObject({ policies: [{ name: 'a', applies: 'yes' }], logged: null });
  });

  test('replays the rules and policies of now, whatever was decided then', async () => {
    await logged({ request_path: '/a' }, { request_path: '/a', ip: '192.0.2.2' }, { request_path: '/b' });
    await instance.rules('/create', { rules: [{ type: 'ip', value: '192.0.2.2', verdict: 'block' }] });
    await ask('/set', { policies: [policy('a', 'path equals "/a"')] });
    const same = await ask('/preview', { policies: [policy('other-name', 'path equals "/a"')] });
    expect(same.body).toMatchObject({ examined: 3, changed: 0, untold: 0 });
    const milder = await ask('/preview', { policies: [policy('a', 'path equals "/a"', { action: 'challenge' })] });
    expect(milder.body.changes).toEqual([{ from: 'block', to: 'challenge', requests: 1, addresses: 1 }]);
  });

  test('asks limits last, as they are in each set, of requests that were above them', async () => {
    const limit = (given: object = {}) => ({ name: 'a', key: ['ip'], count: 1, windowSeconds: 60, ...given });
    const asks = policy('asks', 'path equals "/a"', { action: 'limit', limit: 'a' });
    await ask('/set', { policies: [asks], limits: [limit()] });
    const above = { id: 'limit:a', verdict: 'block', mode: 'enforce' } as const;
    await logged({
      request_path: '/a',
      fired_rules: [above],
      decision: 'block',
      source: 'limit',
      decided_by: above.id,
      inputs: { limit: { verdict: 'block', name: 'a' } },
    });
    const previewed = async (set: object) => {
      const { changes } = (await ask('/preview', { policies: [asks], limits: [limit()], ...set })).body;
      return changes.map(({ from, to }: any) => `${from} ${to}`).join();
    };
    expect(await previewed({})).toBe('');
    expect(await previewed({ limits: [limit({ mode: 'monitor' })] })).toBe('block allow');
    expect(await previewed({ limits: [limit({ then: 'challenge' })] })).toBe('block challenge');
    const moved = policy('moved', 'path equals "/a"', { action: 'redirect', location: '/b' });
    expect(await previewed({ policies: [asks, moved] })).toBe('block redirect');
    await ask('/set', { policies: [asks], limits: [limit({ mode: 'monitor' })] });
    expect(await previewed({})).toBe('allow block');
  });

  test('leaves out the addresses of the gate itself, which are served whatever a policy says', async () => {
    await logged(
      { request_path: '/__protect/session', source: 'internal' },
      { request_path: '/__protect/health', source: 'internal' },
      { request_path: '/' },
    );
    const { body } = await ask('/preview', { policies: [policy('all', 'path startsWith "/"')] });
    expect(body).toMatchObject({ changed: 1, effects: [{ policy: 'all', requests: 1 }] });
  });

  test('of a window in the future is refused', async () => {
    expect((await ask('/preview', { since: testNow() + 3_600_000 })).status).toBe(400);
  });
});

describe('a test', () => {
  const policies = [
    policy('monitored', 'path startsWith "/a"', { action: 'block' }, 'monitor'),
    policy('counted', 'method equals "POST"', { action: 'skipSession' }),
    policy('no-cookie', 'path startsWith "/a" and not cookie["sid"] exists', { action: 'challenge', level: 2 }),
    policy('bots', 'userAgent contains "curl" or query["debug"] equals "1"'),
  ];

  test('of a described request names the policies that apply, and what they say together', async () => {
    const request = { url: 'https://shop.example/%61?debug=1', method: 'POST', headers: { 'user-agent': 'x' } };
    const { status, body } = await ask('/test', { policies, request });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.policies.map(({ name, applies }: any) => `${name} ${applies}`)).toEqual([
      'monitored yes',
      'counted yes',
      'no-cookie yes',
      'bots yes',
    ]);
    expect(body.result).toEqual({
      verdict: { policy: 'no-cookie', action: 'challenge', level: 2 },
      redirect: null,
      skipSession: true,
      limits: [],
      origin: null,
    });
    expect([body.unknown, body.logged]).toEqual([[], null]);
    const withCookie = { ...request, headers: { cookie: 'sid=1', 'user-agent': 'curl/8' }, url: 'https://h/a' };
    expect((await ask('/test', { policies, request: withCookie })).body.result.verdict).toMatchObject({
      policy: 'bots',
    });
  });

  test('of a path in any spelling finds the policy that the gate finds', () =>
    expectRows(['/login;a=1', '/x/..%2flogin', '/LOGIN', '\\login', '//login?a=1'], async (path) => {
      const block = [policy('login', 'path equals "/login"')];
      const { body } = await ask('/test', { policies: block, request: { url: `https://shop.example${path}` } });
      expect(body).toMatchObject({
        policies: [{ name: 'login', applies: 'yes' }],
        result: { verdict: { policy: 'login' } },
      });
    }));

  test('of a logged request says what the log does not keep', async () => {
    const [record] = await logged({
      request_path: '/a',
      method: 'GET',
      user_agent: 'Mozilla',
    });
    await ask('/set', { policies });
    const { status, body } = await ask('/test', { requestId: record!.request_id });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.policies.map(({ name, applies }: any) => `${name} ${applies}`)).toEqual([
      'monitored yes',
      'no-cookie unknown',
      'bots unknown',
    ]);
    expect(body.unknown).toEqual(['header', 'cookie', 'query']);
    expect(body.logged).toEqual({ before: 'allow', after: ['allow', 'challenge', 'block'], decidedBy: 'default' });
    expect((await ask('/test', { requestId: crypto.randomUUID() })).status).toBe(404);
  });

  test('of a request with a mistake is refused by its path', () =>
    expectRows(
      [
        [{}, 'request'],
        [{ request: { url: 'x' } }, 'request.url'],
        [{ request: { url: 'ftp://h/' } }, 'request.url'],
        [{ request: { url: 'https://h/', headers: { 'a b': 'c' } } }, 'request.headers.a b'],
        [{ request: { url: 'https://h/', headers: { a: 'b\nc' } } }, 'request.headers.a'],
        [{ request: { url: 'https://h/', ip: 'x' } }, 'ip'],
        [{ request: { url: 'https://h/', bot: { id: 'nobody', proof: 'range' } } }, 'bot.id'],
      ],
      async ([body, path]) => {
        const { status, body: refused } = await ask('/test', body);
        expect([status, refused.error.details[0].path]).toEqual([400, path]);
      },
    ));
});

test('policies and limits are listed with how often they fired', async () => {
  const limits = [{ name: 'a', key: ['ip'], count: 1, windowSeconds: 60 }];
  await ask('/set', { policies: [policy('a', 'path equals "/a"'), policy('b', 'path equals "/b"')], limits });
  const fired = { id: 'policy:a', verdict: 'block', mode: 'enforce' } as const;
  const above = { id: 'limit:a', verdict: 'block', mode: 'monitor' } as const;
  await logged({ fired_rules: [fired, above], decision: 'block', source: 'policy', decided_by: 'policy:a' }, {});
  const { body } = await ask('', { hitsSince: 0 });
  expect(body.policies.map(({ hits }: any) => [hits.total, hits.block])).toEqual([
    [1, 1],
    [0, 0],
  ]);
  expect(body.limitHits.a).toMatchObject({ total: 1, block: 1 });
  expect(body.hitsAreExact).toBe(true);
});
