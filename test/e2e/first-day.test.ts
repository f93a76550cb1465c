/**
 * The first day of a new instance, as docs/first-day.md has it: clients of five kinds, and the two that have a line of
 * their own in the guide, in front of a site with a form, a single-page app, a webhook, a feed and pages to index.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Stack } from '../../src/cli/stack.ts';
import { browse, type BrowseInit } from '../support/browse.ts';
import { sessionCookieAt } from '../support/edge-session.ts';
import { personsHeaders } from '../support/session.ts';
import { eventually, manage, openStack } from '../support/stack.ts';
import { signalsOf } from './edge-visitor.ts';

const guide = readFileSync('docs/first-day.md', 'utf8');
/** More than the budget of pages for visitors without a session. */
const CRAWLED_PAGES = 35;
const nothingOfABrowser = Object.fromEntries(
  'accept-language accept-encoding upgrade-insecure-requests sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user'
    .split(' ')
    .map((name) => [name, null]),
);
const tool = (userAgent: string) => ({ ...nothingOfABrowser, 'user-agent': userAgent, accept: '*/*' });

interface Verdict {
  request_id: string;
  request_path: string;
  decision: string;
  enforcement_policy: string;
  fired_rules: { id: string }[];
  bot: { proof: string } | null;
}
interface Played {
  client: string;
  path: string;
  status: number;
  /** Whether the answer is the site's own. */
  isOfSite: boolean;
  id: string;
}

let site: Server;
let stack: Stack;
let instance: { id: string; globalSiteKey: string };

beforeAll(async () => {
  site = createServer((request, response) => {
    request.resume();
    const isPage = /^\/(?:contact|app|page)/.test(request.url ?? '') && request.method === 'GET';
    response.setHeader('x-of-site', '1');
    response.setHeader('content-type', isPage ? 'text/html; charset=utf-8' : 'application/json');
    response.end(isPage ? '<!doctype html><head><title>Shop</title></head><body>Shop</body>' : '{}');
  });
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  stack = await openStack({ edgeVars: { ORIGIN_URL: origin }, seedChanges: {} });
  const settings = { domains: ['127.0.0.1'] };
  const { siteKey } = await manage<{ siteKey: string }>(stack, '/sites/create', { name: 'shop', settings });
  const identity = { name: 'shop', cname: 'shop.example', globalSiteKey: siteKey };
  instance = await manage<typeof instance>(stack, '/protect/instances/create', identity);
  const { clientJwt } = await manage<{ clientJwt: string }>(stack, '/protect/client-jwt/generate', {
    protectInstanceId: instance.id,
    expiresInWeeks: 1,
  });
  await stack.runScheduled();
  await stack.restartEdge({ CLIENT_JWT: clientJwt });
  // The guide's calls name no instance: the account has one.
  await manage(stack, '/protect/instances/delete', { id: stack.instanceId });
  // The networks of known bots come to the edge behind responses.
  await eventually(
    async () => logged([await crawled('/page/known')]),
    ([verdict]) => verdict?.bot?.proof === 'range',
  );
});
afterAll(() => {
  site?.closeAllConnections();
  site?.close();
});

async function played(client: string, from: string, path: string, init: BrowseInit): Promise<Played> {
  const headers = { ...signalsOf(stack, { from }), ...init.headers };
  const response = await browse(stack.edgeUrl + path, { ...init, headers });
  const isOfSite = response.headers.get('x-of-site') === '1';
  return { client, path, status: response.status, isOfSite, id: response.headers.get('x-protect-request-id') ?? '' };
}

function crawled(path: string): Promise<Played> {
  const headers = tool('Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)');
  return played('search engine', '66.249.66.1', path, { headers });
}

/** A person opens the page, whose script opens their session, and then the page sends something. */
async function person(client: string, from: string, page: string, send: (cookie: string) => Promise<Played>) {
  const headers = { ...personsHeaders, ...signalsOf(stack, { from }) };
  const opened = await browse(stack.edgeUrl + page, { headers });
  expect(await opened.text()).toContain('/__protect/protect.js');
  const shown = { client, path: page, status: opened.status, isOfSite: opened.headers.has('x-of-site') };
  const cookie = await sessionCookieAt(stack.edgeUrl, headers);
  return [{ ...shown, id: opened.headers.get('x-protect-request-id') ?? '' }, await send(cookie)];
}

async function everyone(): Promise<Played[]> {
  const ofPage = { ...personsHeaders, origin: stack.edgeUrl };
  const json = { 'content-type': 'application/json' };
  const clients: (Promise<Played> | Promise<Played[]>)[] = [
    person('form', '203.0.113.10', '/contact', (cookie) =>
      played('form', '203.0.113.10', '/contact', {
        method: 'POST',
        body: new URLSearchParams({ text: 'hello' }),
        headers: { ...ofPage, 'sec-fetch-site': 'same-origin', cookie },
      }),
    ),
    person('app', '203.0.113.20', '/app', (cookie) =>
      played('app', '203.0.113.20', '/api/items', {
        method: 'POST',
        body: '{"item":1}',
        headers: { ...ofPage, ...json, cookie },
      }),
    ),
    played('webhook', '198.51.100.7', '/webhooks/paid', {
      method: 'POST',
      body: '{"type":"order.paid"}',
      headers: { ...tool('ShopPay/1.0'), ...json },
    }),
    played('known webhook', '3.18.12.63', '/webhooks/stripe', {
      method: 'POST',
      body: '{"type":"charge.succeeded"}',
      headers: { ...tool('Stripe/1.0 (+https://stripe.com/docs/webhooks)'), ...json, 'stripe-signature': 't=1,v1=00' },
    }),
    played('feed reader', '198.51.100.8', '/feed.xml', { headers: tool('FreshRSS/1.24.0 (Linux)') }),
    Promise.all(Array.from({ length: CRAWLED_PAGES }, (_, at) => crawled(`/page/${at}`))),
    played('mobile app', '198.51.100.9', '/mobile/orders', {
      method: 'POST',
      body: '{}',
      headers: { ...tool('Shop/7.1 CFNetwork/1568.100.1 Darwin/24.0.0'), ...json },
    }),
    played('health check', '198.51.100.10', '/healthz', { headers: tool('UptimeRobot/2.0') }),
  ];
  return (await Promise.all(clients)).flat();
}

/** Of these requests, once the log has them all. */
async function logged(requests: readonly Played[]): Promise<Verdict[]> {
  const ids = new Set(requests.map(({ id }) => id));
  const ours = async () => {
    const { verdicts } = await manage<{ verdicts: Verdict[] }>(stack, '/protect/verdicts', { limit: 1000 });
    return verdicts.filter(({ request_id: id }) => ids.has(id));
  };
  return eventually(ours, (found) => found.length === ids.size);
}

/** The calls of a section of the guide, in order. */
function callsOf(heading: string): { path: string; body: object }[] {
  const section = guide.split(/^## /m).find((text) => text.startsWith(heading)) ?? '';
  const calls = [...section.matchAll(/^api (\/\S+) '([^']*)'$/gm)];
  expect(calls.length).toBeGreaterThan(0);
  return calls.map(([, path = '', body = '']) => ({
    path,
    body: JSON.parse(body.replaceAll('INSTANCE', instance.id)) as object,
  }));
}

test('on its first day nothing is enforced: five clients and two more get the site’s own answers', async () => {
  const requests = await everyone();
  expect(requests.filter(({ isOfSite, status }) => !isOfSite || status !== 200)).toEqual([]);
  const verdicts = await logged(requests);
  expect(new Set(verdicts.map((verdict) => verdict.enforcement_policy))).toEqual(new Set(['monitor']));
  const refused = verdicts.filter(({ decision }) => decision !== 'allow').map(({ request_path: path }) => path);
  expect(refused).toEqual(expect.arrayContaining(['/webhooks/paid', '/feed.xml', '/mobile/orders', '/healthz']));
});

test('the log tells requests that no page could have prepared from those of pages', async () => {
  const { verdicts } = await manage<{ verdicts: Verdict[] }>(stack, '/protect/verdicts', {
    firedRules: 'session:no-page',
    limit: 1000,
  });
  const paths = new Set(verdicts.map(({ request_path: path }) => path.replace(/^\/page\/.*/, '/page')));
  expect([...paths].toSorted()).toEqual(['/feed.xml', '/healthz', '/mobile/orders', '/webhooks/paid']);
});

test('the guide’s command lists them, with method and user agent', async () => {
  const command = /^api \/protect\/verdicts [^]*?(?=\n```)/m.exec(guide)?.[0] ?? '';
  const api = `api() { curl -s "${stack.serviceUrl}$1" -H 'Authorization: Bearer ${stack.apiKey}' -H 'Content-Type: application/json' -d "$2"; }`;
  const { stdout } = await promisify(execFile)('bash', ['-c', `${api}\n${command}`]);
  expect(stdout).toContain('POST /webhooks/paid  ShopPay/1.0');
  expect(stdout).not.toContain('/contact');
  // A known bot needs no line.
  expect(stdout).not.toContain('/page/');
});

test('with the guide’s policies nothing breaks when the instance enforces', async () => {
  for (const { path, body } of callsOf('One line for each')) await manage(stack, path, body);
  for (const { path, body } of callsOf('Enforce')) await manage(stack, path, body);
  const elsewhere = { method: 'POST', body: '{}', headers: tool('ShopPay/1.0') };
  await eventually(
    () => played('webhook', '198.51.100.7', '/elsewhere', elsewhere),
    ({ status }) => status === 403,
  );
  const requests = await everyone();
  expect(requests.filter(({ isOfSite, status }) => !isOfSite || status !== 200)).toEqual([]);
  const verdicts = await logged(requests);
  expect(verdicts.filter(({ decision }) => decision !== 'allow')).toEqual([]);
  expect(new Set(verdicts.map((verdict) => verdict.enforcement_policy))).toEqual(new Set(['enforce']));
});
