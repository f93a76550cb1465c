/**
 * The sinks that need no service, each through the edge and the platform's own binding: whatever the service received
 * is also in R2 and in Analytics Engine, verdict for verdict.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runtimeOptions } from '../../src/cli/runtime-options.ts';
import { bundleWorker, readWranglerFile, workerConfig } from '../../src/cli/worker-config.ts';
import { type VerdictRecord, verdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { pointOf } from '../../src/logsink/sinks/analytics-engine.ts';
import { answering, bodyOf } from '../support/answering.ts';
import { type RawWorker, startRawWorker } from '../support/raw-workerd.ts';
import { eventually } from '../support/stack.ts';
import { startUpstream, type Upstream } from './edge-upstream.ts';
import { stackNow } from '../support/clock.ts';

const REQUESTS = 7;
const file = readWranglerFile('wrangler.toml');
const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-sinks-'));
let upstream: Upstream;
let origin: { url: string; close(): void };

beforeAll(async () => {
  upstream = await startUpstream();
  await upstream.setRules([{ type: 'userAgent', value: 'blockme', verdict: 'block' }]);
  origin = await listen(async () => undefined);
});
afterAll(async () => {
  origin?.close();
  await upstream?.stop();
  rmSync(stateDir, { recursive: true, force: true });
});

async function listen(take: (body: string) => Promise<void>): Promise<{ url: string; close(): void }> {
  const server = createServer(
    answering(async (request, response) => {
      await take((await bodyOf(request)).toString());
      response.end('{}');
    }),
  );
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

function vars(sinks: string): Record<string, string> {
  return {
    SERVICE_URL: upstream.url,
    ORIGIN_URL: origin.url,
    SIGNALS_SOURCE: 'cloudflare',
    CLIENT_JWT: upstream.clientJwt,
    LOG_SINKS: sinks,
  };
}

/** A data point as workerd passes it on: text as bytes, `null` left out. */
type EnginePoint = Record<string, number[] | number | string | undefined>;

function readPoint(point: EnginePoint): ReturnType<typeof pointOf> {
  const text = (name: string): string | null =>
    Array.isArray(point[name]) ? Buffer.from(point[name]).toString() : null;
  return {
    indexes: [text('index1') ?? ''],
    blobs: Array.from({ length: 15 }, (_, at) => text(`blob${at + 1}`)),
    doubles: Array.from({ length: 4 }, (_, at) => point[`double${at + 1}`] as number),
  };
}

type Ask = (path: string, userAgent: string) => Promise<{ status: number }>;

/** Makes requests of both outcomes. Returns the records that the service received, by id. */
async function visited(ask: Ask): Promise<Map<string, VerdictRecord>> {
  await eventually(
    () => ask('/warm', 'Mozilla/5.0 BlockMe'),
    ({ status }) => status === 403,
  );
  upstream.records.length = 0;
  await Promise.all(
    Array.from({ length: REQUESTS }, (_, at) => ask(`/p/${at}?q=1`, `Mozilla/5.0 ${at % 2 ? 'BlockMe' : 'Person'}`)),
  );
  const ours = () => upstream.records.filter(({ request_path: path }) => path.startsWith('/p/'));
  await eventually(
    async () => ours().length,
    (count) => count >= REQUESTS,
  );
  return new Map(ours().map((record) => [record.id, record]));
}

test('R2 gets every verdict as a line of an object under its instance and day', async () => {
  const withBucket = { ...file, r2_buckets: [{ binding: 'VERDICT_LOG', bucket_name: 'verdict-log' }] };
  const bound = { 'gatehouse-service': new URL(upstream.url).host };
  const config = workerConfig(withBucket, await bundleWorker(file.main), vars('service,r2'), bound);
  const edge = new Miniflare({ ...runtimeOptions('edge', stateDir, true), workers: [{ config }] });
  try {
    const sent = await visited(async (path, userAgent) =>
      edge.dispatchFetch(`http://shop.example${path}`, { headers: { 'user-agent': userAgent } }),
    );
    const bucket = await edge.getR2Bucket('VERDICT_LOG', file.name);
    const stored = await eventually(
      async () => {
        const { objects } = await bucket.list();
        const bodies = await Promise.all(objects.map(async ({ key }) => (await bucket.get(key))?.text()));
        const lines = bodies.flatMap((body) => (body ?? '').split('\n').slice(0, -1));
        return { objects, records: lines.map((line) => verdictRecord.parse(JSON.parse(line))) };
      },
      ({ records }) => records.filter(({ id }) => sent.has(id)).length >= REQUESTS,
    );
    const day = new Date(stackNow()).toISOString().slice(0, 10);
    for (const { key } of stored.objects) {
      expect(key).toMatch(new RegExp(`^verdicts/${upstream.instanceId}/${day}/[0-9a-f-]{36}\\.ndjson$`));
    }
    const ours = stored.records.filter(({ request_path: path }) => path.startsWith('/p/'));
    expect(new Map(ours.map((record) => [record.id, record]))).toEqual(sent);
    expect(ours.length).toBe(REQUESTS);
    expect(ours.filter(({ decision }) => decision === 'block').length).toBe(3);
  } finally {
    await edge.dispose();
  }
});

test('Analytics Engine gets every verdict as a point with its columns in a fixed order', async () => {
  const points: EnginePoint[] = [];
  const collector = await listen(async (body) => {
    points.push(JSON.parse(body) as EnginePoint);
  });
  let edge: RawWorker | null = null;
  try {
    edge = await startRawWorker({
      source: await bundleWorker(file.main),
      compatibilityDate: file.compatibility_date,
      compatibilityFlags: file.compatibility_flags ?? [],
      kv: ['GATE_KV'],
      analytics: { VERDICT_ANALYTICS: new URL(collector.url).host },
      vars: vars('service,analytics-engine'),
    });
    const { url } = edge;
    const sent = await visited((path, userAgent) => fetch(`${url}${path}`, { headers: { 'user-agent': userAgent } }));
    const ours = () => points.map(readPoint).filter(({ blobs }) => sent.has(blobs[0] ?? ''));
    await eventually(
      async () => ours().length,
      (count) => count >= REQUESTS,
    );
    const byId = new Map(ours().map((point) => [point.blobs[0], point]));
    expect(ours().length).toBe(REQUESTS);
    for (const record of sent.values()) expect(byId.get(record.id)).toEqual(pointOf(record));
  } finally {
    await edge?.stop();
    collector.close();
  }
});
