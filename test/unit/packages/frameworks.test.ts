/** The middleware in Express, Fastify and Hono over HTTP, with parsers as applications have them and bodies as attackers send them. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import formbody from '@fastify/formbody';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as ofExpress from '../../../packages/server/src/express.ts';
import * as ofFastify from '../../../packages/server/src/fastify.ts';
import * as ofHono from '../../../packages/server/src/hono.ts';
import { withToken } from '../../../packages/server/src/next.ts';
import { createVerifier, type Verifier } from '../../../packages/server/src/index.ts';
import { HmacSha256 } from '../../../src/bytes/hmac-sha256.ts';
import { signForOrigin } from '../../../src/edge/origin/origin-signature.ts';
import { json, useHostileService } from '../../support/hostile-service.ts';
import { testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';

const service = useHostileService();
/** Verifies the token `good`. */
const judge = (): void => {
  service.answers = [
    (response, request) => json({ verified: service.bodies.at(-1)?.['token'] === 'good' })(response, request),
  ];
};
const secret = Buffer.alloc(32, 5);
const keys = { k1: secret.toString('base64url') };

interface App {
  name: string;
  /** Origin of the running application. */
  start: (verifier: Verifier, throwing: Verifier) => Promise<string>;
}

const servers: (() => unknown)[] = [];
const apps: App[] = [
  {
    name: 'Express',
    async start(verifier, throwing) {
      const app = express();
      const requireToken = ofExpress.requireToken({ verifier });
      app.post('/plain', requireToken, (_req, res) => void res.send('in'));
      app.use(express.urlencoded({ extended: true }), express.json());
      app.post('/form', requireToken, (req, res) => void res.json(req.body));
      app.post('/throws', ofExpress.requireToken({ verifier: throwing }), (_req, res) => void res.send('in'));
      const router = express.Router();
      router.use(ofExpress.requireSignature({ keys }));
      router.get('/page', (req, res) => void res.json(req.gatehouseSignature));
      app.use('/mounted', router);
      // Express prints errors of handlers where nothing else handles them.
      app.use(
        ((error, _req, res, _next) => void res.status(statusOf(error)).end()) satisfies express.ErrorRequestHandler,
      );
      const server: Server = app.listen(0, '127.0.0.1');
      await once(server, 'listening');
      servers.push(() => server.close());
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
  },
  {
    name: 'Fastify',
    async start(verifier, throwing) {
      const app = Fastify();
      const preHandler = ofFastify.requireToken({ verifier });
      app.addContentTypeParser('text/plain', (_request, _body, done) => done(null, undefined));
      app.post('/plain', { preHandler }, async () => 'in');
      await app.register(formbody);
      app.post('/form', { preHandler }, async (request) => request.body);
      app.post('/throws', { preHandler: ofFastify.requireToken({ verifier: throwing }) }, async () => 'in');
      await app.register(
        async (mounted) => {
          const onRequest = ofFastify.requireSignature({ keys });
          mounted.get('/page', { onRequest }, async (request) => request.gatehouseSignature);
        },
        { prefix: '/mounted' },
      );
      servers.push(() => app.close());
      return app.listen({ port: 0, host: '127.0.0.1' });
    },
  },
];

/** A parser of Express says by `status` what is wrong with a body. */
const statusOf = (error: unknown): number => (error as { status?: number }).status ?? 500;
const form = (text: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: text,
});
const jsonBody = (text: string): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: text,
});

const BROWSER_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

async function expectPageOrJson(send: (init: RequestInit) => Response | Promise<Response>): Promise<void> {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: BROWSER_ACCEPT };
  const page = await send({ ...form('captcha-response=bad'), headers });
  expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
  expect(await page.text()).toContain('<h1>The check has expired or failed. Complete it and send the form again.</h1>');
  const script = await send(jsonBody('{"captcha-response":"bad"}'));
  expect([script.status, script.headers.get('content-type')]).toEqual([403, 'application/json; charset=utf-8']);
  expect(await script.json()).toMatchObject({ error: { key: 'API.USER_NOT_VERIFIED' } });
}

beforeEach(judge);
afterAll(async () => {
  await Promise.all(servers.map((close) => close()));
});

describe.each(apps)('$name', ({ start }) => {
  let url: string;
  beforeAll(async () => {
    const options = { secret: 's', serviceUrl: service.url };
    url = await start(
      createVerifier(options),
      createVerifier({ ...options, serviceUrl: 'http://127.0.0.1:1', retries: 0, throwUnavailable: true }),
    );
  });

  test('lets a good token through, with the body that had it', () =>
    expectRows<[string, RequestInit]>(
      [
        ['a form', form('name=Ada&captcha-response=good')],
        ['a form of the widget', form(`name=Ada&captcha-response=${encodeURIComponent('{"token":"good"}')}`)],
        ['a form with two widgets', form('name=Ada&captcha-response=&captcha-response=good')],
        ['JSON', jsonBody('{"name":"Ada","captcha-response":{"token":"good"}}')],
        [
          'a header',
          {
            ...jsonBody('{"name":"Ada"}'),
            headers: { 'content-type': 'application/json', 'x-captcha-response': 'good' },
          },
        ],
      ],
      async ([, init]) => {
        const response = await fetch(`${url}/form`, init);
        expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ name: 'Ada' })]);
      },
    ));

  test('refuses a body without a good token', () =>
    expectRows<[string, RequestInit]>(
      [
        ['no token', form('name=Ada')],
        ['another token', form('captcha-response=bad')],
        ['an empty list', jsonBody('{"captcha-response":[]}')],
        ['a deep object', jsonBody('{"captcha-response":{"token":{"token":"good"}}}')],
        ['a token under constructor', jsonBody('{"constructor":{"captcha-response":"good"}}')],
        ['true', jsonBody('{"captcha-response":true}')],
        ['a token of 90 KB', form(`captcha-response=${'a'.repeat(90_000)}`)],
      ],
      async ([, init]) => {
        expect((await fetch(`${url}/form`, init)).status).toBe(403);
      },
    ));

  test.each<[string, RequestInit]>([
    ['a token under __proto__', jsonBody('{"__proto__":{"captcha-response":"good"}}')],
    ['a form of a megabyte', form(`captcha-response=${'a'.repeat(1_100_000)}`)],
    ['two megabytes of JSON', jsonBody(`{"captcha-response":"${'a'.repeat(2_000_000)}"}`)],
  ])('does not let %s through', async (_, init) => {
    const { status } = await fetch(`${url}/form`, init);
    expect([400, 403, 413]).toContain(status);
  });

  test('answers the form of a browser with a page and a script with JSON', () =>
    expectPageOrJson((init) => fetch(`${url}/form`, init)));

  test('refuses a body that no parser has read', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'captcha-response=good' };
    expect((await fetch(`${url}/plain`, init)).status).toBe(403);
  });

  test('hands an error of the verifier to the framework', async () => {
    expect((await fetch(`${url}/throws`, form('captcha-response=good'))).status).toBe(500);
  });

  test('checks the signature of the whole path, below a prefix too', async () => {
    const timestamp = Math.floor(testNow() / 1000);
    const facts = { timestamp, method: 'GET', requestId: 'r', decision: 'allow', verified: 'false', ip: '' };
    const signed = (target: string) => ({
      'x-protect-request-id': 'r',
      'x-protect-decision': 'allow',
      'x-protect-verified': 'false',
      'x-protect-signature': signForOrigin(new HmacSha256(secret), 'k1', { ...facts, target }),
    });
    const ask = (target: string) => fetch(`${url}/mounted/page?a=%2F`, { headers: signed(target) });
    const passed = await ask('/mounted/page?a=%2F');
    expect([passed.status, await passed.json()]).toEqual([200, expect.objectContaining({ valid: true, ip: null })]);
    expect((await ask('/page?a=%2F')).status).toBe(403);
    expect((await ask('/mounted/page?a=/')).status).toBe(403);
  });
});

test('Express says that a parser is missing', async () => {
  const seen: object[] = [];
  const verifier = createVerifier({ secret: 's', serviceUrl: service.url });
  const app = express();
  const onRefused = (result: object, { res }: ofExpress.ExpressCall): void => {
    seen.push(result);
    res.status(400).end();
  };
  app.post('/', ofExpress.requireToken({ verifier, onRefused }), (_req, res) => void res.send('in'));
  const server = app.listen(0, '127.0.0.1');
  servers.push(() => server.close());
  await once(server, 'listening');
  const { status } = await fetch(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    form('captcha-response=good'),
  );
  expect([status, seen]).toEqual([400, [{ outcome: 'missing', pass: false, why: 'unparsed' }]]);
});

describe('Hono', () => {
  const app = new Hono();
  beforeAll(() => {
    const verifier = createVerifier({ secret: 's', serviceUrl: service.url });
    const requireToken = ofHono.requireToken({ verifier });
    app.post('/raw', requireToken, async (c) => c.text(await c.req.raw.text()));
    app.post(
      '/read-before',
      async (c, next) => {
        await c.req.parseBody();
        await next();
      },
      requireToken,
      async (c) => c.json(await c.req.parseBody()),
    );
    app.post(
      '/json-before',
      async (c, next) => {
        await c.req.json();
        await next();
      },
      requireToken,
      async (c) => c.json(await c.req.json<object>()),
    );
    app.get('/page', ofHono.requireSignature({ keys }), (c) => c.text('in'));
  });

  test('leaves the raw body to the handler, to the byte', async () => {
    const body = 'name=%zz&captcha-response=good';
    expect(await (await app.request('/raw', form(body))).text()).toBe(body);
  });

  test('finds the token in a body that was read before, and leaves it readable', async () => {
    expect(await (await app.request('/read-before', form('name=Ada&captcha-response=good'))).json()).toMatchObject({
      name: 'Ada',
    });
    expect(
      await (await app.request('/json-before', jsonBody('{"name":"Ada","captcha-response":"good"}'))).json(),
    ).toMatchObject({ name: 'Ada' });
    expect((await app.request('/read-before', form('captcha-response=bad'))).status).toBe(403);
  });

  test('answers the form of a browser with a page and a script with JSON', () =>
    expectPageOrJson((init) => app.request('/raw', init)));

  test('refuses a page without the gate’s signature', async () => {
    expect((await app.request('/page')).status).toBe(403);
  });
});

test('a route handler of Next answers the form of a browser with a page and a script with JSON', () => {
  const verifier = createVerifier({ secret: 's', serviceUrl: service.url });
  const handler = withToken({ verifier }, () => new Response('in'));
  return expectPageOrJson((init) => handler(new Request('http://shop.test/form', init), null));
});
