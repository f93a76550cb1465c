/** Challenged submissions are held in memory, but no more of them than an isolate has room for. */
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import { HELD_BODIES_MAX_BYTES } from '../../src/edge/submission/body-budget.ts';
import { SUBMISSION_MAX_BYTES } from '../../src/edge/submission/read-submission.ts';
import { startRawWorker } from '../support/raw-workerd.ts';
import type { RawWorker } from '../support/raw-workerd.ts';
import { eventually } from '../support/eventually.ts';
import { startUpstream } from './edge-upstream.ts';
import type { Upstream } from './edge-upstream.ts';

const HALF_BYTES = HELD_BODIES_MAX_BYTES / 2;
let upstream: Upstream;
let worker: RawWorker;
let held: Socket[] = [];

beforeAll(async () => {
  upstream = await startUpstream();
  await upstream.setRules([{ type: 'userAgent', value: 'challengeme', verdict: 'challenge' }]);
  worker = await startRawWorker({
    source: await bundleWorker('src/edge/index.ts'),
    compatibilityDate: '2026-10-01',
    compatibilityFlags: ['global_fetch_strictly_public'],
    kv: ['GATE_KV'],
    vars: {
      SERVICE_URL: upstream.url,
      ORIGIN_URL: upstream.url,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: 'a-secret-of-the-operators-proxy',
      CLIENT_JWT: upstream.clientJwt,
    },
  });
  await eventually(
    async () => (await fetch(`${worker.url}/__protect/health`)).json() as Promise<{ status: string }>,
    ({ status }) => status === 'ok',
  );
});
afterAll(async () => {
  for (const socket of held) socket.destroy();
  await worker?.stop();
  await upstream?.stop();
});

const submit = (bytes: number) =>
  fetch(`${worker.url}/form`, {
    method: 'POST',
    headers: {
      'user-agent': 'ChallengeMe/1',
      'content-type': 'application/octet-stream',
      'sec-fetch-site': 'same-origin',
    },
    body: new Uint8Array(bytes),
  });

/** Sends all but the last byte of a challenged submission and leaves the connection open. */
function holdOpen(bytes: number): Promise<Socket> {
  const { hostname, port, host } = new URL(worker.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `POST /form HTTP/1.1\r\nhost: ${host}\r\nuser-agent: ChallengeMe/1\r\ncontent-type: text/plain\r\n` +
          `content-length: ${bytes}\r\n\r\n`,
      );
      socket.write(Buffer.alloc(bytes - 1), () => resolve(socket));
    });
    socket.on('error', reject);
    held.push(socket);
  });
}

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

  test('that together are too large for an isolate are refused, and those that fit are not', async () => {
    expect(SUBMISSION_MAX_BYTES).toBeLessThanOrEqual(HALF_BYTES);
    expect((await submit(1000)).status).toBe(403);
    await Promise.all([holdOpen(HALF_BYTES), holdOpen(HALF_BYTES)]);

    const refused = await eventually(
      async () => {
        const answer = await submit(1000);
        return { status: answer.status, retryAfter: answer.headers.get('retry-after'), page: await answer.text() };
      },
      ({ status }) => status === 503,
    );
    expect(refused.retryAfter).toBe('5');
    expect(refused.page).toContain('was not delivered');
    // A request without a body needs no room.
    expect((await fetch(worker.url, { headers: { 'user-agent': 'ChallengeMe/1' } })).status).toBe(403);
    await eventually(
      () => Promise.resolve(upstream.counters['submissions_refused{reason="memory"}'] ?? 0),
      (count) => count > 0,
    );

    for (const socket of held) socket.destroy();
    await eventually(
      async () => (await submit(1000)).status,
      (status) => status === 403,
    );
  });
});
