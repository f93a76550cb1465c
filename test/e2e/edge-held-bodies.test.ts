/** Challenged submissions are held in memory, but no more of them than an isolate has room for. */
import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { HELD_BODIES_MAX_BYTES } from '../../src/edge/submission/body-budget.ts';
import { SUBMISSION_MAX_BYTES } from '../../src/edge/submission/read-submission.ts';
import { type RawWorker, startRawEdge } from '../support/raw-workerd.ts';
import { eventually } from '../support/eventually.ts';
import { startUpstream, type Upstream } from './edge-upstream.ts';

const SECRET = 'a-secret-of-the-operators-proxy';
const HALF_BYTES = HELD_BODIES_MAX_BYTES / 2;
const REFUSED = 'submissions_refused{reason="memory"}';
let upstream: Upstream;
let worker: RawWorker;
let held: Socket[] = [];

beforeAll(async () => {
  upstream = await startUpstream();
  await upstream.setRules([
    { type: 'userAgent', value: 'challengeme', verdict: 'challenge' },
    { type: 'userAgent', value: 'blockme', verdict: 'block' },
  ]);
  worker = await startRawEdge({
    kv: ['GATE_KV'],
    vars: {
      SERVICE_URL: upstream.url,
      ORIGIN_URL: upstream.url,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: SECRET,
      CLIENT_JWT: upstream.clientJwt,
    },
  });
  await eventually(
    async () => (await fetch(`${worker.url}/__protect/health`)).json() as Promise<{ status: string }>,
    ({ status }) => status === 'ok',
  );
});
afterEach(() => {
  for (const socket of held) socket.destroy();
  held = [];
});
afterAll(async () => {
  await worker?.stop();
  await upstream?.stop();
});

const from = (ip: string) => ({ 'x-client-ip': ip, 'x-signals-secret': SECRET });

const submit = (bytes: number, ip = '192.0.2.1') =>
  fetch(`${worker.url}/form`, {
    method: 'POST',
    headers: {
      'user-agent': 'ChallengeMe/1',
      'content-type': 'application/octet-stream',
      'sec-fetch-site': 'same-origin',
      ...from(ip),
    },
    body: new Uint8Array(bytes),
  });

interface HalfSent {
  socket: Socket;
  /** What has been answered so far. */
  answer: string;
}

/** Sends all but the last byte of a submission and leaves the connection open. */
function holdOpen(
  bytes: number,
  { ip = '192.0.2.1', path = '/form', userAgent = 'ChallengeMe/1', mode = 'cors' } = {},
) {
  const { hostname, port, host } = new URL(worker.url);
  return new Promise<HalfSent>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      const headers = {
        host,
        'user-agent': userAgent,
        'content-type': 'text/plain',
        'content-length': bytes,
        // A navigation could be a held submission that comes back.
        'sec-fetch-mode': mode,
        ...from(ip),
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
      socket.write(Buffer.alloc(bytes - 1), () => resolve(halfSent));
    });
    const halfSent: HalfSent = { socket, answer: '' };
    socket.on('data', (data: Buffer) => (halfSent.answer += data.toString('latin1')));
    socket.on('error', reject);
    held.push(socket);
  });
}

/** Once it has begun. */
const answerOf = (halfSent: HalfSent) =>
  eventually(
    () => Promise.resolve(halfSent.answer.toLowerCase().replace('http', 'HTTP')),
    (text) => text.includes('</html>'),
  );

/** Peak memory of workerd since it started, in MB. Only Linux reports it; elsewhere it is 0. */
function peakMegabytes(): number {
  const status = `/proc/${worker.pid}/status`;
  return existsSync(status) ? Number(/VmHWM:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) / 1024 : 0;
}
const filled = (piece: string) => piece.repeat(Math.floor((SUBMISSION_MAX_BYTES - 16) / piece.length));

describe('challenged submissions', () => {
  test.each([
    ['of four million fields', 'application/x-www-form-urlencoded', filled('a&')],
    ['of lists in lists', 'application/json', filled('[')],
    ['of a million members', 'application/json', `{${filled('"a":{},')}"b":0}`],
  ])('%s take a few times their size in memory', async (_, type, body) => {
    const before = peakMegabytes();
    const answer = await fetch(`${worker.url}/form`, {
      method: 'POST',
      headers: { 'user-agent': 'ChallengeMe/1', 'content-type': type, 'sec-fetch-site': 'same-origin' },
      body,
    });
    expect(answer.status).toBe(413);
    await answer.arrayBuffer();
    expect(peakMegabytes() - before).toBeLessThan(80);
  });

  test('that are too large for an isolate give way to a smaller one, and must be sent again', async () => {
    expect(SUBMISSION_MAX_BYTES).toBeLessThanOrEqual(HALF_BYTES);
    const answers = await eventually(
      async () => {
        // A body without progress ends after some seconds, so each attempt has its own.
        const bytes = HALF_BYTES - 65_536;
        const large = await Promise.all([holdOpen(bytes), holdOpen(bytes, { ip: '198.51.100.1' })]);
        expect((await submit(1_000_000, '203.0.113.1')).status).toBe(403);
        // A request without a body needs no room.
        expect((await fetch(worker.url, { headers: { 'user-agent': 'ChallengeMe/1' } })).status).toBe(403);
        for (const { socket } of large) socket.write('x');
        return Promise.all(large.map(answerOf));
      },
      (texts) => texts.some((text) => text.startsWith('HTTP/1.1 503 ')),
    );
    const refused = answers.find((text) => text.startsWith('HTTP/1.1 503 '))!;
    expect(refused).toContain('retry-after: 5');
    expect(refused).toContain('was not delivered');
    await eventually(
      () => Promise.resolve(upstream.counters[REFUSED] ?? 0),
      (count) => count > 0,
    );
  });

  test('that are half sent stop no submission of another network, nor a small one of their own', async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, at) => holdOpen(1_396_000, { path: `/any?at=${at}`, mode: 'navigate' })),
    );
    const refusedBefore = upstream.counters[REFUSED] ?? 0;
    // Until the room was full once: the half-sent bodies gave way.
    await eventually(
      async () => {
        for (const ip of ['198.51.100.7', '203.0.113.7', '192.0.2.7']) {
          expect((await submit(100_000, ip)).status).toBe(403);
        }
        return (upstream.counters[REFUSED] ?? 0) - refusedBefore;
      },
      (refused) => refused > 0,
    );
  });

  test('of a blocked visitor are answered before they have arrived', async () => {
    // The answer to a body that nobody reads can be lost with its connection. Then the visitor sends again.
    const answer = await eventually(
      async () => {
        const blocked = await holdOpen(1_400_000, { path: '/any', userAgent: 'BlockMe/1', mode: 'navigate' });
        await eventually(
          async () => blocked.socket.destroyed || blocked.answer.includes('</html>'),
          (isOver) => isOver,
        );
        return blocked.answer.toLowerCase().replace('http', 'HTTP');
      },
      (text) => text.includes('</html>'),
    );
    expect(answer).toMatch(/^HTTP\/1\.1 403 /);
    expect(answer).toContain('x-protect-decision: block');
  });
});
