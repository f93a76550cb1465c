/** The edge's client of `/siteverify`: every response is a result or a fault, never an exception. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { verifyToken } from '../../../src/verify/siteverify-client.ts';
import { WAIT_MS } from '../../support/eventually.ts';
import { expectRows } from '../../support/rows.ts';

let base = '';
const asked: unknown[] = [];
/** `null`: no response at all. */
const replies: Record<string, { status: number; body: string } | null> = {
  '/yes': { status: 200, body: '{"verified":true,"level":1,"jti":"j","unknown":1}' },
  '/no': { status: 200, body: '{"verified":false,"reason":"API.USER_ALREADY_VERIFIED"}' },
  '/plain': { status: 200, body: '{"verified":true}' },
  '/silent': null,
  '/secret': { status: 401, body: '{"error":{"code":401}}' },
  '/bad': { status: 400, body: '{}' },
  '/moved': { status: 302, body: '' },
  '/down': { status: 503, body: '{"verified":true}' },
  '/limited': { status: 429, body: '' },
  '/html': { status: 200, body: '<html>' },
  '/text': { status: 200, body: '{"verified":"true"}' },
  '/null': { status: 200, body: 'null' },
  '/long': { status: 200, body: `{"verified":true,"x":"${'x'.repeat(20_000)}"}` },
};
/** A server that responds gets plenty of time. Only the silent one times out soon. */
const timeoutOf = (path: string): number => (path === '/silent' ? 300 : WAIT_MS);
const server = createServer((request, response) => {
  const reply = replies[request.url ?? ''];
  let body = '';
  request.on('data', (chunk: Buffer) => (body += chunk.toString()));
  request.on('end', () => {
    asked.push(JSON.parse(body));
    if (reply === null) return;
    response.writeHead(reply?.status ?? 404, { location: '/yes' }).end(reply?.body);
  });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Node forgets the time limit of a request that nobody holds any more. */
const held: Request[] = [];
const send = (request: Request): Promise<Response> => {
  held.push(request);
  return fetch(request);
};

const verify = (path: string): ReturnType<typeof verifyToken> =>
  verifyToken({
    url: base + path,
    secret: 's',
    token: 't',
    ip: '192.0.2.1',
    action: 'clearance',
    level: 1,
    audience: 'edge',
    timeoutMs: timeoutOf(path),
    fetch: send,
  });

test('sends exactly the fields that it was given', async () => {
  await verify('/yes');
  expect(asked.at(-1)).toEqual({
    secret: 's',
    token: 't',
    ip: '192.0.2.1',
    action: 'clearance',
    level: 1,
    audience: 'edge',
  });
  await verifyToken({
    url: `${base}/plain`,
    secret: 's',
    token: 't',
    ip: null,
    timeoutMs: timeoutOf('/plain'),
    fetch: send,
  });
  expect(asked.at(-1)).toEqual({ secret: 's', token: 't' });
});

test('each answer of the service has one meaning', () =>
  expectRows(
    [
      ['/yes', { ok: true, value: { verified: true, level: 1, jti: 'j' } }],
      ['/no', { ok: true, value: { verified: false, reason: 'API.USER_ALREADY_VERIFIED' } }],
      ['/plain', { ok: true, value: { verified: true } }],
      ['/secret', { ok: false, error: { kind: 'refused' } }],
      ['/bad', { ok: false, error: { kind: 'refused' } }],
      ['/moved', { ok: false, error: { kind: 'refused' } }],
      ['/unknown', { ok: false, error: { kind: 'refused' } }],
      ['/silent', { ok: false, error: { kind: 'unreachable' } }],
      ['/down', { ok: false, error: { kind: 'unreachable' } }],
      ['/limited', { ok: false, error: { kind: 'unreachable' } }],
      ['/html', { ok: false, error: { kind: 'nonsense' } }],
      ['/text', { ok: false, error: { kind: 'nonsense' } }],
      ['/null', { ok: false, error: { kind: 'nonsense' } }],
      ['/long', { ok: false, error: { kind: 'nonsense' } }],
    ],
    async ([path, expected]) => {
      expect(await verify(path)).toMatchObject(expected);
    },
  ));

test('reports a refused connection as unreachable', async () => {
  const result = await verifyToken({
    url: 'http://127.0.0.1:1/siteverify',
    secret: 's',
    token: 't',
    timeoutMs: WAIT_MS,
    fetch: send,
  });
  expect(result).toEqual({ ok: false, error: { kind: 'unreachable' } });
});

test('stops reading a response that has no end', async () => {
  let chunks = 0;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      chunks++;
      controller.enqueue(new Uint8Array(4096).fill(32));
    },
  });
  const options = { url: 'http://service.test/siteverify', secret: 's', token: 't', timeoutMs: WAIT_MS };
  const result = await verifyToken({ ...options, fetch: () => Promise.resolve(new Response(endless)) });
  expect(result).toEqual({ ok: false, error: { kind: 'nonsense' } });
  expect(chunks).toBeLessThan(10);
});
