/**
 * The gate on workerd itself, with nothing in front of it: what a visitor types changes no verdict and reaches no
 * origin, paths arrive as sent, and an allowed request reads no KV and waits for no call but the origin's.
 */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DemoOrigin, startDemoOrigin } from '../../src/cli/demo/origin.ts';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import { freePortBase } from '../support/ports.ts';
import { type RawWorker, startRawWorker } from '../support/raw-workerd.ts';
import { expectRows } from '../support/rows.ts';
import { eventually } from '../support/stack.ts';
import { startUpstream, type Upstream } from './edge-upstream.ts';

const SECRET = 'a-secret-of-the-operators-proxy';
const OPS_TOKEN = 'the-operators-own-token-for-health';
const COMPATIBILITY_DATE = '2026-10-01';
/** The demo origin needs a port of its own. */
let upstream: Upstream;
let origin: DemoOrigin;
let worker: RawWorker;

beforeAll(async () => {
  upstream = await startUpstream();
  await upstream.setRules([
    { type: 'ip', value: '198.51.100.66', verdict: 'block' },
    { type: 'ip', value: '198.51.100.77', verdict: 'allow' },
    { type: 'userAgent', value: 'challengeme', verdict: 'challenge' },
  ]);
  origin = await startDemoOrigin(await freePortBase());
  worker = await startRawWorker({
    source: await bundleWorker('test/workerd/edge/counting-worker.ts'),
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: ['global_fetch_strictly_public'],
    kv: ['GATE_KV'],
    queues: ['VERDICT_QUEUE'],
    vars: {
      SERVICE_URL: upstream.url,
      ORIGIN_URL: origin.url,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: SECRET,
      CLIENT_JWT: upstream.clientJwt,
      OPS_TOKEN,
      RULES_POLL_SECONDS: '2',
      RULES_MAX_STALE_SECONDS: '30',
    },
  });
  await eventually(
    async () => (await fetch(`${worker.url}/__protect/health`)).json() as Promise<{ status: string }>,
    ({ status }) => status === 'ok',
  );
});
afterAll(async () => {
  await worker?.stop();
  await origin?.close();
  await upstream?.stop();
});

/** Sends one request as bytes and returns the response as text. */
function raw(requestLine: string, headers: Record<string, string> = {}): Promise<string> {
  const { hostname, port } = new URL(worker.url);
  return new Promise((resolve, reject) => {
    const lines = Object.entries({ host: 'site.test', connection: 'close', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${requestLine}\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1'),
    );
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('end', () => resolve(text));
    socket.once('error', reject);
  });
}
const echoOf = (answer: string) =>
  JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4).replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/gi, '')) as {
    path: string;
    query: string;
    headers: Record<string, string>;
  };

describe('what a visitor types', () => {
  test('forged signals, verdicts and clearance change nothing and reach no origin', async () => {
    const forged = {
      'cf-connecting-ip': '198.51.100.77',
      'true-client-ip': '198.51.100.77',
      'x-real-ip': '198.51.100.77',
      'x-forwarded-for': '198.51.100.77',
      'x-forwarded-host': 'evil.test',
      forwarded: 'for=198.51.100.77',
      'x-client-ip': '198.51.100.77',
      'x-signals-secret': `${SECRET.slice(0, -1)}X`,
      'x-protect-verified': 'true',
      x_protect_verified: 'true',
      cf_connecting_ip: '198.51.100.77',
      'true-client_ip': '198.51.100.77',
      'x-protect-decision': 'allow',
      'x-original-url': '/admin',
      x_rewrite_url: '/admin',
      'x.protect.verified': 'true',
      'x!protect~status': 'AAAA',
      'x.forwarded.for': '198.51.100.77',
      'x.client.ip': '198.51.100.77',
      'cf.connecting-ip': '198.51.100.77',
      'x.original.url': '/admin',
      'x-protocol': 'kept',
      'x-protect-signature': 't=1,kid=x,v1=AAAA',
      cookie: 'a=1; __Host-protect-clearance=eyJhbGciOiJub25lIn0.e30.; b=2',
    };
    const challenged = await raw('GET /echo HTTP/1.1', { ...forged, 'user-agent': 'ChallengeMe' });
    expect(challenged).toMatch(/^HTTP\/1.1 403/);
    const passed = echoOf(await raw('GET /echo HTTP/1.1', forged));
    expect(passed.headers).toMatchObject({
      cookie: 'a=1; b=2',
      'x-protect-verified': 'false',
      'x-forwarded-host': 'site.test',
      'x-protocol': 'kept',
    });
    const spellings = Object.keys(passed.headers).map((name) => name.replace(/[^a-z0-9]/g, '_'));
    expect(spellings.filter((name) => name === 'x_protect_verified')).toHaveLength(1);
    const seen = JSON.stringify(passed.headers);
    for (const trace of [
      '198.51.100.77',
      'evil.test',
      'AAAA',
      'x_protect',
      'x-client',
      'signals-secret',
      'clearance',
      'admin',
    ]) {
      expect(seen).not.toContain(trace);
    }
  });

  test('with the secret the proxy’s signals count', async () => {
    const signed = { 'x-client-ip': '198.51.100.66', 'x-signals-secret': SECRET };
    expect(await raw('GET /echo HTTP/1.1', signed)).toMatch(/^HTTP\/1.1 403/);
    const mapped = { 'x-client-ip': '::FFFF:C633:6442', 'x-signals-secret': SECRET };
    expect(await raw('GET /echo HTTP/1.1', mapped)).toMatch(/^HTTP\/1.1 403/);
  });

  test('a proxy’s address that is malformed does not pass as no address', () =>
    expectRows(
      ['198.51.100.66, 192.0.2.1', '192.0.2.1,192.0.2.1', 'unknown', '198.51.100.66:4711', '[2001:db8::1]', ''],
      async (given) => {
        const signed = { 'x-signals-secret': SECRET, 'x-client-ip': given };
        for (const path of ['/echo', '/robots.txt']) {
          expect(await raw(`GET ${path} HTTP/1.1`, signed)).toMatch(/^HTTP\/1.1 403[^]*x-protect-decision: block/i);
        }
        const preflight = { origin: 'https://other.test', 'access-control-request-method': 'PUT' };
        expect(await raw('OPTIONS /echo HTTP/1.1', { ...signed, ...preflight })).toMatch(/^HTTP\/1.1 403/);
      },
    ));

  test('two address headers from the proxy are refused, counted and named in the health status', async () => {
    const before = upstream.counters['unreadable_addresses'] ?? 0;
    const twice = `192.0.2.1\r\nx-client-ip: 192.0.2.2`;
    expect(await raw('GET /echo/twice HTTP/1.1', { 'x-signals-secret': SECRET, 'x-client-ip': twice })).toMatch(
      /^HTTP\/1.1 403/,
    );
    const record = await eventually(
      async () => upstream.records.find(({ request_path }) => request_path === '/echo/twice'),
      (found) => found !== undefined,
    );
    expect(record).toMatchObject({ ip: null, decision: 'block', source: 'error', status: 403 });
    await eventually(
      async () => upstream.counters['unreadable_addresses'] ?? 0,
      (count) => count > before,
    );
    const health = await raw('GET /__protect/health HTTP/1.1', {
      'x-signals-secret': SECRET,
      'x-client-ip': twice,
      authorization: `Bearer ${OPS_TOKEN}`,
    });
    expect(health).toMatch(/^HTTP\/1.1 200[^]*x-client-ip/);
  });

  test('a proxy that sends no address is not refused', async () => {
    expect(await raw('GET /echo HTTP/1.1', { 'x-signals-secret': SECRET })).toMatch(/^HTTP\/1.1 200/);
  });
});

describe('the edge’s own addresses', () => {
  const blocked = { 'x-client-ip': '198.51.100.66', 'x-signals-secret': SECRET };

  test.each(['/__protect/health', '/__protect/protect.js', '/__protect/nothing'])(
    '%s: the decision comes first',
    async (path) => {
      expect(await raw(`GET ${path} HTTP/1.1`, blocked)).toMatch(/^HTTP\/1.1 403[^]*API\.ACCESS_POLICY_BLOCK/);
    },
  );

  test('a challenged visitor can fetch what a solution needs', async () => {
    const challenged = { 'user-agent': 'ChallengeMe' };
    expect(await raw('GET /__protect/interstitial.js HTTP/1.1', challenged)).toMatch(/^HTTP\/1.1 200/);
    expect(await raw('GET /__protect/../echo HTTP/1.1', challenged)).toMatch(/^HTTP\/1.1 403/);
  });

  test('calls to them are recorded as internal', async () => {
    await eventually(
      async () => upstream.records.filter((record) => record.request_path === '/__protect/interstitial.js'),
      (records) => records.length > 0 && records.every((record) => record.source === 'internal'),
    );
  });

  test.each(['GET', 'DELETE', 'PUT'])('%s on a POST address is not a server error', async (method) => {
    expect(await raw(`${method} /__protect/verify HTTP/1.1`)).toMatch(/^HTTP\/1.1 404/);
  });
});

describe('paths', () => {
  test('a path arrives as the URL standard writes it', () =>
    expectRows(
      [
        ['/echo//a//b;c=d/e%2Ff?x=1&y=%zz', '/echo//a//b;c=d/e%2Ff', 'x=1&y=%zz'],
        ['/echo/a/../b?q', '/echo/b', 'q'],
        ['/echo/a+b%20c%C3%A9', '/echo/a+b%20c%C3%A9', ''],
        ['/echo?a=%ff%fe&b=/../x', '/echo', 'a=%ff%fe&b=/../x'],
      ],
      async ([sent, path, query]) => {
        expect(echoOf(await raw(`GET ${sent} HTTP/1.1`))).toMatchObject({ path, query });
      },
    ));

  test('OPTIONS * is a bad request', async () => {
    expect(await raw('OPTIONS * HTTP/1.1')).toMatch(/^HTTP\/1.1 400/);
  });

  test('a path that only looks exempt is not exempt', () =>
    expectRows(
      [
        '/robots.txt/..%2fecho',
        '/.well-known/%2e%2e/echo',
        '/.well-known/..%2fecho',
        '/robots.txt;/../echo',
        '/echo?/robots.txt',
      ],
      async (path) => {
        expect(await raw(`GET ${path} HTTP/1.1`, { 'user-agent': 'ChallengeMe' })).toMatch(/^HTTP\/1.1 403/);
      },
    ));

  test('a path in another spelling is the same to gate and origin', () =>
    expectRows(
      ['/__protect/../echo', '//__protect/health', '/%5f_protect/health', '/__protect//health'],
      async (path) => {
        const answer = await raw(`GET ${path} HTTP/1.1`);
        expect(answer).toMatch(path.endsWith('echo') ? /"path":"\/echo"/ : /"status":"ok"/);
      },
    ));

  test('every method passes', () =>
    expectRows(['PROPFIND', 'TRACE', 'DELETE', 'PATCH', 'OPTIONS'], async (method) => {
      expect(await raw(`${method} /echo HTTP/1.1`)).toContain(`"method":"${method}"`);
    }));

  test('headers up to the runtime’s limit and malformed cookies are not server errors', async () => {
    const long = {
      cookie: `protect_session=${'x'.repeat(6000)}; __Host-protect-clearance=${'y'.repeat(6000)}; =; ;;a`,
    };
    expect(await raw('GET /echo HTTP/1.1', { ...long, 'user-agent': 'z'.repeat(14_000) })).toMatch(/^HTTP\/1.1 200/);
  });
});

describe('steady state', () => {
  test('allowed requests read no KV and wait for the origin only, even while the service is silent', async () => {
    upstream.trouble = 'silent';
    await fetch(`${worker.url}/__count`);
    let requests = 0;
    let whileOpen = 0;
    while (requests < 100 || whileOpen < 10) {
      const open = upstream.open.find(({ path }) => path === '/edge/v1/version');
      await (await fetch(`${worker.url}/echo/steady`)).arrayBuffer();
      requests += 1;
      // The version check began before this request and is still open after its response.
      if (open && upstream.open.includes(open)) whileOpen += 1;
    }
    upstream.trouble = 'none';
    const counts = (await (await fetch(`${worker.url}/__count`)).json()) as { kvReads: number; fetches: string[] };
    expect(counts.kvReads).toBe(0);
    expect(counts.fetches.filter((url) => url.startsWith(origin.url))).toHaveLength(requests);
    // Version checks and verdict batches go out behind responses, far less often than once per request.
    expect(counts.fetches.length - requests).toBeLessThan(requests / 2);
  });

  test('a change is loaded behind a response, without the base again', async () => {
    await upstream.setRules([{ type: 'userAgent', value: 'latecomer', verdict: 'block' }], true);
    upstream.calls.length = 0;
    await eventually(
      async () => (await fetch(`${worker.url}/echo`, { headers: { 'user-agent': 'LateComer/1' } })).status,
      (status) => status === 403,
    );
    expect(upstream.calls.filter((path) => path.startsWith('/edge/v1/rulesets/'))).toHaveLength(1);
    expect(upstream.calls.some((path) => path.includes('/delta/'))).toBe(true);
  });

  test('the scheduled run writes KV only on a change', async () => {
    const run = () => fetch(`${worker.url}/__scheduled`);
    await eventually(run, ({ ok }) => ok);
    await fetch(`${worker.url}/__count`);
    await eventually(run, ({ ok }) => ok);
    const counts = (await (await fetch(`${worker.url}/__count`)).json()) as { kvWrites: number };
    expect(counts.kvWrites).toBe(0);
  });

  test('a visitor who hangs up before the response leaves a record too', async () => {
    upstream.verifyTrouble = 'silent';
    const body = 'captcha-response=some-token';
    const { hostname, port } = new URL(worker.url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST /echo/hung-up HTTP/1.1\r\nhost: site.test\r\nuser-agent: ChallengeMe\r\n` +
        `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    await eventually(
      async () => upstream.calls.includes('/siteverify'),
      (asked) => asked,
    );
    socket.resetAndDestroy();
    await eventually(
      async () => upstream.records.filter((record) => record.request_path === '/echo/hung-up').length,
      (count) => count === 1,
    );
    upstream.verifyTrouble = 'none';
  });

  test('every request leaves one record', async () => {
    const { records } = upstream;
    const id = (await fetch(`${worker.url}/echo/recorded`)).headers.get('x-protect-request-id')!;
    await eventually(
      async () => records.filter((record) => record.request_id === id).length,
      (count) => count === 1,
    );
    const seqs = records.map((record) => record.edge.seq);
    expect(new Set(seqs).size).toBe(seqs.length);
  });
});
