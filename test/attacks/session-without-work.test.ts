/**
 * A session is what `/api/*` asks for. These clients speak HTTP only and try to get one for less than its price: without
 * the work, with somebody else's, with one piece of work many times, or with work that was done for something else.
 */
import { describe, expect, test } from 'vitest';
import type { ChallengeResponse, SessionChallenge } from '../../src/contract/captcha/challenge-api.ts';
import { signalsOf } from '../e2e/edge-visitor.ts';
import { FIREFOX, browse } from '../support/browse.ts';
import { sessionAt, type EdgeResponse } from '../support/edge-session.ts';
import { expectRows } from '../support/rows.ts';
import { solvedSession, type SolvedSession } from '../support/session.ts';
import { eventually, useStack } from '../support/stack.ts';

const stack = useStack();
type Headers = Record<string, string>;
let networks = 0;

/** A visitor in a network of their own, so that no test raises another's price. */
function newVisitor(): Headers {
  return { 'user-agent': FIREFOX, ...signalsOf(stack(), { from: `10.${networks++}.0.1`, country: 'DE' }) };
}

const post = (headers: Headers, page: object): Promise<EdgeResponse> => sessionAt(stack().edgeUrl, headers)(page);
const jtiOf = ({ body }: EdgeResponse) => (body as { jti?: string }).jti;
async function challengeFor(headers: Headers, page = {}): Promise<SessionChallenge> {
  const { status, body, cookie } = await post(headers, page);
  expect([status, cookie]).toEqual([200, '']);
  return body as SessionChallenge;
}
const solvedBy = async (headers: Headers): Promise<SolvedSession> => solvedSession(await challengeFor(headers));
const apiStatus = async (headers: Record<string, string>) =>
  (await browse(`${stack().edgeUrl}/api/time`, { headers })).status;

/** 4xx with the envelope, and no cookie. */
function expectRefused({ status, body, cookie }: EdgeResponse): void {
  expect([status, cookie]).toEqual([400, '']);
  expect(body).toMatchObject({ error: { code: 400, key: expect.any(String), message: expect.any(String) } });
}

describe('clients without a JavaScript engine', () => {
  test('reach no json path without the work', async () => {
    const headers = newVisitor();
    const answers: number[] = [];
    for (let call = 0; call < 50; call++) {
      const { cookie } = await post(headers, {});
      answers.push(await apiStatus({ ...headers, ...(cookie === '' ? {} : { cookie }) }));
    }
    expect(answers).toEqual(Array.from({ length: 50 }, () => 401));
  });

  test('get a session for the work and the report, which opens json paths', async () => {
    const headers = newVisitor();
    const { status, cookie } = await post(headers, await solvedBy(headers));
    expect(status).toBe(200);
    expect(await apiStatus({ ...headers, cookie })).toBe(200);
  });
});

describe('a solution', () => {
  test('that is not whole and right opens nothing and spends nothing', () =>
    expectRows<[string, (solved: SolvedSession) => object]>(
      [
        ['that is missing', ({ challenge, environment }) => ({ challenge, environment })],
        ['that is empty', (solved) => ({ ...solved, solution: {} })],
        ['that is guessed', (solved) => ({ ...solved, solution: { y: 'A'.repeat(342) } })],
        [
          'that is cut',
          (solved) => ({ ...solved, solution: { y: (solved.solution as { y: string }).y.slice(0, -1) } }),
        ],
        ['of the other kind', (solved) => ({ ...solved, solution: { counters: 'AAAA' } })],
        ['that is no text', (solved) => ({ ...solved, solution: { y: ['x'] } })],
        ['for a challenge that was changed', (solved) => ({ ...solved, challenge: changed(solved.challenge) })],
        ['for a challenge that was cut', (solved) => ({ ...solved, challenge: solved.challenge.slice(0, -4) })],
        [
          'for a challenge of the edge that the edge did not issue',
          (solved) => ({ ...solved, challenge: 'edge.k.AAAA' }),
        ],
        ['without the report of the browser', ({ challenge, solution }) => ({ challenge, solution })],
        ['with a report that is none', (solved) => ({ ...solved, environment: { v: 1, traits: ['made-up'] } })],
        [
          'with a report of a future version',
          (solved) => ({ ...solved, environment: { ...solved.environment, v: 9 } }),
        ],
        ['with more than there is', (solved) => ({ ...solved, more: 1 })],
      ],
      async ([, attempt]) => {
        const headers = newVisitor();
        const solved = await solvedBy(headers);
        expectRefused(await post(headers, attempt(solved)));
        expect((await post(headers, solved)).status).toBe(200);
      },
    ));

  test.each<[string, (headers: Headers) => Headers]>([
    ['from another network', (headers) => ({ ...headers, 'x-client-ip': '203.0.113.77' })],
    ['from another browser', (headers) => ({ ...headers, 'user-agent': `${FIREFOX} another` })],
    ['at another host', (headers) => ({ ...headers, host: 'other.localhost' })],
  ])('of somebody else, %s, opens nothing and stays theirs', async (_, asThief) => {
    const owner = newVisitor();
    const solved = await solvedBy(owner);
    expectRefused(await post(asThief(owner), solved));
    expect((await post(owner, solved)).status).toBe(200);
  });

  test('opens one session in 100 parallel calls', async () => {
    const headers = newVisitor();
    const solved = await solvedBy(headers);
    const sent = () => post(headers, solved);
    const answers = await Promise.all(Array.from({ length: 100 }, sent));
    // A busy machine may answer some of so many too late: 503. Sent again, the call opens the same session.
    const opened = answers.filter(({ status }) => status !== 503);
    opened.push(await eventually(sent, ({ status }) => status !== 503));
    expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(opened.map(jtiOf)).size).toBe(1);
  });

  test('opens nothing a second time with another report', async () => {
    const headers = newVisitor();
    const solved = await solvedBy(headers);
    const first = await post(headers, { ...solved, environment: { ...solved.environment, traits: ['webdriver'] } });
    expect(first.status).toBe(200);
    expectRefused(await post(headers, solved));
  });
});

describe('work for something else', () => {
  const call = async <Body>(headers: Headers, path: string, body: object): Promise<Body> => {
    const response = await browse(`${stack().edgeUrl}/__protect/${path}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await response.json()) as Body;
  };

  test.each(['clearance', 'login'])('the challenge of action %s opens no session', async (action) => {
    const headers = newVisitor();
    const { challenge, pow, expiresAt } = await call<ChallengeResponse>(headers, 'challenge', { action });
    expectRefused(await post(headers, await solvedSession({ challenge, pow: pow!, expiresAt })));
  });

  test('the challenge of a session is none of a form or a clearance, here or at the service', async () => {
    const headers = newVisitor();
    const { challenge, solution } = await solvedBy(headers);
    const body = { challenge, solution };
    const invalid = { error: { key: 'CAPTCHA.INVALID_CAPTCHA_CHALLENGE' } };
    expect(await call(headers, 'solution', body)).toMatchObject(invalid);
    expect(await call(headers, 'verify', { token: challenge })).toMatchObject({ verified: false });
    const direct = await browse(`${stack().serviceUrl}/captcha/v1/solution`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(await direct.json()).toMatchObject(invalid);
  });

  test('a copied session is not renewed for a thief, who must earn their own', async () => {
    const owner = newVisitor();
    const { cookie } = await post(owner, await solvedBy(owner));
    const thief = { ...newVisitor(), cookie };
    const { status, body, cookie: given } = await post(thief, {});
    expect([status, given]).toEqual([200, '']);
    expect(body).toMatchObject({ pow: { lane: 'rsw' } });
    expect(jtiOf(await post({ ...owner, cookie }, {}))).toBe(cookie.split('|')[0]?.replace('protect_session=', ''));
  });
});

test('a session costs no less in the lane for browsers without BigInt', async () => {
  const headers = newVisitor();
  const { body } = await post(headers, { capabilities: { bigint: false } });
  const { pow } = body as SessionChallenge;
  expect(pow.lane).toBe('sha256');
  expect((pow.count ?? 0) * 2 ** (pow.bits ?? 0)).toBeGreaterThan(4_000_000);
});

/** With one character in the middle replaced. */
function changed(sealed: string): string {
  const at = Math.floor(sealed.length / 2);
  return sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
}
