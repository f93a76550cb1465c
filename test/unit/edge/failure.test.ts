/** What follows an exception or a missing ruleset. */
import { beforeEach, expect, test, vi } from 'vitest';
import { NOW_MS, configOf, waitedClearance } from './edge-fixture.ts';
import { Sessions } from '../../../src/edge/session/sessions.ts';
import { Clearances } from '../../../src/edge/session/clearances.ts';
import { setClock } from '../../support/clock.ts';
import { edgeWith } from './whole-edge.ts';

const config = await configOf();
const blocking = { id: 'ip:192.0.2.1', type: 'ip', verdict: 'block', mode: 'enforce' } as const;
const ruleset = { version: 3, match: () => ({ network: null, client: null, fired: [] }) };
const blocked = { ...ruleset, match: () => ({ network: blocking, client: null, fired: [blocking] }) };
const allowing = { ...blocking, verdict: 'allow' } as const;
const allowed = { ...ruleset, match: () => ({ network: allowing, client: null, fired: [allowing] }) };
const withSession = { headers: { cookie: 'protect_session=a|b' } };
const failing = (): never => {
  throw new Error('ours');
};

beforeEach(() => {
  setClock(NOW_MS);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  return () => vi.restoreAllMocks();
});

test('with a ruleset an exception becomes a challenge, counted and recorded', async () => {
  vi.spyOn(Sessions.prototype, 'read').mockImplementation(failing);
  const { request, records, counted, origin } = edgeWith({ state: { config, ruleset } });
  const response = await request('/crafted');
  expect([response.status, response.headers.get('x-protect-decision')]).toEqual([403, 'challenge']);
  expect(records).toMatchObject([{ decision: 'challenge', source: 'error', status: 403 }]);
  expect(counted).toContain('exceptions');
  expect(await response.text()).not.toContain('ours');
  expect(origin).not.toHaveBeenCalled();
});

test('an exception while the path is read becomes a challenge too', async () => {
  const broken = { ...config, pathPolicy: failing };
  const { request, records } = edgeWith({ state: { config: broken, ruleset } });
  expect([(await request('/crafted')).status, records.length]).toEqual([403, 1]);
});

test('an exception while the request is read becomes a bare 403', async () => {
  const { request, isolate, origin } = edgeWith({ state: { config, ruleset } });
  vi.spyOn(isolate.categories, 'of').mockImplementation(failing);
  const response = await request('/crafted', { headers: { 'cf-connecting-ip': '192.0.2.1' } });
  const gotThrough = origin.mock.calls.length;
  expect([response.status, response.headers.get('x-protect-decision'), gotThrough]).toEqual([403, 'block', 0]);
});

test('an exception while making the response becomes a bare 403', async () => {
  const broken = { ...config, policy: { ...config.policy, branding: { logoUrl: 'https://[' } } };
  const { request, records } = edgeWith({ state: { config: broken, ruleset: blocked } });
  const response = await request('/', { headers: { 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' } });
  expect([response.status, response.headers.get('x-protect-decision')]).toEqual([403, 'block']);
  expect(await response.text()).toMatch(/^Forbidden\nReference: /);
  expect(records).toMatchObject([{ decision: 'block', source: 'error', status: 403 }]);
});

test('an exception after the origin was called returns 502 and does not call it again', async () => {
  // A response whose headers cannot be read fails while it is passed on.
  const unreadable = new Proxy(new Response('ok'), {
    get: (target, name) => (name === 'headers' ? failing() : Reflect.get(target, name)),
  });
  const { request, records, counted, origin } = edgeWith({
    state: { config, ruleset: allowed },
    origin: () => unreadable,
  });
  expect((await request('/order')).status).toBe(502);
  expect(records).toMatchObject([{ status: 502, origin_ms: expect.any(Number) }]);
  expect(origin).toHaveBeenCalledTimes(1);
  expect(counted).toContain('exceptions');
});

test.each(['challenge', 'block'] as const)('onError %s replaces a missing ruleset', async (onError) => {
  const strict = await configOf({ enforcementPolicy: { html: { onError } } });
  const { request, records, origin } = edgeWith({ state: { config: strict, ruleset: null } });
  expect((await request('/')).status).toBe(403);
  expect(records).toMatchObject([{ decision: onError, source: 'error' }]);
  expect(origin).not.toHaveBeenCalled();
});

test('FAIL_MODE open forwards without a ruleset', async () => {
  const { request, records } = edgeWith({ state: { config: null, ruleset: null } });
  expect(await (await request('/')).text()).toBe('ok');
  expect(records).toMatchObject([{ decision: 'allow', source: 'error' }]);
});

test('FAIL_MODE closed responds 503 whatever onError is', async () => {
  const open = await configOf({ enforcementPolicy: { html: { onError: 'allow' } } });
  const { request, origin } = edgeWith({ state: { config: open, ruleset: null }, env: { FAIL_MODE: 'closed' } });
  const response = await request('/', { headers: { 'sec-fetch-dest': 'empty' } });
  expect([response.status, await response.json()]).toMatchObject([503, { error: { key: 'API.UNAVAILABLE' } }]);
  expect(origin).not.toHaveBeenCalled();
});

test('an endpoint of the edge never reaches the origin, even after an exception without a ruleset', async () => {
  const broken = { ...config, pathPolicy: failing };
  const { request, origin } = edgeWith({ state: { config: broken, ruleset: null } });
  const response = await request('/__protect/session', {
    method: 'POST',
    body: '{}',
    headers: { 'sec-fetch-dest': 'empty' },
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([503, 'application/json; charset=utf-8']);
  expect(origin).not.toHaveBeenCalled();
});

test('a clearance that learned a second network travels with the origin’s response only', async () => {
  const claims = { sub: 'inst_1', host: 'site.test', jti: 'c', level: 0, kind: 'pow', powDifficulty: 0, eased: false };
  const times = { iat: NOW_MS / 1000, exp: NOW_MS / 1000 + 60, v4: 'a', v6: 'b', asn: null, country: null };
  vi.spyOn(Clearances.prototype, 'read').mockReturnValue({
    ...waitedClearance,
    learned: { ...claims, ...times } as never,
  });
  const cookieOf = async (state: object) =>
    (await edgeWith({ state }).request('/', withSession)).headers.getSetCookie().map((text) => text.split('=')[0]);
  expect(await cookieOf({ config, ruleset: allowed })).toEqual(['__Host-protect-clearance']);
  expect(await cookieOf({ config, ruleset: blocked })).toEqual([]);
});

test('what lies at /__protect itself is the site’s, and what lies below is not', async () => {
  const { request, origin } = edgeWith({ state: { config, ruleset: allowed } });
  expect((await request('/__protect')).status).toBe(200);
  for (const path of [
    '/__protect/',
    '/__protect//',
    '/__protect/a/b',
    '/%5f_protect/x',
    '/__protect/health.',
    '/__protect/x%2f..',
  ])
    expect([path, (await request(path, { method: 'PURGE' })).status]).toEqual([path, 404]);
  expect(origin).toHaveBeenCalledTimes(1);
});

test('a status above 599, which no response can be made with, reaches the visitor of a HEAD too', async () => {
  const odd = new Proxy(new Response(null), {
    get: (target, name) => (name === 'status' ? 999 : Reflect.get(target, name)),
  });
  const { fetched, records } = edgeWith({ state: { config, ruleset: allowed }, origin: () => odd });
  const response = await fetched(new Request('https://site.test/', { method: 'HEAD' }));
  expect([response.status, records.map(({ status }) => status)]).toEqual([999, [999]]);
});
