/** An instance's policies at the gate: conditions on what the visitor sends, and every action. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DemoOrigin, startDemoOrigin } from '../../src/cli/demo/origin.ts';
import type { PolicySet } from '../../src/contract/management/policy-set/policy-set.ts';
import type { Policy, PolicyAction } from '../../src/contract/management/policy-set/policy.ts';
import { parseExpression } from '../../src/policies/text/parse.ts';
import { browse } from '../support/browse.ts';
import { freePortBase } from '../support/ports.ts';
import { type RawWorker, startRawEdge } from '../support/raw-workerd.ts';
import { expectRows } from '../support/rows.ts';
import { eventually } from '../support/stack.ts';
import { startUpstream, type Upstream } from './edge-upstream.ts';

const SECRET = 'a-secret-of-the-operators-proxy';
const OPS_TOKEN = 'a-token-of-the-operators';
let upstream: Upstream;
let origin: DemoOrigin;
let edge: RawWorker;

beforeAll(async () => {
  upstream = await startUpstream();
  upstream.setPolicy({ sessionsEnabled: true, endpointRules: [{ pattern: '/api/**', pathType: 'json' }] });
  await upstream.setRules([
    { type: 'ip', value: '198.51.100.66', verdict: 'block' },
    { type: 'ip', value: '198.51.100.77', verdict: 'allow' },
  ]);
  upstream.setPolicies(policies, undefined, limits);
  origin = await startDemoOrigin(await freePortBase());
  edge = await startRawEdge({
    vars: {
      SERVICE_URL: upstream.url,
      ORIGIN_URL: origin.url,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: SECRET,
      CLIENT_JWT: upstream.clientJwt,
      OPS_TOKEN,
      RULES_POLL_SECONDS: '1',
    },
  });
  await eventually(
    async () => (await fetch(`${edge.url}/__protect/health`)).json() as Promise<{ status: string }>,
    ({ status }) => status === 'ok',
  );
});
afterAll(async () => {
  await edge?.stop();
  await origin?.close();
  await upstream?.stop();
});

function policy(name: string, text: string, then: PolicyAction, mode: Policy['mode'] = 'enforce'): Policy {
  const when = parseExpression(text);
  if (!when.ok) throw new Error(`${text}: ${when.error.message}`);
  return { name, when: when.value, then, mode };
}

const redirect = (location: string, status: 302 | 308 = 302): PolicyAction => ({
  action: 'redirect',
  location,
  status,
});
const policies: Policy[] = [
  policy('watched', 'path startsWith "/p/"', { action: 'block' }, 'monitor'),
  policy('partner', 'header["x-partner"] equals "yes" and path startsWith "/p/"', { action: 'allow' }),
  policy('closed', 'path startsWith "/p/admin"', { action: 'block' }),
  policy('no-cookie', 'path equals "/p/shop" and not cookie["sid"] exists', { action: 'challenge' }),
  policy('picture', 'path equals "/p/picture"', { action: 'challenge', level: 2 }),
  policy('by-query', 'path equals "/p/search" and query["q"] contains "<script"', { action: 'block' }),
  policy('moved', 'path equals "/p/old"', redirect('/p/new?from=old', 308)),
  policy('maintenance', 'path startsWith "/p/down"', redirect('/p/down/page')),
  policy('guessing-soft', 'path equals "/echo/login"', { action: 'limit', limit: 'soft' }),
  policy('guessing-hard', 'path equals "/echo/login"', { action: 'limit', limit: 'hard' }),
  policy('login', 'path equals "/echo/login"', { action: 'allow' }),
  policy('app', 'path startsWith "/api/app/" and header["x-app"] exists', { action: 'skipSession' }),
  { ...policy('newer', 'ip exists', { action: 'block' }), then: { action: 'tarpit' } as unknown as PolicyAction },
];

const ofLogins = { windowSeconds: 86_400, algorithm: 'bucket', on: 'loginFailed', exact: false } as const;
const loginFailed = { status: [200] };
const limits: PolicySet['limits'] = [
  { ...ofLogins, key: ['ip'], name: 'soft', count: 1, then: 'challenge', mode: 'enforce', loginFailed },
  { ...ofLogins, key: ['ip'], name: 'hard', count: 3, then: 'block', mode: 'enforce', loginFailed },
];

async function ask(path: string, headers: Record<string, string> = {}, ip = '192.0.2.1') {
  const answer = await browse(edge.url + path, {
    headers: { 'x-signals-secret': SECRET, 'x-client-ip': ip, ...headers },
  });
  await answer.arrayBuffer();
  return {
    status: answer.status,
    decision: answer.headers.get('x-protect-decision'),
    location: answer.headers.get('location'),
    id: answer.headers.get('x-protect-request-id')!,
  };
}

const recordOf = (id: string) =>
  eventually(
    async () => upstream.records.find((record) => record.request_id === id),
    (record) => record !== undefined,
  );

describe('a policy', () => {
  test('decides by path, and the record names it with what else matched', async () => {
    const blocked = await ask('/p/admin/users');
    expect(blocked).toMatchObject({ status: 403, decision: 'block' });
    expect(await recordOf(blocked.id)).toMatchObject({
      source: 'policy',
      decided_by: 'policy:closed',
      fired_rules: [
        { id: 'policy:watched', verdict: 'block', mode: 'monitor' },
        { id: 'policy:closed', verdict: 'block', mode: 'enforce' },
      ],
      inputs: { policy: { verdict: 'block', reason: 'closed' } },
    });
  });

  test('in monitor mode is recorded and changes nothing', async () => {
    const passed = await ask('/p/other');
    expect(passed.decision).toBe('allow');
    expect(await recordOf(passed.id)).toMatchObject({ fired_rules: [{ id: 'policy:watched', mode: 'monitor' }] });
  });

  test('decides by a header, and what comes after it in the list is not asked', async () => {
    expect((await ask('/p/admin', { 'x-partner': 'yes' })).decision).toBe('allow');
    expect((await ask('/p/admin', { 'x-partner': 'no' })).decision).toBe('block');
  });

  test('decides by a cookie that is not there', async () => {
    expect((await ask('/p/shop')).decision).toBe('challenge');
    expect((await ask('/p/shop', { cookie: 'a=1; sid=2' })).decision).toBe('allow');
  });

  test('decides by a query in any spelling', async () => {
    expect((await ask('/p/search?q=shoes')).decision).toBe('allow');
    expect((await ask('/p/search?x=1&%71=%3Cscript%3E')).decision).toBe('block');
  });

  test('is not passed by writing its path in another way', () =>
    expectRows(
      ['/P/Admin', '/p/%61dmin', '/p//admin', '/p/x/../admin', '/p%2Fadmin', '/x;/../p/admin'],
      async (path) => {
        expect(await raw(`GET ${path} HTTP/1.1`)).toMatch(BLOCKED);
      },
    ));

  test('redirects what nothing else stops, and not the page that it redirects to', async () => {
    expect(await ask('/p/old')).toMatchObject({ status: 308, decision: 'allow', location: '/p/new?from=old' });
    expect(await ask('/p/down/a')).toMatchObject({ status: 302, location: '/p/down/page' });
    expect(await ask('/p/down/page')).toMatchObject({ decision: 'allow', location: null });
    expect(await ask('/p/old', {}, '198.51.100.66')).toMatchObject({ status: 403, location: null });
  });

  test('asks for a level: page and JSON say so, and a token of a lower level does not pass', async () => {
    const headers = { 'x-signals-secret': SECRET, 'x-client-ip': '192.0.2.1' };
    const page = await browse(`${edge.url}/p/picture`, { headers });
    expect([page.status, await page.text()]).toEqual([403, expect.stringContaining('data-level="2"')]);
    const json = await browse(`${edge.url}/p/picture`, {
      headers: { ...headers, accept: 'application/json', 'sec-fetch-dest': 'empty' },
    });
    expect(await json.json()).toMatchObject({ challenge: { level: 2 } });
    const submit = async (level: number) => {
      upstream.verifyAnswer = { verified: true, level, kind: 'puzzle', powDifficulty: 6, jti: `${level}`.repeat(32) };
      const body = new URLSearchParams({ 'captcha-response': `token-${level}` });
      return (await browse(`${edge.url}/p/picture`, { method: 'POST', headers, body })).headers;
    };
    expect((await submit(1)).get('x-protect-decision')).toBe('challenge');
    expect((await submit(2)).get('x-protect-decision')).toBe('allow');
  });

  test('names limits: guesses of a visitor who solves every form end at the second one', async () => {
    const headers = { 'x-signals-secret': SECRET, 'x-client-ip': '203.0.113.77' };
    upstream.verifyAnswer = { verified: true, level: 2, kind: 'puzzle', powDifficulty: 6, jti: 'a'.repeat(32) };
    const guess = async (solved: Record<string, string>) => {
      const body = new URLSearchParams({ user: 'alice', ...solved });
      const answer = await browse(`${edge.url}/echo/login`, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      return answer.headers.get('x-protect-decision');
    };
    expect([await guess({}), await guess({})]).toEqual(['allow', 'challenge']);
    const solved = { 'captcha-response': 'token' };
    expect([await guess(solved), await guess(solved), await guess(solved)]).toEqual(['allow', 'allow', 'block']);
  });

  test('is lifted by a rule that allows the address', async () => {
    expect(await ask('/p/old', {}, '198.51.100.77')).toMatchObject({ decision: 'allow', location: null });
    expect((await ask('/p/admin', {}, '198.51.100.77')).decision).toBe('allow');
  });

  test('lets clients pass without a session where it says so', async () => {
    expect((await ask('/api/app/items')).status).toBe(401);
    const passed = await ask('/api/app/items', { 'x-app': '1' });
    expect(passed.decision).toBe('allow');
    expect(await recordOf(passed.id)).toMatchObject({ session_status: 'waived' });
  });

  test('of a newer release has no effect, and the health page says so', async () => {
    const answer = await fetch(`${edge.url}/__protect/health`, { headers: { authorization: `Bearer ${OPS_TOKEN}` } });
    expect(await answer.json()).toMatchObject({
      policies: { inForce: policies.length - 1, notUnderstood: 1 },
      warnings: expect.arrayContaining([expect.stringMatching(/newer release.*: 1\./)]),
    });
  });
});

describe('what a visitor sends to break policies', () => {
  test.each([
    ['a header of 14 KB', [`x-partner: ${'y'.repeat(14_000)}`]],
    ['1,000 cookies', [`cookie: ${Array.from({ length: 1000 }, (_, index) => `sid=${index}`).join('; ')}`]],
    ['bytes that are no text', ['x-partner: \xff\xfe', 'cookie: sid=\xc3\x28']],
  ])('%s is answered as usual', async (_, headers) => {
    expect(await raw('GET /p/admin HTTP/1.1', headers)).toMatch(BLOCKED);
  });

  test('a query that is no UTF-8 is answered as usual', async () => {
    expect(await raw(`GET /p/search?q=%ff%c3&${'%'.repeat(5000)} HTTP/1.1`)).toMatch(/^HTTP\/1\.1 [234]/);
  });
});

/** The answer of a policy. Anything else without a browser's headers is challenged, which is a 403 too. */
const BLOCKED = /^HTTP\/1\.1 403[^]*x-protect-decision: block/i;

/** The answer to bytes that no HTTP client would send. */
function raw(line: string, headers: readonly string[] = []): Promise<string> {
  const { hostname, port } = new URL(edge.url);
  const own = [`host: ${hostname}`, `x-signals-secret: ${SECRET}`, 'x-client-ip: 192.0.2.1', 'connection: close'];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(Buffer.from(`${[line, ...own, ...headers].join('\r\n')}\r\n\r\n`, 'latin1'));
    });
    let answer = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => (answer += String(chunk)));
    socket.on('end', () => resolve(answer));
    socket.on('error', reject);
  });
}
