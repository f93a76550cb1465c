/** Origins that an instance names, on workerd itself: which one gets a request, and what follows where none can. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import type { Policy, PolicyAction } from '../../src/contract/management/policy-set/policy.ts';
import type { OriginForm } from '../../src/contract/management/policy-set/policy-set-form.ts';
import { parseExpression } from '../../src/policies/text/parse.ts';
import { bodyOf } from '../support/answering.ts';
import { eventually } from '../support/eventually.ts';
import { type RawWorker, startRawWorker } from '../support/raw-workerd.ts';
import { expectRows } from '../support/rows.ts';
import { startUpstream, type Upstream } from './edge-upstream.ts';

const SECRET = 'a-secret-of-the-operators-proxy';
const OPS_TOKEN = 'a-token-of-the-operators';
const BOUND = `export default { fetch(request) {
  const { headers } = request;
  return Response.json({ server: 'bound', url: request.url, host: headers.get('x-forwarded-host'),
    signature: headers.get('x-protect-signature') });
} }`;

let upstream: Upstream;
let edge: RawWorker;
/** Its environment's own origin is the zone, and not an address on this machine. */
let zoneEdge: RawWorker;
const servers: Server[] = [];

beforeAll(async () => {
  const [own, shop, api] = await Promise.all(['own', 'shop', 'api'].map(startServer));
  const gone = await startServer('gone');
  await new Promise((done) => servers.pop()!.close(done));
  upstream = await startUpstream();
  upstream.setPolicies(policies, [
    named('shop', { kind: 'url', url: shop!, hosts: ['shop.test'] }),
    named('api', { kind: 'url', url: `${api}/base` }),
    named('bound', { kind: 'binding', binding: 'ORIGIN_BOUND', hosts: ['bound.test'] }),
    named('zone', { kind: 'zone' }),
    named('gone', { kind: 'url', url: gone }),
    named('unbound', { kind: 'binding', binding: 'ORIGIN_NOWHERE', hosts: ['unbound.test'] }),
    named('service', { kind: 'binding', binding: 'SERVICE' }),
    named('private', { kind: 'url', url: 'http://10.0.0.1' }),
    named('newer', { kind: 'bucket' }),
  ]);
  const source = await bundleWorker('src/edge/index.ts');
  edge = await startEdge(source, own!);
  zoneEdge = await startEdge(source, 'zone');
});
afterAll(async () => {
  await edge?.stop();
  await zoneEdge?.stop();
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
  await upstream?.stop();
});

async function startEdge(source: string, originUrl: string): Promise<RawWorker> {
  const worker = await startRawWorker({
    source,
    compatibilityDate: '2026-10-01',
    compatibilityFlags: [],
    vars: {
      SERVICE_URL: upstream.url,
      ORIGIN_URL: originUrl,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: SECRET,
      CLIENT_JWT: upstream.clientJwt,
      OPS_TOKEN,
      RULES_POLL_SECONDS: '1',
    },
    services: { ORIGIN_BOUND: BOUND },
  });
  await eventually(
    () => health(worker),
    ({ configVersion }) => configVersion === upstream.configVersion(),
  );
  return worker;
}

/** Says which server it is and what it got. Its address. */
async function startServer(name: string): Promise<string> {
  const server = createServer(({ url, headers }, response) => {
    if (url === '/base/api/moved') {
      response.writeHead(302, { location: `http://${headers.host}/base/there` }).end();
    } else if (url === '/base/api/broken') {
      response.writeHead(503).end();
    } else if (url === '/robots.txt') {
      response.writeHead(200, { 'content-type': 'text/plain' }).end(`User-agent: *\nDisallow: /of-${name}\n`);
    } else {
      const [host, signature] = [headers['x-forwarded-host'], headers['x-protect-signature']];
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ server: name, url, own: headers.host, host, signature }));
    }
  });
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function named(name: string, fields: Omit<OriginForm, 'name' | 'hosts'> & { hosts?: string[] }): OriginForm {
  return { name, hosts: [], ...fields };
}

function policy(name: string, text: string, then: PolicyAction, mode: Policy['mode'] = 'enforce'): Policy {
  const when = parseExpression(text);
  if (!when.ok) throw new Error(`${text}: ${when.error.message}`);
  return { name, when: when.value, then, mode };
}

const to = (origin: string): PolicyAction => ({ action: 'origin', origin });
const policies: Policy[] = [
  policy('watched', 'path startsWith "/api/"', to('gone'), 'monitor'),
  policy('api', 'path startsWith "/api/"', to('api')),
  policy('later', 'path startsWith "/api/"', to('gone')),
  policy('closed', 'path equals "/api/closed"', { action: 'block' }),
  ...['bound', 'zone', 'gone', 'service', 'private', 'newer', 'absent'].map((name) =>
    policy(`to-${name}`, `path startsWith "/to/${name}"`, to(name)),
  ),
];

/** One request for a host of the visitor's choice, as in the address bar. */
async function ask(path: string, host = 'other.test', worker = edge) {
  const { hostname, port } = new URL(worker.url);
  const headers = { host, 'x-signals-secret': SECRET, 'x-client-ip': '192.0.2.1' };
  const sent = request({ hostname, port, path, headers, agent: false }).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  const text = (await bodyOf(answer)).toString();
  const isJson = answer.headers['content-type']?.includes('json') === true;
  const body = (isJson ? JSON.parse(text) : {}) as Record<string, string>;
  return { status: answer.statusCode, headers: answer.headers, text, body };
}

async function health(worker = edge) {
  const answer = await fetch(`${worker.url}/__protect/health`, { headers: { authorization: `Bearer ${OPS_TOKEN}` } });
  return (await answer.json()) as {
    status: string;
    configVersion: string;
    warnings: string[];
    origins: { name: string; failing: boolean; failuresInARow: number }[];
  };
}

describe('a request goes', () => {
  test('to the origin that the first enforced policy names, under its path, with the gate’s headers', async () => {
    const { body } = await ask('/api/items?x=1', 'shop.test');
    expect(body).toMatchObject({ server: 'api', url: '/base/api/items?x=1', host: 'shop.test' });
    expect(body['own']).toMatch(/^127\.0\.0\.1:/);
    expect(body['signature']).toContain('v1=');
  });

  test('else to the origin that has its host', async () => {
    expect((await ask('/items', 'shop.test')).body).toMatchObject({ server: 'shop', url: '/items' });
    expect((await ask('/items', 'SHOP.test:8080')).body).toMatchObject({ server: 'shop' });
    expect((await ask('/items', 'bound.test')).body).toMatchObject({ server: 'bound', url: 'http://bound.test/items' });
  });

  test('else to the origin of the environment', async () => {
    expect((await ask('/items')).body).toMatchObject({ server: 'own', host: 'other.test' });
  });

  test('to a service binding by a policy, with the gate’s signature', async () => {
    const { body } = await ask('/to/bound');
    expect(body).toMatchObject({ server: 'bound', host: 'other.test' });
    expect(body['signature']).toContain('v1=');
  });

  test('to the server of the zone by a policy', async () => {
    const shop = (await ask('/items', 'shop.test')).body;
    expect((await ask('/to/zone', shop['own'], zoneEdge)).body).toMatchObject({ server: 'shop', own: shop['own'] });
  });

  test('nowhere, where a policy blocks it behind the one that names an origin', async () => {
    expect((await ask('/api/closed')).status).toBe(403);
  });
});

describe('an origin that cannot be called', () => {
  test('is a 502, and no other is called', () =>
    expectRows(['gone', 'zone', 'service', 'private', 'newer', 'absent'], async (name) => {
      const { status, body } = await ask(`/to/${name}`);
      expect([status, body['server']]).toEqual([502, undefined]);
    }));

  test('by its host is a 502 too, counted by its name, as a 503 of one that responds is', async () => {
    expect((await ask('/', 'unbound.test')).status).toBe(502);
    expect((await ask('/api/broken')).status).toBe(503);
    const counters = await eventually(
      async () => upstream.counters,
      (counted) => (counted['named_origin_errors{origin="api"}'] ?? 0) > 0,
    );
    expect(counters['named_origin_failures{origin="unbound"}']).toBeGreaterThan(0);
    expect(counters['named_origin_failures{origin="api"}']).toBeUndefined();
    expect(counters['named_origin_requests{origin="shop"}']).toBeGreaterThan(0);
    expect(counters['named_origin_failures{origin="shop"}']).toBeUndefined();
    expect(counters['origin_failures']).toBeGreaterThan(0);
  });

  test('is one on the edge’s own machine, unless its environment has its origin there too', async () => {
    expect((await ask('/items', 'shop.test', zoneEdge)).status).toBe(502);
    expect((await ask('/items', 'bound.test', zoneEdge)).body).toMatchObject({ server: 'bound' });
  });

  test('is named by the health of the edge, with the reason', async () => {
    const { status, warnings, origins } = await health();
    expect(status).toBe('degraded');
    expect(warnings).toEqual(
      expect.arrayContaining([
        'The origin unbound cannot be called: no service binding ORIGIN_NOWHERE.',
        'The origin service cannot be called: no service binding SERVICE.',
        'The origin zone cannot be called: no zone that it can call.',
        'The origin private cannot be called: not a public address.',
      ]),
    );
    expect(origins).toEqual(
      expect.arrayContaining([
        { name: 'shop', failing: false, failuresInARow: 0 },
        expect.objectContaining({ name: 'unbound', failing: true }),
      ]),
    );
  });
});

describe('what comes back', () => {
  test('a redirect to the origin’s own name leads back through the gate', async () => {
    const { status, headers } = await ask('/api/moved', 'shop.test');
    expect([status, headers['location']]).toEqual([302, 'http://shop.test/there']);
  });

  test('a robots.txt is that of the origin of the host', async () => {
    expect((await ask('/robots.txt', 'shop.test')).text).toContain('/of-shop');
    expect((await ask('/robots.txt')).text).toContain('/of-own');
  });
});
