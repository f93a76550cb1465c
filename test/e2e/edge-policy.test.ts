/** An instance's policy at the gate: sessions and scores, address categories, path rules, monitor mode and rollout. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DemoOrigin, startDemoOrigin } from '../../src/cli/demo/origin.ts';
import { browse } from '../support/browse.ts';
import { freePortBase } from '../support/ports.ts';
import { type RawWorker, startRawEdge } from '../support/raw-workerd.ts';
import { eventually } from '../support/stack.ts';
import { startUpstream, type Upstream } from './edge-upstream.ts';
import { cookiesOf } from './edge-visitor.ts';
import { stackNow } from '../support/clock.ts';

const SECRET = 'a-secret-of-the-operators-proxy';
let upstream: Upstream;
let origin: DemoOrigin;
let edge: RawWorker;
let policies = 0;

beforeAll(async () => {
  upstream = await startUpstream();
  origin = await startDemoOrigin(await freePortBase());
  edge = await startRawEdge({
    vars: {
      SERVICE_URL: upstream.url,
      ORIGIN_URL: origin.url,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: SECRET,
      CLIENT_JWT: upstream.clientJwt,
      OPS_TOKEN: 'a-token-of-the-operators',
      RULES_POLL_SECONDS: '0.1',
      RULES_MAX_STALE_SECONDS: '0.1',
    },
  });
});
afterAll(async () => {
  await edge?.stop();
  await origin?.close();
  await upstream?.stop();
});
beforeEach(() => usePolicy({}));

/** Sets a policy and waits until the edge has it. */
async function usePolicy(policy: object): Promise<void> {
  upstream.setPolicy({ ...policy, clearanceSeconds: 60 + ++policies });
  await settled();
}
async function settled(): Promise<void> {
  const loaded = async () => {
    const answer = await fetch(`${edge.url}/__protect/health`, {
      headers: { authorization: 'Bearer a-token-of-the-operators' },
    });
    return ((await answer.json()) as { configVersion: string | null }).configVersion;
  };
  await eventually(loaded, (version) => version === upstream.configVersion());
}

async function ask(path: string, headers: Record<string, string | null> = {}, method = 'GET') {
  const answer = await browse(edge.url + path, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) });
  await answer.arrayBuffer();
  const { headers: told } = answer;
  return {
    status: answer.status,
    decision: told.get('x-protect-decision'),
    problem: told.get('x-protect-status'),
    id: told.get('x-protect-request-id')!,
    answer,
  };
}
const from = (ip: string, asn = '64496', country = 'DE') => ({
  'x-signals-secret': SECRET,
  'x-client-ip': ip,
  'x-client-asn': asn,
  'x-client-country': country,
});
const recordOf = (id: string) =>
  eventually(
    async () => upstream.records.find((record) => record.request_id === id),
    (record) => record !== undefined,
  );

describe('sessions', () => {
  const json = { sessionsEnabled: true, endpointRules: [{ pattern: '/api/**', pathType: 'json' }] };
  const session = async (claims = {}) => ({ cookie: `protect_session=jti-1|${await upstream.mintSession(claims)}` });

  const sessionCalls = () => upstream.calls.filter((path) => path === '/edge/v1/sessions').length;

  test('the risk score decides, and a raised score counts at once', async () => {
    await usePolicy(json);
    expect((await ask('/api/time', await session())).status).toBe(200);
    expect((await ask('/api/time', await session({ jti: 'jti-2' }))).problem).toBe('invalid-session');
    const other = async (jti: string, risk: number) => ({
      cookie: `protect_session=${jti}|${await upstream.mintSession({ jti, risk })}`,
    });
    expect(await ask('/api/time', await other('jti-3', 0.6))).toMatchObject({ status: 403, decision: 'challenge' });
    expect(await ask('/api/time', await other('jti-4', 0.9))).toMatchObject({ status: 403, decision: 'block' });
    const calm = await other('jti-5', 0);
    expect((await ask('/api/time', calm)).status).toBe(200);
    upstream.raise('jti-5', 0.95);
    await settled();
    const raised = await ask('/api/time', calm);
    expect(raised).toMatchObject({ status: 403, decision: 'block' });
    expect(await recordOf(raised.id)).toMatchObject({
      jti: 'jti-5',
      risk_score: 0.95,
      decided_by: 'risk:block',
      source: 'risk',
    });
  });

  test('an expired session is reported as such, and its page opens', async () => {
    await usePolicy(json);
    const over = await session({ exp: Math.floor(stackNow() / 1000) - 10 });
    expect(await ask('/api/time', over)).toMatchObject({ status: 401, problem: 'session-not-found' });
    expect(await ask('/', over)).toMatchObject({ status: 200, problem: 'session-not-found' });
    // The session itself is still valid: it is renewed once, behind the responses.
    await eventually(
      async () => (await ask('/', over)).answer.headers.getSetCookie(),
      (cookies) => cookies.some((line) => line.startsWith('protect_session=jti-1|')),
    );
    expect(sessionCalls()).toBe(1);
  });

  test('of two session cookies, the one for the host alone is deleted in favour of the new one', async () => {
    await usePolicy(json);
    const { cookie } = await session();
    const { answer } = await ask('/__protect/session', { cookie: `${cookie}; ${cookie}` }, 'POST');
    const [removed, made] = answer.headers.getSetCookie();
    expect(removed).toMatch(/^protect_session=; .*Max-Age=0/);
    expect(made).toMatch(/^protect_session=jti-1\|/);
    const single = await ask('/__protect/session', { cookie }, 'POST');
    expect(single.answer.headers.getSetCookie()).toHaveLength(1);
  });

  test('a session about to expire is renewed behind the response, and a later response sets it', async () => {
    await usePolicy(json);
    const before = sessionCalls();
    const ending = await session({ exp: Math.floor(stackNow() / 1000) + 60 });
    expect((await ask('/api/time', ending)).answer.headers.getSetCookie()).toEqual([]);
    const later = await eventually(
      async () => (await ask('/api/time', ending)).answer,
      (answer) => answer.headers.getSetCookie().length > 0,
    );
    expect(later.headers.get('cache-control')).toContain('private');
    expect((await ask('/api/time', { cookie: cookiesOf(later) })).status).toBe(200);
    expect(sessionCalls() - before).toBe(1);
  });

  test('a path rule waives the session for webhooks', async () => {
    await usePolicy({
      ...json,
      pathRules: [{ pattern: '/api/hook', action: 'inherit', methods: ['POST'], waiveSession: true }],
    });
    expect((await ask('/api/hook', {}, 'POST')).status).toBe(200);
    expect((await ask('/api/hook')).status).toBe(401);
    expect((await ask('/api/%2e%2e/api/hook', {}, 'POST')).status).toBe(200);
    expect((await ask('/api/hook%2f..%2fsecret', {}, 'POST')).status).toBe(401);
  });
});

test('the health of the gate is told to a monitor that its pages would block by risk, and not to a blocked address', async () => {
  await usePolicy({ sessionsEnabled: true });
  const asTool = { 'user-agent': 'curl/8.5.0', ...from('192.0.2.1', '24940') };
  expect(await ask('/echo', { ...asTool, 'accept-language': null })).toMatchObject({ status: 403, decision: 'block' });
  expect((await ask('/__protect/health', { ...asTool, 'accept-language': null })).status).toBe(200);
  await usePolicy({ sessionsEnabled: true, ipCategoryRules: { datacenter: 'block' } });
  expect((await ask('/__protect/health', asTool)).status).toBe(403);
});

describe('policy', () => {
  test('address categories have verdicts', async () => {
    await usePolicy({ ipCategoryRules: { tor: 'block', datacenter: 'challenge' } });
    expect(await ask('/echo', from('192.0.2.1', '64496', 'T1'))).toMatchObject({ status: 403, decision: 'block' });
    const cloud = await ask('/echo', from('192.0.2.1', '24940'));
    expect(cloud).toMatchObject({ status: 403, decision: 'challenge' });
    expect(await recordOf(cloud.id)).toMatchObject({ ip_category: ['datacenter'], decided_by: 'category:datacenter' });
    expect((await ask('/echo', from('192.0.2.1'))).status).toBe(200);
  });

  test('path rules decide by path and method, whatever the spelling of the path', async () => {
    await usePolicy({
      pathRules: [
        { pattern: '/echo/public/**', action: 'allow' },
        { pattern: '/echo/admin/**', action: 'block' },
        { pattern: '/echo/form', methods: ['POST'], action: 'challenge' },
      ],
    });
    expect((await ask('/echo/admin/x')).status).toBe(403);
    expect((await ask('/echo/form')).status).toBe(200);
    expect((await ask('/echo/form', {}, 'POST')).status).toBe(403);
    for (const path of [
      '/echo//admin/x',
      '/echo/%61dmin/x',
      '/echo/public/..%2fadmin/x',
      '/echo/public/%2e%2e/admin/x',
      '/echo\\admin/x',
      '/echo/admin;a=b/x',
    ]) {
      expect([path, (await ask(path)).status]).toEqual([path, 403]);
    }
  });

  test('monitor mode records verdicts and forwards', async () => {
    await usePolicy({ monitor: true, pathRules: [{ pattern: '/echo/admin', action: 'block' }] });
    const watched = await ask('/echo/admin');
    expect(watched).toMatchObject({ status: 200, decision: 'block' });
    expect(await recordOf(watched.id)).toMatchObject({ decision: 'block', enforcement_policy: 'monitor', status: 200 });
  });

  test('rollout enforces on its share of visitors, and always on the same ones', async () => {
    await usePolicy({ rollout: 40, pathRules: [{ pattern: '/echo/admin', action: 'block' }] });
    const statuses = async () => {
      const answers = await Promise.all(
        Array.from({ length: 150 }, (_, index) => ask('/echo/admin', from(`198.51.100.${index}`))),
      );
      return answers.map(({ status }) => status);
    };
    const first = await statuses();
    const enforced = first.filter((status) => status === 403).length;
    expect(enforced).toBeGreaterThan(35);
    expect(enforced).toBeLessThan(85);
    expect(await statuses()).toEqual(first);
  });
});
