/**
 * The edge on workerd itself between a service and an origin that fail on demand. One service and one origin for each
 * test, and as many edges as it starts.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import { FIREFOX, browse } from '../support/browse.ts';
import { type RawWorker, type RawWorkerOptions, startRawWorker } from '../support/raw-workerd.ts';
import { eventually } from '../support/stack.ts';
import { startUpstream, type Upstream } from './edge-upstream.ts';

export const BLOCKED = { 'user-agent': 'BlockMe/1' };
export const CHALLENGED = { 'user-agent': `${FIREFOX} ChallengeMe/1` };

export interface FailingOrigin {
  url: string;
  hits: string[];
  server: Server;
  /** It hangs up instead of responding. */
  die: boolean;
  status: number;
}

export let upstream: Upstream;
export let origin: FailingOrigin;
let source: string;
let workers: RawWorker[] = [];

/** Registers the hooks. Call it once in a test file. */
export function useFailingNeighbours(): void {
  beforeAll(async () => {
    source = await bundleWorker('src/edge/index.ts');
  });
  beforeEach(async () => {
    upstream = await startUpstream();
    await upstream.setRules([
      { type: 'userAgent', value: 'blockme', verdict: 'block' },
      { type: 'userAgent', value: 'challengeme', verdict: 'challenge' },
    ]);
    origin = await startOrigin();
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    workers = [];
    origin.server.closeAllConnections();
    await new Promise((done) => origin.server.close(done));
    await upstream.stop();
  });
}

/** Counts what arrives. */
async function startOrigin(): Promise<FailingOrigin> {
  const server = createServer((request, response) => {
    started.hits.push(`${request.method} ${request.url}`);
    if (started.die) return void request.socket.destroy();
    request.resume();
    request.on('end', () => response.writeHead(started.status, { 'x-own': 'yes' }).end('from the origin'));
  });
  const started = { url: '', hits: [] as string[], server, die: false, status: 200 };
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  started.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return started;
}

export interface EdgeOptions extends Pick<RawWorkerOptions, 'queues'> {
  waitForRules?: boolean;
}

/** The address of a new edge. */
export async function startEdge(
  vars: Record<string, string> = {},
  { waitForRules = true, ...bindings }: EdgeOptions = {},
): Promise<string> {
  const worker = await startRawWorker({
    source,
    compatibilityDate: '2026-10-01',
    compatibilityFlags: ['global_fetch_strictly_public'],
    kv: ['GATE_KV'],
    ...bindings,
    vars: {
      SERVICE_URL: upstream.url,
      ORIGIN_URL: origin.url,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: 'a-secret-of-the-operators-proxy',
      CLIENT_JWT: upstream.clientJwt,
      OPS_TOKEN: 'a-token-of-the-operators',
      RULES_POLL_SECONDS: '0.2',
      RULES_MAX_STALE_SECONDS: '0.5',
      ...vars,
    },
  });
  workers.push(worker);
  if (waitForRules) {
    await eventually(
      async () => (await fetch(worker.url, { headers: BLOCKED })).status,
      (status) => status === 403,
    );
    origin.hits.length = 0;
  }
  return worker.url;
}

export const ask = async (url: string, init?: RequestInit) => {
  const answer = await fetch(url, init);
  await answer.arrayBuffer();
  return { status: answer.status, headers: answer.headers };
};

/** Posts JSON as a browser of the site's own page does. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names what the JSON holds
export async function postJson<Answer>(
  url: string,
  path: string,
  body: object,
  headers: Record<string, string> = CHALLENGED,
): Promise<{ answer: Response; body: Answer }> {
  const answer = await browse(url + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(answer.headers.get('content-type')).toContain('application/json');
  return { answer, body: (await answer.json()) as Answer };
}
