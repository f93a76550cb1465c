/** `solveChallenge` against gates that ask for too much, mislead, or attack the program. */
import { describe, expect, test } from 'vitest';
import { solveChallenge, type SolveOptions } from '../../../packages/server/src/client.ts';
import { checkSha256, mintSha256 } from '../../../src/captcha/pow/pow-sha256.ts';
import { drip, flood, hang, json, useHostileService } from '../../support/hostile-service.ts';
import { expectRows } from '../../support/rows.ts';

const gate = useHostileService();
const elsewhere = useHostileService();
const order = { siteKey: 's', api: '/__protect', action: 'clearance', level: 0 };
const challenged = (challenge: unknown = order, headers: Record<string, string> = {}): Response =>
  Response.json({ challenge }, { status: 403, headers: { 'x-protect-decision': 'challenge', ...headers } });
const solve = (response: Response, options: SolveOptions = {}) =>
  solveChallenge(response, { url: `${gate.url}/stock`, timeoutMs: 120_000, ...options });

const puzzles = mintSha256(200);
const work = json({ kind: 'pow', challenge: 'sealed', pow: { lane: 'sha256', ...puzzles } });
const solved = json({ verified: true, token: 't' });
const cleared = json({ verified: true, expiresAt: 5 }, 200, {
  'set-cookie': '__Host-protect-clearance=c; Path=/; Secure',
});

test('a challenge is solved, and its cookie returned', async () => {
  gate.answers = [work, solved, cleared];
  const headers = { 'user-agent': 'sync/1', cookie: 'protect_session=a', authorization: 'Bearer secret' };
  expect(await solve(challenged(), { headers })).toEqual({
    outcome: 'solved',
    cookie: '__Host-protect-clearance=c',
    expiresAtMs: 5,
  });
  expect(gate.paths).toEqual(['/__protect/challenge', '/__protect/solution', '/__protect/verify']);
  const [asked, sent, bought] = gate.bodies;
  expect([asked, bought]).toEqual([{ siteKey: 's', action: 'clearance', level: 0 }, { token: 't' }]);
  const { counters } = sent!['solution'] as { counters: string };
  expect(checkSha256(puzzles.salt, puzzles.bits, counters)).toBe(true);
});

test('work goes on where the price has risen meanwhile, and not without end', async () => {
  const rest = { kind: 'pow', challenge: 'rest', pow: { lane: 'sha256', ...puzzles } };
  const risen = json({ verified: false, reason: 'CAPTCHA.PRICE_RISEN', next: rest });
  gate.answers = [work, risen, risen, solved, cleared];
  expect(await solve(challenged())).toMatchObject({ outcome: 'solved' });
  expect(gate.bodies.slice(1, 4).map((sent) => sent['challenge'])).toEqual(['sealed', 'rest', 'rest']);
  gate.answers = [work, risen, risen, risen];
  expect(await solve(challenged())).toMatchObject({ why: 'refused', detail: 'solution: CAPTCHA.PRICE_RISEN' });
});

test('only what identifies the visitor is sent to the gate’s endpoints', async () => {
  const seen: (string | undefined)[][] = [];
  gate.answers = [
    (response, { headers }) => {
      seen.push([headers['user-agent'], headers.cookie, headers.authorization]);
      json({ kind: 'image', challenge: 'sealed' })(response, {} as never);
    },
  ];
  await solve(challenged(), { headers: { 'User-Agent': 'sync/1', Cookie: 'a=b', Authorization: 'Bearer secret' } });
  expect(seen).toEqual([['sync/1', 'a=b', undefined]]);
});

test.each([
  ['a page', new Response('<html>', { status: 200 })],
  ['a block', new Response('{}', { status: 403, headers: { 'x-protect-decision': 'block' } })],
  ['a refusal of the site’s own', new Response('{}', { status: 403 })],
])('%s is not a challenge, and its body is left', async (_, response) => {
  expect(await solve(response)).toEqual({ outcome: 'not-challenged' });
  expect(response.bodyUsed).toBe(false);
});

describe('a challenge is not solved', () => {
  test.each(['image', 'puzzle'])('when it is a %s, and no work is done for it', async (kind) => {
    gate.answers = [json({ kind, challenge: 'sealed', pow: { lane: 'sha256', ...puzzles } })];
    expect(await solve(challenged())).toMatchObject({ outcome: 'not-solved', why: 'person-needed' });
    expect(gate.paths).toEqual(['/__protect/challenge']);
  });

  test('when a picture follows the work', async () => {
    gate.answers = [work, json({ verified: false, next: { kind: 'image', image: {} } })];
    expect(await solve(challenged())).toMatchObject({ why: 'person-needed' });
  });

  test.each<[string, object]>([
    ['squarings', { lane: 'rsw', n: 'w', x: 'Ag', t: 10_000_000 }],
    ['endless squarings', { lane: 'rsw', n: 'w', x: 'Ag', t: 1e308 }],
    ['hashes', { lane: 'sha256', salt: '', count: 64, bits: 30 }],
  ])('when it asks for too many %s', async (_, pow) => {
    gate.answers = [json({ kind: 'pow', challenge: 'sealed', pow })];
    expect(await solve(challenged())).toMatchObject({ why: 'too-much-work' });
  });

  test('when its work cannot be understood', () =>
    expectRows<[string, unknown]>(
      [
        ['nothing', undefined],
        ['another lane', { lane: 'memory' }],
        ['a modulus of zero', { lane: 'rsw', n: 'AAAA', x: 'Ag', t: 10 }],
        ['a modulus that is empty', { lane: 'rsw', n: '', x: 'Ag', t: 10 }],
        ['a modulus of a megabyte', { lane: 'rsw', n: '_'.repeat(500_000), x: 'Ag', t: 10 }],
        ['numbers that are no text', { lane: 'rsw', n: 7, x: 2, t: 10 }],
        ['a negative number of squarings', { lane: 'rsw', n: 'w', x: 'Ag', t: -1 }],
        ['a million small puzzles', { lane: 'sha256', salt: '', count: 1_000_000, bits: 0 }],
        ['salts of another length', { lane: 'sha256', salt: 'AAAA', count: 32, bits: 1 }],
      ],
      async ([, pow]) => {
        gate.answers = [json({ kind: 'pow', challenge: 'sealed', pow })];
        gate.paths.length = 0;
        expect(await solve(challenged())).toMatchObject({ outcome: 'not-solved', why: 'not-understood' });
        expect(gate.paths).toEqual(['/__protect/challenge']);
      },
    ));

  test('when it does not lead to the gate that sent it', () =>
    expectRows<[string, unknown]>(
      [
        ['another site', { ...order, api: 'https://elsewhere.test/__protect' }],
        ['another site without a protocol', { ...order, api: '//elsewhere.test/__protect' }],
        ['another port', { ...order, api: 'http://127.0.0.1:1/__protect' }],
        ['no address', { ...order, api: 7 }],
        ['no site key', { ...order, siteKey: null }],
        ['nothing', null],
      ],
      async ([, challenge]) => {
        gate.paths.length = 0;
        expect(await solve(challenged(challenge))).toMatchObject({ outcome: 'not-solved', why: 'not-understood' });
        expect(gate.paths).toEqual([]);
      },
    ));

  test('when it came as a page for people', async () => {
    const page = new Response('<html>', {
      status: 403,
      headers: { 'x-protect-decision': 'challenge', 'content-type': 'text/html' },
    });
    expect(await solve(page)).toMatchObject({ why: 'is-page' });
  });

  test.each([
    ['hangs', hang],
    ['drips', drip],
  ])('when the gate %s, for longer than the deadline', async (_, answer) => {
    gate.answers = [answer];
    expect(await solve(challenged(), { timeoutMs: 200 })).toMatchObject({ why: 'timeout' });
  });

  test('when its work outlasts the deadline', async () => {
    gate.answers = [
      json({ kind: 'pow', challenge: 'sealed', pow: { lane: 'rsw', n: 'w'.repeat(342), x: 'Ag', t: 2_000_000_000 } }),
    ];
    const limits = { timeoutMs: 200, maxWork: 4_000_000_000 };
    expect(await solve(challenged(), limits)).toMatchObject({ why: 'timeout' });
  });

  test('when the caller gives up', async () => {
    const leaving = new AbortController();
    gate.answers = [() => leaving.abort()];
    expect(await solve(challenged(), { signal: leaving.signal })).toMatchObject({ why: 'aborted' });
    expect(await solve(challenged(), { signal: AbortSignal.abort() })).toMatchObject({ why: 'aborted' });
  });

  test('when the gate does not answer with work', () =>
    expectRows(
      [
        ['sends a body without end', flood, 'not-understood'],
        ['redirects', json({}, 302, { location: 'http://127.0.0.1:1/' }), 'not-understood'],
        ['sends a page', json('<html>'), 'not-understood'],
        ['refuses', json({ error: { key: 'API.FORBIDDEN' } }, 403), 'refused'],
        ['is overloaded', json({}, 429), 'unreachable'],
        ['fails', json({}, 500), 'unreachable'],
      ] as const,
      async ([, answer, why]) => {
        gate.answers = [answer];
        expect(await solve(challenged())).toMatchObject({ outcome: 'not-solved', why });
      },
    ));

  test.each([
    ['solution', [work, json({ verified: false, reason: 'CAPTCHA.INVALID_SOLUTION' })]],
    ['token', [work, solved, json({ verified: false, reason: 'API.LEVEL_TOO_LOW' })]],
    ['cookie, which another one replaces,', [work, solved, json({ verified: true }, 200, { 'set-cookie': 'other=1' })]],
  ])('when its %s is refused', async (_, answers) => {
    gate.answers = [...answers];
    expect(await solve(challenged())).toMatchObject({ why: 'refused' });
  });
});

test('a response without an address needs one', async () => {
  await expect(solveChallenge(challenged())).rejects.toThrow(/url is missing/);
});

describe('after a redirect to another host', () => {
  const headers = { cookie: 'session=secret' };
  /** The other host claims to be a gate. */
  async function redirected(to: string): Promise<{ response: Response; cookies: (string | undefined)[] }> {
    const cookies: (string | undefined)[] = [];
    elsewhere.answers = [
      (response, request) => {
        cookies.push(request.headers.cookie);
        json({ challenge: order }, 403, { 'x-protect-decision': 'challenge' })(response, request);
      },
    ];
    gate.answers = [json({}, 302, { location: `${to}/stock` }), ...elsewhere.answers];
    return { response: await fetch(`${gate.url}/goods`, { headers }), cookies };
  }

  test('the caller’s cookie is not sent to it, and the caller learns what to do', async () => {
    const { response, cookies } = await redirected(elsewhere.url);
    const outcome = await solveChallenge(response, { headers });
    expect(outcome).toMatchObject({ outcome: 'not-solved', why: 'redirected' });
    expect(outcome).toMatchObject({ detail: expect.stringContaining('Set url') });
    expect(cookies).toEqual([undefined]);
  });

  test('its challenge is not solved at the address that was requested either', async () => {
    const { response } = await redirected(elsewhere.url);
    const outcome = await solveChallenge(response, { headers, url: `${gate.url}/goods` });
    expect(outcome).toMatchObject({ outcome: 'not-solved', why: 'redirected' });
    expect([gate.paths, elsewhere.paths]).toEqual([['/goods'], ['/stock']]);
  });

  test('a program without a cookie solves its challenge there', async () => {
    const { response } = await redirected(elsewhere.url);
    elsewhere.answers = [work, solved, cleared];
    expect(await solveChallenge(response)).toMatchObject({ outcome: 'solved' });
  });

  test('the cookie is still sent to the host of url, if the redirect stayed there', async () => {
    const { response, cookies } = await redirected(gate.url);
    await solveChallenge(response, { headers, url: `${gate.url}/goods` });
    expect([gate.paths, cookies]).toEqual([
      ['/goods', '/stock', '/__protect/challenge'],
      ['session=secret', 'session=secret'],
    ]);
  });
});
