/**
 * Clearance lets a visitor past a challenge for half an hour. A visitor at risk is asked for more than a proof of work,
 * and these clients try to pay less: they leave the cookie out, ask somewhere else or earlier, or bring another's token.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { quickRules } from '../e2e/edge-visitor.ts';
import {
  type Answer,
  atRisk,
  boughtToken,
  call,
  challengeFor,
  type Headers,
  newVisitor,
  page,
  personsToken,
  tokenOf,
  verify,
  withCookie,
} from '../support/gate.ts';
import { expectRows } from '../support/rows.ts';
import { solveWork } from '../support/session.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack({ edgeVars: quickRules });
const GUARDED = '/echo/guarded/x';
const FORM = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };

beforeAll(async () => {
  const pathRules = [{ pattern: '/echo/guarded/**', action: 'challenge' }];
  // More than the gate's own challenge costs everybody.
  const challengeDifficulty = [
    { minScore: 0.5, powDifficulty: 7 },
    { minScore: 0.7, captchaType: 'puzzle', powDifficulty: 7 },
  ];
  await manage(stack(), '/protect/instances/update', { id: stack().instanceId, pathRules, challengeDifficulty });
  await eventually(
    () => page(stack(), newVisitor(stack()), GUARDED),
    ({ status }) => status === 403,
  );
});

const statusOf = async (headers: Headers) => (await page(stack(), headers, GUARDED)).status;

/** Refused without a cookie, and without an error of the gate. */
function expectRefused({ status, body, cookie }: Answer, reason?: string): void {
  expect(status).toBe(200);
  expect(cookie).toBe('');
  expect(body).toMatchObject({ verified: false, ...(reason === undefined ? {} : { reason }) });
}

async function expectBought(headers: Headers, token: string): Promise<string> {
  const { body, cookie } = await verify(stack(), headers, token);
  expect(body).toMatchObject({ verified: true });
  return cookie;
}

describe('the honest way', () => {
  test.each([
    [0, 'pow'],
    [0.55, 'pow'],
    [0.75, 'puzzle'],
  ])('at risk %d leads through a challenge of kind %s to the page', async (risk, kind) => {
    const visitor = await atRisk(stack(), newVisitor(stack()), risk);
    expect(await statusOf(visitor)).toBe(403);
    const challenge = await challengeFor(stack(), visitor);
    expect(challenge.kind).toBe(kind);
    const cookie = await expectBought(visitor, await tokenOf(stack(), visitor, challenge));
    expect(await statusOf(withCookie(visitor, cookie))).toBe(200);
  });

  test('leads through the challenge’s end on the phone’s other address family', async () => {
    const fourth = newVisitor(stack());
    const sixth = { ...fourth, 'x-client-ip': '2001:db8:77::1' };
    const cookie = await expectBought(sixth, await boughtToken(stack(), fourth));
    expect(await statusOf(withCookie(sixth, cookie))).toBe(200);
  });
});

describe('a proof of work for a visitor who is asked for a puzzle', () => {
  test('buys nothing, however the page asks for it', () =>
    expectRows<[string, (visitor: Headers, risky: Headers) => Promise<string>]>(
      [
        ['asked for without the cookie', (visitor) => boughtToken(stack(), visitor)],
        [
          'asked for with a session of the same visitor without risk',
          async (visitor) => boughtToken(stack(), await atRisk(stack(), visitor, 0)),
        ],
        ['that a page relabels as another action', (visitor) => boughtToken(stack(), visitor, { action: 'login' })],
        [
          'asked for with a made-up risk in the body',
          (visitor) => boughtToken(stack(), visitor, { sessionId: 'calm' }),
        ],
        [
          'at the price of a calm visitor’s puzzle',
          async (visitor) => {
            const challenge = await challengeFor(stack(), visitor);
            return personsToken(stack(), challenge.challenge, { kind: 'puzzle', lane: 'visual', level: 2 });
          },
        ],
      ],
      async ([, attempt]) => {
        const visitor = newVisitor(stack());
        const risky = await atRisk(stack(), visitor, 0.8);
        const token = await attempt(visitor, risky);
        expectRefused(await verify(stack(), risky, token));
        expect(await statusOf(risky)).toBe(403);
      },
    ));

  test('is not spent by the attempt: it stays what the calm visitor bought', async () => {
    const visitor = newVisitor(stack());
    const token = await boughtToken(stack(), visitor);
    expectRefused(await verify(stack(), await atRisk(stack(), visitor, 0.8), token), 'API.LEVEL_TOO_LOW');
    await expectBought(visitor, token);
  });

  test('does not count with an older cookie of the same session either, once the risk is known', async () => {
    const visitor = newVisitor(stack());
    const jti = crypto.randomUUID();
    const before = await atRisk(stack(), visitor, 0, jti);
    const after = await atRisk(stack(), visitor, 0.8, jti);
    const token = await boughtToken(stack(), before);
    expectRefused(await verify(stack(), after, token), 'API.LEVEL_TOO_LOW');
    expectRefused(await verify(stack(), before, token), 'API.LEVEL_TOO_LOW');
  });

  test('bought without the cookie does not lift a challenge with it', async () => {
    const visitor = newVisitor(stack());
    const cookie = await expectBought(visitor, await boughtToken(stack(), visitor));
    expect(await statusOf(withCookie(visitor, cookie))).toBe(200);
    const risky = await atRisk(stack(), visitor, 0.8);
    expect(await statusOf(withCookie(risky, cookie))).toBe(403);
    const harder = await expectBought(risky, await boughtToken(stack(), risky));
    expect(await statusOf(withCookie(risky, harder))).toBe(200);
  });

  test('less work than the risk asks for buys nothing', async () => {
    const visitor = newVisitor(stack());
    const doubtful = await atRisk(stack(), visitor, 0.55);
    expectRefused(await verify(stack(), doubtful, await boughtToken(stack(), visitor)), 'API.LEVEL_TOO_LOW');
    await expectBought(doubtful, await boughtToken(stack(), doubtful));
  });
});

describe('a challenge that was not asked for here', () => {
  test('but at the service, with the action of clearance, buys nothing', async () => {
    const visitor = newVisitor(stack());
    const { serviceUrl, siteKey } = stack();
    const direct = { ...visitor, origin: stack().edgeUrl };
    const asked = await call(`${serviceUrl}/captcha/v1/challenge`, direct, { siteKey, action: 'clearance' });
    expect(asked.status).toBe(200);
    const { challenge, pow } = asked.body as { challenge: string; pow: Parameters<typeof solveWork>[0] };
    const solution = await solveWork(pow);
    const solved = await call(`${serviceUrl}/captcha/v1/solution`, direct, { challenge, solution });
    expectRefused(await verify(stack(), visitor, String(solved.body['token'])), 'API.VISITOR_MISMATCH');
  });

  test('but through an edge of another instance buys nothing', async () => {
    const { serviceUrl, siteKey } = stack();
    const other = await manage<{ siteKey: string }>(stack(), '/sites/create', {
      name: 'other',
      settings: { domains: ['localhost'] },
    });
    const instance = await manage<{ id: string }>(stack(), '/protect/instances/create', {
      name: 'Other',
      cname: 'other.example.com',
      globalSiteKey: other.siteKey,
    });
    const generated = await manage<{ clientJwt: string }>(stack(), '/protect/client-jwt/generate', {
      protectInstanceId: instance.id,
      expiresInWeeks: 1,
    });
    const victim = newVisitor(stack());
    const visitor = {
      ip: victim['x-client-ip'],
      userAgent: victim['user-agent'],
      asn: 64_496,
      country: 'DE',
      ja4: null,
      ipCategories: [],
      requestId: 'r',
      host: new URL(stack().edgeUrl).host,
    };
    const asked = await call(
      `${serviceUrl}/captcha/v1/challenge`,
      { authorization: `Bearer ${generated.clientJwt}` },
      { siteKey, action: 'clearance', visitor },
    );
    expect(asked.status).toBe(200);
    const token = await personsToken(stack(), String(asked.body['challenge']));
    expectRefused(await verify(stack(), victim, token), 'API.VISITOR_MISMATCH');
  });

  test('but by another visitor buys nothing, and stays its owner’s', () =>
    expectRows<[string, Headers]>(
      [
        ['another network', { 'x-client-ip': '203.0.113.9' }],
        ['another browser', { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0' }],
        ['another host', { host: 'other.localhost' }],
        ['another provider and address family', { 'x-client-ip': '2001:db8:1::1', 'x-client-asn': '64497' }],
        ['another country and address family', { 'x-client-ip': '2001:db8:1::1', 'x-client-country': 'FR' }],
      ],
      async ([, difference]) => {
        const owner = newVisitor(stack());
        const token = await boughtToken(stack(), owner);
        expectRefused(await verify(stack(), { ...owner, ...difference }, token), 'API.VISITOR_MISMATCH');
        await expectBought(owner, token);
      },
    ));

  test('and a clearance that is copied to another host of the same gate lifts nothing there', async () => {
    const visitor = newVisitor(stack());
    const cookie = await expectBought(visitor, await boughtToken(stack(), visitor));
    expect(await statusOf(withCookie({ ...visitor, host: 'other.localhost' }, cookie))).toBe(403);
  });

  test('and a clearance that is copied to another browser lifts nothing in the owner’s other address family', async () => {
    const owner = newVisitor(stack());
    const cookie = await expectBought(owner, await boughtToken(stack(), owner));
    const thief = { ...owner, 'x-client-ip': '2001:db8:88:1::1', 'user-agent': 'Mozilla/5.0 Chrome/140.0.0.0' };
    expect(await statusOf(withCookie(thief, cookie))).toBe(403);
    const sixth = { ...owner, 'x-client-ip': '2001:db8:88:2::1' };
    expect(await statusOf(withCookie(sixth, cookie))).toBe(200);
  });
});

describe('one token', () => {
  test('buys one clearance in 50 parallel calls', async () => {
    const visitor = newVisitor(stack());
    const token = await boughtToken(stack(), visitor);
    const answers = await Promise.all(Array.from({ length: 50 }, () => verify(stack(), visitor, token)));
    expect(answers.filter(({ cookie }) => cookie !== '')).toHaveLength(1);
    expect(answers.every(({ status }) => status < 500)).toBe(true);
  });

  test('buys nothing in two networks at once: one of two families wins', async () => {
    const fourth = newVisitor(stack());
    const token = await boughtToken(stack(), fourth);
    const families = Array.from({ length: 20 }, (_, index) => ({
      ...fourth,
      'x-client-ip': index % 2 === 0 ? fourth['x-client-ip']! : `2001:db8:${index}::1`,
    }));
    const answers = await Promise.all(families.map((family) => verify(stack(), family, token)));
    expect(answers.filter(({ cookie }) => cookie !== '')).toHaveLength(1);
  });

  test('that is forged buys nothing', () =>
    expectRows<[string, (token: string, challenge: string) => unknown]>(
      [
        ['cut', (token) => token.slice(0, -8)],
        ['changed', (token) => `${token.slice(0, 40)}${token[40] === 'A' ? 'B' : 'A'}${token.slice(41)}`],
        ['twice as long', (token) => token + token],
        ['the challenge itself', (_, challenge) => challenge],
        ['a JWT without a signature', () => 'eyJhbGciOiJub25lIn0.eyJ2ZXJpZmllZCI6dHJ1ZX0.'],
        ['a token of the edge’s own that it did not issue', () => 'edge.w1.AAAAAAAAAAAAAAAAAAAAAAAA'],
        ['a field of a form', (token) => JSON.stringify({ token: token.slice(1) })],
      ],
      async ([, forged]) => {
        const visitor = newVisitor(stack());
        const challenge = await challengeFor(stack(), visitor);
        const token = await tokenOf(stack(), visitor, challenge);
        expectRefused(await verify(stack(), visitor, String(forged(token, challenge.challenge))));
        await expectBought(visitor, token);
      },
    ));

  test('of another type or size gets 4xx', () =>
    expectRows([7, null, '', ['x'], 'x'.repeat(200_000)], async (token) => {
      const url = `${stack().edgeUrl}/__protect/verify`;
      const { status, body, cookie } = await call(url, newVisitor(stack()), { token });
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      expect(cookie).toBe('');
      expect(body).toMatchObject({ error: { code: status, key: expect.any(String) } });
    }));
});

describe('a form at risk', () => {
  test('with a token that is too easy is held, says nothing of a failure, and arrives once after the challenge', async () => {
    const visitor = newVisitor(stack());
    const risky = await atRisk(stack(), visitor, 0.75);
    const token = await boughtToken(stack(), visitor, { action: 'contact' });
    const path = '/echo/guarded/form';
    const body = new URLSearchParams({ name: 'Ada', 'captcha-response': JSON.stringify({ token }) });
    const held = await page(stack(), risky, path, { method: 'POST', headers: FORM, body });
    expect(held.status).toBe(403);
    const html = await held.text();
    const action = /<form[^>]*action="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const seal = /name="seal" value="([^"]+)"/.exec(html)?.[1] ?? '';
    expect(seal).not.toBe('');
    expect(html.replaceAll(/<template[^]*?<\/template>/g, '')).not.toContain('The check failed.');
    const cookie = await expectBought(risky, await boughtToken(stack(), risky));
    const send = () =>
      page(stack(), withCookie(risky, cookie), action, {
        method: 'POST',
        headers: { ...FORM, 'content-type': 'text/plain' },
        body: `seal=${seal}`,
      });
    const arrived = await send();
    expect([arrived.status, await arrived.json()]).toMatchObject([200, { method: 'POST', path }]);
    expect((await send()).status).toBe(409);
  });

  test('with the same token passes in place while the visitor is calm', async () => {
    const visitor = newVisitor(stack());
    const token = await boughtToken(stack(), visitor, { action: 'contact' });
    const body = new URLSearchParams({ 'captcha-response': token });
    const sent = { method: 'POST', headers: FORM, body };
    expect((await page(stack(), visitor, '/echo/guarded/calm', sent)).status).toBe(200);
  });

  test('with another visitor’s clearance token does not pass in place', async () => {
    const token = await boughtToken(stack(), newVisitor(stack()));
    const body = new URLSearchParams({ 'captcha-response': token });
    const thief = newVisitor(stack());
    expect((await page(stack(), thief, '/echo/guarded/thief', { method: 'POST', headers: FORM, body })).status).toBe(
      403,
    );
  });
});
