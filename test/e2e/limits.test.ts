/**
 * Limits over HTTP: three edges on workerd in front of one origin, the real service behind them. What an exact limit lets
 * through, what a fast one does, and log-ins that fail.
 */
import { createServer, request as ask, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import type { Stack } from '../../src/cli/stack.ts';
import { type RawWorker, startRawWorker } from '../support/raw-workerd.ts';
import { eventually, manage, openStack } from '../support/stack.ts';

const DAY_SECONDS = 86_400;
const SECRET = 'a-secret-of-the-operators-proxy';
let stack: Stack;
let origin: Server;
let edges: RawWorker[] = [];
/** Bodies that the origin got, by path. */
const received = new Map<string, string[]>();

beforeAll(async () => {
  origin = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const path = request.url ?? '';
      received.set(path, [...(received.get(path) ?? []), body]);
      response.writeHead(path === '/login' && !body.includes('right') ? 401 : 200).end('from the origin');
    });
  });
  await new Promise<void>((ready) => origin.listen(0, '127.0.0.1', ready));
  stack = await openStack();
  await setLimits();
  const source = await bundleWorker('src/edge/index.ts');
  edges = await Promise.all(
    Array.from({ length: 3 }, () =>
      startRawWorker({
        source,
        compatibilityDate: '2026-10-01',
        compatibilityFlags: ['global_fetch_strictly_public'],
        kv: ['GATE_KV'],
        vars: {
          SERVICE_URL: stack.serviceUrl,
          ORIGIN_URL: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
          CLIENT_JWT: stack.clientJwt,
          SIGNALS_SOURCE: 'headers',
          SIGNALS_SECRET: SECRET,
        },
      }),
    ),
  );
  for (const edge of edges) {
    await eventually(
      async () => (await fetch(`${edge.url}/__protect/health`)).json() as Promise<{ status: string }>,
      ({ status }) => status === 'ok',
    );
    // The object has started.
    await eventually(
      () => post(edge, '/warm', ''),
      ({ status }) => status === 200,
    );
  }
});
afterAll(async () => {
  await Promise.all(edges.map((edge) => edge.stop()));
  origin.closeAllConnections();
  origin.close();
});

const onPath = (path: string, limit: string) => ({
  name: `on-${limit}`,
  when: { field: 'path', operator: 'startsWith', value: path },
  then: { action: 'limit', limit },
});

function setLimits(): Promise<unknown> {
  const exact = { key: ['path'], count: 50, windowSeconds: DAY_SECONDS, exact: true, ifUnreachable: 'closed' };
  const loginFailed = { status: [401], usernameField: 'user' };
  return manage(stack, '/protect/policies/set', {
    limits: [
      { name: 'orders', ...exact },
      { name: 'restarted', ...exact },
      { name: 'warm', ...exact, count: 1000 },
      { name: 'solving', key: ['ip'], count: 2, windowSeconds: DAY_SECONDS, on: 'challengeFailed', then: 'block' },
      { name: 'fast', key: ['path'], count: 40, windowSeconds: DAY_SECONDS, algorithm: 'bucket' },
      {
        name: 'guessing',
        key: ['user'],
        count: 3,
        windowSeconds: DAY_SECONDS,
        on: 'loginFailed',
        loginFailed,
        then: '429',
      },
    ],
    policies: [
      onPath('/order', 'orders'),
      onPath('/restarted', 'restarted'),
      onPath('/warm', 'warm'),
      onPath('/fast', 'fast'),
      onPath('/login', 'guessing'),
      onPath('/guarded', 'solving'),
      // These clients keep no session.
      { name: 'api', when: { field: 'pathType', operator: 'exists' }, then: { action: 'allow' } },
    ],
  });
}

const from = (ip: string) => ({ 'x-client-ip': ip, 'x-signals-secret': SECRET, 'user-agent': 'test' });

async function post(edge: RawWorker, path: string, body: string, headers: Record<string, string> = {}) {
  const response = await fetch(edge.url + path, {
    method: 'POST',
    body,
    headers: { ...from('192.0.2.1'), 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

/** The statuses of so many posts at once to every edge, each with a body of its own. */
async function flood(path: string, each: number): Promise<number[]> {
  const posts = edges.flatMap((edge, place) =>
    Array.from({ length: each }, (_, index) => post(edge, path, `order=${place}-${index}&note=${'x'.repeat(500)}`)),
  );
  return (await Promise.all(posts)).map(({ status }) => status);
}
const times = (statuses: readonly number[], status: number) => statuses.filter((one) => one === status).length;

/** The path whose limit is spent. */
let spent = '';

test('of 600 posts at once through three edges an exact limit of 50 lets 50 through, and no other body', async () => {
  let floods = 0;
  // A service that is too busy to answer in time refuses with 503, and may have counted. Then the next path is flooded.
  const statuses = await eventually(
    () => flood((spent = `/order/${floods++}`), 200),
    (answers) => !answers.includes(503),
  );
  expect([times(statuses, 200), times(statuses, 429)]).toEqual([50, 550]);
  const bodies = received.get(spent) ?? [];
  expect([bodies.length, new Set(bodies).size]).toEqual([50, 50]);
  for (let index = 0; index < floods; index++)
    expect(received.get(`/order/${index}`)?.length ?? 0).toBeLessThanOrEqual(50);
});

test('the refusal says when to come back, and the log why it was refused', async () => {
  const { status, headers, text } = await post(edges[0]!, spent, 'a=1');
  expect(status).toBe(429);
  expect(headers.get('ratelimit-policy')).toBe(`"orders";q=50;w=${DAY_SECONDS}`);
  expect(headers.get('ratelimit')).toBe(`"orders";r=0;t=${headers.get('retry-after')}`);
  expect(text).toContain('Too many requests');
  const requestId = headers.get('x-protect-request-id');
  const found = await eventually(
    () =>
      manage<{ verdict: object; table: { input: string; outcome: string }[] }>(stack, '/protect/verdicts/explain', {
        requestId,
      }).catch(() => null),
    (answer) => answer !== null,
  );
  expect(found?.verdict).toMatchObject({ source: 'limit', decided_by: 'limit:orders', status: 429 });
  expect(found?.table.find(({ input }) => input === 'limit')?.outcome).toBe('decided');
});

test('an exact limit holds over a restart of its object in the middle of a run', async () => {
  const before = await flood('/restarted', 10);
  expect(times(before, 200)).toBe(30);
  await stack.stopService();
  const meanwhile = await flood('/restarted', 10);
  expect(times(meanwhile, 200)).toBe(0);
  await stack.startService();
  await eventually(
    async () => {
      await flood('/restarted', 10);
      return received.get('/restarted')?.length;
    },
    (count) => count === 50,
  );
  await flood('/restarted', 50);
  expect(received.get('/restarted')).toHaveLength(50);
});

test('a fast limit of 40 lets half of it more through for each of three edges at most', async () => {
  // Half as much again as an edge lets through alone, and not so much that a report is late: then an edge counts alone.
  await flood('/fast', 60);
  await flood('/fast', 60);
  const count = received.get('/fast')?.length ?? 0;
  expect(count).toBeGreaterThanOrEqual(40);
  expect(count).toBeLessThanOrEqual(40 + 3 * 20);
});

test('log-ins that failed for one user stop that user at every edge and from every network, and nobody else', async () => {
  const login = (edge: RawWorker, user: string, password: string, ip: string) =>
    post(edge, '/login', `user=${user}&password=${password}`, from(ip));
  const guess = (index: number) => login(edges[index % 3]!, 'Alice', 'wrong', `198.51.${index}.1`);
  let index = 0;
  const refused = await eventually(
    () => guess(index++),
    ({ status }) => status === 429,
  );
  expect(refused.headers.get('ratelimit')).toBeNull();
  expect((await login(edges[0]!, 'bob', 'right', '198.51.1.1')).status).toBe(200);
  for (const edge of edges) {
    // An edge learns of the others' counts with its own next count, so only a guess makes it learn. Until it has learned,
    // it refuses for a tenth of a second at most; of those that it knows of, the first leaves the window in hours.
    await eventually(
      async () => {
        await login(edge, 'Alice', 'wrong', `198.51.${index++}.1`);
        return login(edge, 'alice', 'right', '203.0.113.9');
      },
      ({ status, headers }) => status === 429 && Number(headers.get('retry-after')) > 60,
    );
  }
  const wrong = (received.get('/login') ?? []).filter((body) => body.includes('wrong'));
  // Three, and those that an edge let through before it had learned of the others.
  expect(wrong.length).toBeLessThanOrEqual(3 + 3 * 3);
});

test('guesses at once are no more than guesses one after the other', async () => {
  const guess = (edge: RawWorker) => post(edge, '/login', 'user=carol&password=wrong-carol');
  await Promise.all(edges.flatMap((edge) => Array.from({ length: 40 }, () => guess(edge))));
  const reached = (received.get('/login') ?? []).filter((body) => body.includes('wrong-carol'));
  expect(reached.length).toBeGreaterThanOrEqual(3);
  expect(reached.length).toBeLessThanOrEqual(3 + 3 * 3);
});

test('a GET with a body is no error where a limit counts by user', async () => {
  const headers = { ...from('192.0.2.9'), 'content-type': 'application/json', 'content-length': '2' };
  const status = await new Promise((done, failed) => {
    const call = ask(`${edges[0]!.url}/login`, { headers }, (response) => done(response.resume().statusCode));
    call.on('error', failed).end('{}');
  });
  expect(status).toBe(401);
});

test('tokens that are refused count for their visitor, who is then blocked where a policy says so', async () => {
  const edge = edges[0]!;
  const page = { 'sec-fetch-site': 'same-origin', origin: edge.url, 'content-type': 'application/json' };
  const guarded = async (ip: string) => (await post(edge, '/guarded', 'a=1', from(ip))).status;
  for (let failed = 0; failed < 2; failed++) {
    expect(await guarded('203.0.113.50')).toBe(200);
    const { text } = await post(edge, '/__protect/verify', '{"token":"made-up"}', { ...from('203.0.113.50'), ...page });
    expect(JSON.parse(text)).toMatchObject({ verified: false });
  }
  expect([await guarded('203.0.113.50'), await guarded('203.0.113.51')]).toEqual([403, 200]);
});
