/**
 * The nonce of a page load in a real Chromium, through the whole stack: who opens a page opens their session from it, and
 * who opens it from a cache pays a little more and is not stopped.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Stack } from '../../src/cli/stack.ts';
import { detectorsOf, riskDetectors } from '../../src/contract/edge/risk-detectors.ts';
import { launchChromium } from '../support/chromium.ts';
import { letThrough, openStack } from '../support/stack.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';

const HEADERS: Record<string, Record<string, string>> = {
  '/kept': { 'cache-control': 'private, max-age=3600' },
  '/strict': {
    'content-security-policy':
      "default-src 'none'; script-src 'nonce-abc' 'strict-dynamic'; connect-src 'self'; worker-src 'self'; require-trusted-types-for 'script'; trusted-types gatehouse",
  },
};
const asked: string[] = [];
const ignoredDetectors = riskDetectors.filter((name) => name !== 'no-page-load');
let origin: Server;
let stack: Stack;
beforeAll(async () => {
  origin = createServer(({ url = '/' }, response) => {
    asked.push(url);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', ...HEADERS[url] });
    response.end('<!doctype html><html lang="en"><head><title>A page</title></head><body>A page</body></html>');
  });
  await new Promise<void>((listening) => origin.listen(0, '127.0.0.1', listening));
  const { port } = origin.address() as AddressInfo;
  stack = await openStack({
    edgeVars: { ORIGIN_URL: `http://127.0.0.1:${port}` },
    seedChanges: { ...letThrough, policy: { ...letThrough.policy, ignoredDetectors } },
  });
});
afterAll(() => {
  origin.closeAllConnections();
  origin.close();
});
beforeEach(() => {
  asked.length = 0;
});

const visitor = useVisitor({
  context: { userAgent: USER_AGENT },
  // Chromium logs that a used page load opens no session. The script then opens one without.
  expected: (message) => message.text().includes('400'),
  isSilent: true,
});
type Tab = typeof visitor.page;

/** Id and detectors of the session that the page has. */
async function sessionOf(tab: Tab): Promise<{ jti: string; detectors: string[] }> {
  expect(await tab.evaluate(() => window.gatehouseProtect?.ready)).toBe(true);
  const cookies = await tab.context().cookies();
  const [jti = '', jwt = ''] = decodeURIComponent(
    cookies.find(({ name }) => name === 'protect_session')?.value ?? '',
  ).split('|');
  const claims = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString()) as { det: number };
  return { jti, detectors: detectorsOf(claims.det) };
}
const open = async (path: string, tab: Tab = visitor.page): Promise<{ jti: string; detectors: string[] }> => {
  await tab.goto(stack.edgeUrl + path);
  return sessionOf(tab);
};

test('a first page opens its session from its own load', async () => {
  expect((await open('/')).detectors).toEqual([]);
});

test('a first page with a strict policy does too', async () => {
  expect((await open('/strict')).detectors).toEqual([]);
});

test('a reload, a second tab and a further page keep the session', async () => {
  const { jti } = await open('/');
  await visitor.page.reload();
  const seen = [
    await sessionOf(visitor.page),
    await open('/', await visitor.context.newPage()),
    await open('/further'),
  ];
  expect(seen).toEqual(Array.from({ length: 3 }, () => ({ jti, detectors: [] })));
});

test('two tabs that open at once share one session', async () => {
  const other = await visitor.context.newPage();
  const [one, two] = await Promise.all([open('/'), open('/', other)]);
  expect(one).toEqual(two);
  expect(one.detectors).toEqual([]);
});

test('a new visitor whose page is another load has a session of their own', async () => {
  const first = await open('/');
  await visitor.context.clearCookies();
  const second = await open('/');
  expect(second.jti).not.toBe(first.jti);
  expect(second.detectors).toEqual([]);
});

test('a page from the cache, whose load is used, opens a session all the same', async () => {
  const first = await open('/kept');
  await open('/');
  await visitor.context.clearCookies();
  const second = await open('/kept');
  expect(asked.filter((path) => path === '/kept')).toHaveLength(1);
  expect(second.jti).not.toBe(first.jti);
  expect(second.detectors).toEqual(['no-page-load']);
});

test('a page that comes back from the history does too', async () => {
  const browser = await launchChromium([], ['--disable-back-forward-cache']);
  try {
    const page = await browser.newPage({ userAgent: USER_AGENT });
    const first = await open('/', page);
    await page.goto(`${stack.edgeUrl}/further`);
    await sessionOf(page);
    await page.context().clearCookies();
    // Later, so that the call is over before its page is gone.
    await page.evaluate(() => void requestAnimationFrame(() => history.back()));
    const cookie = async () => (await page.context().cookies()).find(({ name }) => name === 'protect_session')?.value;
    await expect.poll(cookie).toBeDefined();
    expect(await cookie()).not.toContain(first.jti);
  } finally {
    await browser.close();
  }
});
