/** What an answer counts for in the pace of a session or a clearance: a page, a call or nothing. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { visitorBinding } from '../../../src/address/visitor-binding.ts';
import { paceWindow } from '../../../src/risk/pace.ts';
import { mintSessionJwt } from '../../../src/risk/session-token.ts';
import { setClock } from '../../support/clock.ts';
import { NOW_MS, configOf } from './edge-fixture.ts';
import { edgeWith } from './whole-edge.ts';

/** Four pages or forty calls are advanced. */
const config = await configOf(
  { pace: { html: 60, json: 600 }, endpointRules: [{ pattern: '/api/**', pathType: 'json' }] },
  { detectorWeights: [] },
);
const ruleset = { version: 3, quietExplanation: '', match: () => ({ network: null, client: null, fired: [] }) };
const USER_AGENT = 'Mozilla/5.0';
const PAGES = 4;
const CALLS = 40;

beforeEach(() => {
  setClock(NOW_MS);
  return () => vi.restoreAllMocks();
});

async function sessionCookie(): Promise<string> {
  const jti = '0'.repeat(32);
  const iat = NOW_MS / 1000;
  const window = paceWindow(NOW_MS);
  const jwt = await mintSessionJwt(config.sessionKeyOf('k2')!, 'k2', {
    jti,
    sub: 'inst_1',
    iat,
    exp: iat + 300,
    sxp: iat + 3600,
    risk: 0,
    bnd: await visitorBinding(null, USER_AGENT),
    pac: [window, 0, 0, 0, window],
  });
  return `protect_session=${jti}|${jwt}`;
}

interface Asked extends Record<string, string | undefined> {
  method?: string;
}

/** How many of 50 such requests of a session that has not worked get the origin's answer. */
async function answersOf(path: string, { method = 'GET', ...headers }: Asked, type: string, status = 200) {
  const origin = () => new Response('content', { status, headers: { 'content-type': type } });
  const { request } = edgeWith({ state: { config, ruleset }, origin });
  const cookie = await sessionCookie();
  let answers = 0;
  for (let asked = 0; asked < 50; asked++) {
    const response = await request(path, {
      method,
      headers: { 'user-agent': USER_AGENT, cookie, ...headers } as HeadersInit,
    });
    if ((await response.text()) === 'content') answers += 1;
  }
  return answers;
}

describe('a page counts as a page', () => {
  const ANY = { accept: '*/*' };
  test('whatever method, path or range it was asked for with', async () => {
    expect(await answersOf('/article', { ...ANY, method: 'POST' }, 'text/html')).toBe(PAGES);
    expect(await answersOf('/article', { ...ANY, method: 'OPTIONS' }, 'text/html')).toBe(PAGES);
    expect(await answersOf('/article', { ...ANY, method: 'PROPFIND' }, 'application/xhtml+xml')).toBe(PAGES);
    expect(await answersOf('/api/..%2farticle', { accept: 'text/html' }, 'text/html; charset=utf-8')).toBe(PAGES);
    expect(await answersOf('/article', ANY, 'multipart/byteranges; boundary=x', 206)).toBe(PAGES);
    expect(await answersOf('/article', { ...ANY, method: 'POST' }, 'multipart/byteranges; boundary=x', 206)).toBe(
      PAGES,
    );
  });

  test('and data as a call, as an error does', async () => {
    expect(await answersOf('/article', { ...ANY, method: 'POST' }, 'application/json')).toBe(CALLS);
    expect(await answersOf('/article', { ...ANY, method: 'POST' }, 'text/html', 404)).toBe(CALLS);
    expect(await answersOf('/api/x', ANY, 'application/json')).toBe(CALLS);
  });
});

describe('data counts as a call', () => {
  test('also as a script that calls the function which its query names', async () => {
    const headers = { accept: '*/*', 'sec-fetch-dest': 'script' };
    for (const path of ['/items?callback=a', '/api/items?_jsonp=a'])
      expect(await answersOf(path, headers, 'application/javascript')).toBe(CALLS);
    expect(await answersOf('/app.js?v=3', headers, 'application/javascript')).toBe(50);
  });

  test('also asked for as a manifest, which browsers ask for without a session', async () => {
    const headers = { accept: '*/*', 'sec-fetch-dest': 'manifest' };
    for (const path of ['/manifest.json', '/x;manifest'])
      expect(await answersOf(path, headers, 'application/json')).toBe(CALLS);
    expect(await answersOf('/manifest.json', headers, 'application/manifest+json')).toBe(50);
  });
});
