/**
 * The edge in front of a service that has only `/siteverify` and the management API: rules and policy come from there,
 * tokens are verified there, and the edge issues challenges itself.
 */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { solveSha256 } from '../../src/captcha/pow/pow-solve.ts';
import type { ChallengeResponse, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import { answering, bodyOf } from '../support/answering.ts';
import { type RawWorker, startRawWorker } from '../support/raw-workerd.ts';
import { verdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { eventually } from '../support/stack.ts';
import { cookiesOf } from './edge-visitor.ts';

const calls: { path: string; authorization: string | undefined; body: Record<string, unknown> }[] = [];
const logged: string[] = [];
let rules: object[] = [
  { type: 'userAgent', value: 'BlockMe', verdict: 'block' },
  { type: 'ipMask', value: 'not a prefix', verdict: 'block' },
  { type: 'userAgent', value: 'ChallengeMe', verdict: 'challenge' },
];
let service: { url: string; server: Server };
let origin: { url: string; server: Server };
let edge: RawWorker;

beforeAll(async () => {
  service = await serve(async (request) => {
    const text = (await bodyOf(request)).toString();
    if (request.url === '/log') {
      logged.push(...text.trim().split('\n'));
      return {};
    }
    const body = JSON.parse(text || '{}') as Record<string, unknown>;
    calls.push({ path: request.url!, authorization: request.headers.authorization, body });
    if (request.url === '/siteverify') return { verified: body['token'] === 'good' };
    if (request.headers.authorization !== 'Bearer the-api-key') return null;
    if (request.url === '/protect/access-rules') return rules;
    if (request.url === '/protect/instances') {
      return [
        {
          id: 'x',
          globalSiteKey: 'the-site-key',
          endpointRules: [{ pattern: '/api/**', pathType: 'json' }],
          riskiness: 9,
        },
      ];
    }
    return null;
  });
  origin = await serve(async (request) => ({ path: request.url, body: (await bodyOf(request)).toString() }));
  edge = await startRawWorker({
    source: await bundleWorker('test/workerd/edge/counting-any-service-worker.ts'),
    compatibilityDate: '2026-10-01',
    compatibilityFlags: ['global_fetch_strictly_public'],
    kv: ['GATE_KV'],
    vars: {
      SERVICE_URL: service.url,
      ORIGIN_URL: origin.url,
      SIGNALS_SOURCE: 'cloudflare',
      RULES_SOURCE: 'management-api',
      API_KEY: 'the-api-key',
      SITE_KEY: 'the-site-key',
      SITE_SECRET: 'the-site-secret',
      LOG_SINKS: 'http',
      LOG_URL: `${service.url}/log`,
      RULES_POLL_SECONDS: '0.2',
      RULES_MAX_STALE_SECONDS: '0.2',
    },
  });
  await fetch(`${edge.url}/__scheduled`);
  await blocked('BlockMe');
});
afterAll(async () => {
  await edge?.stop();
  for (const { server } of [service, origin]) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(answer: (request: IncomingMessage) => Promise<unknown>) {
  const server = createServer(
    answering(async (request, response) => {
      const value = await answer(request);
      response.writeHead(value === null ? 404 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    }),
  );
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

async function status(path: string, init?: RequestInit): Promise<number> {
  const answer = await fetch(edge.url + path, init);
  await answer.arrayBuffer();
  return answer.status;
}
/** Waits until the edge has read KV behind a response. */
const blocked = (name: string) =>
  eventually(
    () => status('/', { headers: as(name) }),
    (code) => code === 403,
  );
const as = (name: string) => ({ 'user-agent': `Mozilla/5.0 ${name}/1` });

test('rules and policy from that service are enforced', async () => {
  expect(await status('/', { headers: as('BlockMe') })).toBe(403);
  expect(await status('/', { headers: as('ChallengeMe') })).toBe(403);
  const call = await fetch(`${edge.url}/api/x`, { headers: as('ChallengeMe') });
  expect(call.headers.get('content-type')).toContain('application/json');
  expect(await status('/')).toBe(200);
  expect(calls.map(({ path }) => path)).toEqual(['/protect/access-rules', '/protect/instances']);
  expect(calls[0]).toMatchObject({ body: { siteKey: 'the-site-key' } });
});

test('a scheduled run without a change writes nothing', async () => {
  await fetch(`${edge.url}/__count`);
  await fetch(`${edge.url}/__scheduled`);
  expect(await (await fetch(`${edge.url}/__count`)).json()).toMatchObject({ kvWrites: 0 });
});

test('a change arrives with the next scheduled run', async () => {
  rules = [...rules, { type: 'userAgent', value: 'LateComer', verdict: 'block' }];
  await fetch(`${edge.url}/__scheduled`);
  await blocked('LateComer');
});

test('a token of that service’s widget is verified with secret, token and ip only', async () => {
  const submit = (token: string) =>
    status('/form', {
      method: 'POST',
      headers: { ...as('ChallengeMe'), 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ 'captcha-response': JSON.stringify({ token }) }).toString(),
    });
  expect(await submit('good')).toBe(200);
  expect(await submit('bad')).toBe(403);
  const question = calls.find(({ path }) => path === '/siteverify')!;
  expect(question.authorization).toBeUndefined();
  expect(question.body).toEqual({ secret: 'the-site-secret', token: 'good', ip: '127.0.0.1' });
});

test('a solution of the edge’s own challenge gives clearance', async () => {
  const post = async (path: string, body: object) =>
    fetch(edge.url + path, {
      method: 'POST',
      headers: { ...as('ChallengeMe'), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const challenge = (await (await post('/__protect/challenge', { action: 'clearance' })).json()) as ChallengeResponse;
  const { salt = '', count = 0, bits = 0 } = challenge.pow!;
  const solution = { counters: await solveSha256({ salt, count, bits }) };
  const solved = (await (
    await post('/__protect/solution', { challenge: challenge.challenge, solution })
  ).json()) as SolutionResponse;
  const verified = await post('/__protect/verify', { token: solved.token });
  const cookie = cookiesOf(verified);
  expect(await status('/', { headers: { ...as('ChallengeMe'), cookie } })).toBe(200);
});

test('verdicts go to an HTTP sink as NDJSON', async () => {
  const answer = await fetch(`${edge.url}/logged`, { headers: as('BlockMe') });
  const id = answer.headers.get('x-protect-request-id')!;
  const line = await eventually(
    async () => logged.find((text) => text.includes(id)),
    (text) => text !== undefined,
  );
  const record = verdictRecord.parse(JSON.parse(line!));
  expect(record).toMatchObject({ decision: 'block', request_path: '/logged', site_key: 'the-site-key', status: 403 });
});
