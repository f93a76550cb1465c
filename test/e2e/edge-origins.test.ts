/**
 * The ways to an origin, on workerd itself: the zone's own origin (`fetch` of the requested address), a service binding
 * with and without an address, and a host resolved as another.
 */
import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startDemoOrigin } from '../../src/cli/demo/origin.ts';
import { bundleWorker, readWranglerFile } from '../../src/cli/worker-config.ts';
import { freePortBase } from '../support/ports.ts';
import { eventually } from '../support/eventually.ts';
import { type RawWorker, type RawWorkerOptions, startRawWorker } from '../support/raw-workerd.ts';
import { startUpstream, type Upstream } from './edge-upstream.ts';

const SECRET = 'a-secret-of-the-operators-proxy';
/** Reports what it received, and redirects to itself by its own name. */
const ORIGIN_WORKER = `export default { async fetch(request) {
  const { pathname, search } = new URL(request.url);
  if (pathname === '/moved') return new Response(null, { status: 302, headers: { location: 'http://inner.test/there' } });
  return Response.json({ url: request.url, search, method: request.method, body: await request.text(),
    headers: Object.fromEntries(request.headers) });
} }`;
const RECORDER = `export default { fetch(request) {
  const passed = new Request(request);
  passed.headers.set('x-resolved-as', request.cf?.resolveOverride ?? 'nothing');
  return fetch(passed);
} }`;

/** The date and flags that are deployed: which server answers a `fetch` depends on them. */
const file = readWranglerFile('wrangler.toml');

let source: string;
let upstream: Upstream;
let origin: Awaited<ReturnType<typeof startDemoOrigin>>;
let edge: RawWorker;

beforeAll(async () => {
  source = await bundleWorker('src/edge/index.ts');
  upstream = await startUpstream();
  await upstream.setRules([{ type: 'userAgent', value: 'blockme', verdict: 'block' }]);
  origin = await startDemoOrigin(await freePortBase());
});
afterEach(() => edge?.stop());
afterAll(async () => {
  await origin?.close();
  await upstream?.stop();
});

async function start(vars: Record<string, string>, more: Partial<RawWorkerOptions> = {}): Promise<void> {
  edge = await startRawWorker({
    source,
    compatibilityDate: file.compatibility_date,
    compatibilityFlags: file.compatibility_flags ?? [],
    vars: {
      SERVICE_URL: upstream.url,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: SECRET,
      CLIENT_JWT: upstream.clientJwt,
      ...vars,
    },
    ...more,
  });
}

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** One request for a host of the visitor's choice, as in the address bar. */
function ask(path: string, host: string, method = 'GET', body = ''): Promise<Answer> {
  const { hostname, port } = new URL(edge.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, method, headers: { host }, agent: false }, (answer) => {
      let text = '';
      answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
    });
    sent.once('error', reject);
    sent.end(body);
  });
}
const json = ({ body }: Answer) => JSON.parse(body) as Record<string, unknown> & { headers: Record<string, string> };

describe('in front of the zone’s own origin', () => {
  test('the requested address is fetched, with path and body unchanged', async () => {
    await start({ ORIGIN_URL: 'zone' });
    const answer = await ask('/echo//a;b/%2f?x=1', new URL(origin.url).host, 'POST', 'whole');
    const echoed = json(answer);
    expect([answer.status, echoed['path'], echoed['query'], echoed['bodyLength']]).toEqual([
      200,
      '/echo//a;b/%2f',
      'x=1',
      5,
    ]);
    const { host } = new URL(origin.url);
    expect(echoed.headers).toMatchObject({ host, 'x-forwarded-host': host });
    expect(echoed.headers['x-protect-signature']).toContain('v1=');
  });

  test('a gate that reaches itself responds 508 instead of looping, and its health is degraded', async () => {
    await start({ ORIGIN_URL: 'zone' });
    const answer = await ask('/', new URL(edge.url).host);
    expect(answer.status).toBe(508);
    for (let visit = 0; visit < 3; visit++) await ask('/', new URL(edge.url).host);
    expect(JSON.parse((await ask('/__protect/health', new URL(edge.url).host)).body)).toEqual({ status: 'degraded' });
  });
});

describe('the flag that sends a fetch of the zone to the gate again', () => {
  const compatibilityFlags = ['global_fetch_strictly_public'];

  test('is not in a configuration that deploys an edge, and both of them have the zone as their origin', () => {
    const configs = ['wrangler.toml', 'src/edge/wrangler.any-service.toml'].map(readWranglerFile);
    expect(configs.map(({ vars, compatibility_flags: flags = [] }) => [vars?.['ORIGIN_URL'], flags])).toEqual([
      ['zone', []],
      ['zone', []],
    ]);
  });

  test('is refused with the zone as the origin, and accepted with a URL', async () => {
    await start({ ORIGIN_URL: 'zone' }, { compatibilityFlags });
    expect((await ask('/', new URL(origin.url).host)).status).toBe(503);
    await edge.stop();
    await start({ ORIGIN_URL: origin.url }, { compatibilityFlags });
    expect((await ask('/echo', 'shop.test')).status).toBe(200);
  });
});

describe('in front of a URL', () => {
  test('the origin gets its own name as the Host, and the visitor’s beside it', async () => {
    await start({ ORIGIN_URL: origin.url });
    const { headers } = json(await ask('/echo', 'shop.test'));
    expect(headers).toMatchObject({ host: new URL(origin.url).host, 'x-forwarded-host': 'shop.test' });
  });
});

describe('the service behind a binding', () => {
  test('is called through it and not over the network', async () => {
    const relay = `export default { fetch(request) {
      const { pathname, search } = new URL(request.url);
      return fetch('${upstream.url}' + pathname + search, request);
    } }`;
    upstream.calls.length = 0;
    await start({ ORIGIN_URL: origin.url, SERVICE_URL: 'http://service.test' }, { services: { SERVICE: relay } });
    await eventually(
      () => ask('/', 'shop.test'),
      () => upstream.calls.includes('/edge/v1/config'),
    );
  });
});

describe('in front of a Worker', () => {
  test('the binding is called once, with the public address and the gate’s headers', async () => {
    await start({}, { services: { ORIGIN: ORIGIN_WORKER } });
    const told = json(await ask('/shop/?q=1', 'shop.test', 'PUT', 'cart'));
    expect(told).toMatchObject({ url: 'http://shop.test/shop/?q=1', method: 'PUT', body: 'cart' });
    expect(told.headers).toMatchObject({ 'x-forwarded-host': 'shop.test', 'x-protect-decision': 'allow' });
    expect(told.headers['x-protect-signature']).toContain('v1=');
  });

  test('with ORIGIN_URL it is called by that name, and no redirect shows the name to a visitor', async () => {
    await start({ ORIGIN_URL: 'http://inner.test' }, { services: { ORIGIN: ORIGIN_WORKER } });
    const told = json(await ask('/x', 'shop.test'));
    expect(told).toMatchObject({ url: 'http://inner.test/x' });
    expect(told.headers['x-forwarded-host']).toBe('shop.test');
    const moved = await ask('/moved', 'shop.test');
    expect([moved.status, moved.headers['location']]).toEqual([302, 'http://shop.test/there']);
  });
});

describe('a host resolved as another', () => {
  test('keeps its name and is fetched from the override', async () => {
    const vars = { ORIGIN_URL: origin.url, ORIGIN_RESOLVE_OVERRIDE: 'hidden.shop.test' };
    await start(vars, { outbound: RECORDER });
    const echoed = json(await ask('/echo', 'shop.test'));
    expect(echoed.headers).toMatchObject({ 'x-resolved-as': 'hidden.shop.test', 'x-forwarded-host': 'shop.test' });
  });

  test('is fetched from its own address without an override', async () => {
    await start({ ORIGIN_URL: origin.url }, { outbound: RECORDER });
    expect(json(await ask('/echo', 'shop.test')).headers['x-resolved-as']).toBe('nothing');
  });
});
