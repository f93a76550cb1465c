/** The order of the gate: what is refused before a body is read, and that each request is judged once. */
import { beforeEach, expect, test, vi } from 'vitest';
import { visitorBinding } from '../../../src/address/visitor-binding.ts';
import { openHeld, sealHeld } from '../../../src/edge/challenge/held-submission.ts';
import { Sessions } from '../../../src/edge/session/sessions.ts';
import { setClock } from '../../support/clock.ts';
import { NOW_MS, configOf } from './edge-fixture.ts';
import { edgeWith } from './whole-edge.ts';

const URL_OF_FORM = 'https://site.test/order';
const config = await configOf();
const rulesThat = (verdict: 'allow' | 'challenge' | 'block') => {
  const rule = { id: 'ip:192.0.2.1', type: 'ip', verdict, mode: 'enforce' } as const;
  return { version: 3, quietExplanation: '', match: vi.fn(() => ({ network: rule, client: null, fired: [rule] })) };
};

/** As the interstitial sends back what was held: a form whose type is plain text. */
async function returning(body?: string): Promise<Request> {
  const seal = await sealHeld(config.keys.current, {
    id: 'held',
    host: 'site.test',
    received: '/order',
    contentType: 'application/x-www-form-urlencoded',
    referer: null,
    binding: await visitorBinding(null, ''),
    sealedAtMs: NOW_MS - 5000,
    body: Uint8Array.from(Buffer.from('item=1')),
  });
  const headers = { 'content-type': 'text/plain', origin: 'https://site.test', 'user-agent': '' };
  return new Request(URL_OF_FORM, { method: 'POST', headers, body: body ?? `seal=${seal}\r\n` });
}

beforeEach(() => {
  setClock(NOW_MS);
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  return () => vi.restoreAllMocks();
});

test('who is blocked by a rule is refused before a body is read', async () => {
  const { fetched, isolate, origin } = edgeWith({ state: { config, ruleset: rulesThat('block') } });
  const hold = vi.spyOn(isolate.bodies, 'hold');
  const request = await returning();
  const { status } = await fetched(request);
  expect([status, hold.mock.calls.length, request.bodyUsed, origin.mock.calls.length]).toEqual([403, 0, false, 0]);
});

test('a held submission that comes back is judged once, as what was held', async () => {
  const read = vi.spyOn(Sessions.prototype, 'read');
  const allowing = rulesThat('allow');
  const { fetched, isolate, origin, records } = edgeWith({ state: { config, ruleset: allowing } });
  isolate.service.spendSeal = () => Promise.resolve({ ok: true, value: true });
  expect((await fetched(await returning())).status).toBe(200);
  expect(read).toHaveBeenCalledTimes(1);
  const [sent] = origin.mock.calls[0]!;
  expect([await sent.text(), sent.headers.get('content-type')]).toEqual([
    'item=1',
    'application/x-www-form-urlencoded',
  ]);
  expect(records).toMatchObject([{ decision: 'allow', request_path: '/order' }]);
});

test('a plain text that only looks like one goes to the origin as it is', async () => {
  const { fetched, origin } = edgeWith({ state: { config, ruleset: rulesThat('allow') } });
  await fetched(await returning('seals are animals'));
  expect(await origin.mock.calls[0]![0].text()).toBe('seals are animals');
});

test('a page is judged once, with one look at the rules', async () => {
  const allowing = rulesThat('allow');
  const { request } = edgeWith({ state: { config, ruleset: allowing } });
  await request('/');
  expect(allowing.match).toHaveBeenCalledTimes(1);
});

const post = (body: string): Request => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://site.test' };
  return new Request(URL_OF_FORM, { method: 'POST', headers, body });
};

test.each([
  ['open', 200, ['item=1']],
  ['closed', 503, []],
])('FAIL_MODE_CHALLENGE %s holds for a form too while the service is away', async (mode, status, sent) => {
  const env = { FAIL_MODE_CHALLENGE: mode };
  const { fetched, isolate, origin } = edgeWith({ state: { config, ruleset: rulesThat('challenge') }, env });
  isolate.service.reachable = false;
  const response = await fetched(post('item=1'));
  expect(response.status).toBe(status);
  expect(await Promise.all(origin.mock.calls.map(([request]) => request.text()))).toEqual(sent);
});

test('what could not be taken back is refused in the log, too', async () => {
  const { fetched, records } = edgeWith({ state: { config, ruleset: rulesThat('allow') } });
  const response = await fetched(await returning('seal=of another instance'));
  expect([response.status, response.headers.get('x-protect-decision')]).toEqual([400, 'block']);
  expect(records).toMatchObject([{ decision: 'block', source: 'error', status: 400 }]);
});

test('an origin that is down is one, also for a form that comes back', async () => {
  const down = (): never => {
    throw new Error('down');
  };
  const { fetched, isolate, counted } = edgeWith({ state: { config, ruleset: rulesThat('allow') }, origin: down });
  isolate.service.spendSeal = () => Promise.resolve({ ok: true, value: true });
  expect((await fetched(await returning())).status).toBe(502);
  expect(counted).toContain('origin_failures');
});

test.each([
  ['of many bytes', '€'.repeat(131_072)],
  ['that JSON writes longer', '\u0001'.repeat(131_072)],
  ['that is no text', JSON.parse('"\\ud800"') as string],
])('a token %s is refused by the edge, so that it is no fault of the service', async (_, token) => {
  const env = { FAIL_MODE_VERIFY: 'open' };
  const { fetched, origin, counted } = edgeWith({ state: { config, ruleset: rulesThat('challenge') }, env });
  const headers = { 'content-type': 'application/json', 'sec-fetch-dest': 'empty' };
  const body = JSON.stringify({ 'captcha-response': token });
  const response = await fetched(new Request(URL_OF_FORM, { method: 'POST', headers, body }));
  expect([response.status, origin.mock.calls.length, counted]).toEqual([403, 0, []]);
});

test('a bad seal does not hide who is blocked, nor for what', async () => {
  const tor = await configOf({ ipCategoryRules: { tor: 'block' } });
  const quiet = { version: 3, quietExplanation: '', match: () => ({ network: null, client: null, fired: [] }) };
  const { fetched, isolate, records } = edgeWith({ state: { config: tor, ruleset: quiet } });
  vi.spyOn(isolate.categories, 'of').mockReturnValue(['tor']);
  expect((await fetched(await returning('seal=x'))).status).toBe(403);
  expect(records).toMatchObject([{ decision: 'block', source: 'ip-category', decided_by: 'category:tor' }]);
});

const TOKEN = '&captcha-response=token';

test('a form is held without its refused token where the origin is not to see tokens', async () => {
  const strict = await configOf({ submission: { forwardToken: false } });
  const service = { verified: false, reason: 'API.USER_NOT_VERIFIED' };
  const { fetched } = edgeWith({ state: { config: strict, ruleset: rulesThat('challenge') }, service });
  const page = await (await fetched(post(`item=1${TOKEN}`))).text();
  const seal = /name="seal" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const held = await openHeld(strict.keys.byKid, seal, NOW_MS);
  expect(Buffer.from(held?.body ?? []).toString()).toBe('item=1');
});

test.each([
  ['of too low a level is no failed challenge', 'API.LEVEL_TOO_LOW', 0],
  ['that is wrong is one', 'API.USER_NOT_VERIFIED', 1],
])('a token %s', async (_, reason, failures) => {
  const limited = { ...config, limits: { ofChallenges: [], byName: new Map(), sign: () => '' } };
  const state = { config: limited, ruleset: rulesThat('challenge') };
  const { fetched, isolate } = edgeWith({ state, service: { verified: false, reason } });
  const noted = vi.spyOn(isolate.limits, 'challengeFailed').mockImplementation(() => undefined);
  expect((await fetched(post(`item=1${TOKEN}`))).status).toBe(403);
  expect(noted).toHaveBeenCalledTimes(failures);
});

test('a service that is older for a moment is asked for a session without the fields that it does not know', async () => {
  const bodies: { page: object; load?: string | null }[] = [];
  const invalid = { error: { code: 400, message: 'The body does not fit', key: 'API.INVALID_BODY' } };
  const service = (body: unknown): Response => {
    const { page, load } = body as { page: object; load?: string | null };
    bodies.push({ page, ...(load === undefined ? {} : { load }) });
    if ('work' in page || load !== undefined) return Response.json(invalid, { status: 400 });
    return Response.json({ challenge: 'sealed', pow: { lane: 'rsw' }, expiresAt: NOW_MS });
  };
  const { request } = edgeWith({ state: { config, ruleset: rulesThat('allow') }, service });
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  const body = JSON.stringify({ capabilities: { bigint: true }, work: true, load: 'x' });
  const response = await request('/__protect/session', { method: 'POST', headers, body });
  expect([response.status, await response.json()]).toMatchObject([200, { challenge: 'sealed' }]);
  const page = { capabilities: { bigint: true } };
  expect(bodies).toEqual([{ page: { ...page, work: true }, load: null }, { page }]);
});
