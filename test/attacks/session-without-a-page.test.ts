/**
 * Scripts that open sessions and load no page for them, or one page for many. None is refused: a page may come from a
 * cache, and an app has none. Each session without a page load of its own costs twice the work and begins with
 * `no-page-load`.
 */
import { expect, test } from 'vitest';
import type { SessionChallenge } from '../../src/contract/captcha/challenge-api.ts';
import { detectorsOf, riskDetectors } from '../../src/contract/edge/risk-detectors.ts';
import { addRules, signalsOf } from '../e2e/edge-visitor.ts';
import { browse, FIREFOX } from '../support/browse.ts';
import { sessionAt, type EdgeResponse } from '../support/edge-session.ts';
import { loadNonceOf, pageLoadAt } from '../support/page-load.ts';
import { expectRows } from '../support/rows.ts';
import { solvedSession } from '../support/session.ts';
import { eventually, letThrough, manage, useStack } from '../support/stack.ts';

const { policy } = letThrough;
const ignoredDetectors = riskDetectors.filter((name) => name !== 'no-page-load');
const stack = useStack({ seedChanges: { ...letThrough, policy: { ...policy, ignoredDetectors } } });
type Headers = Record<string, string>;
let networks = 0;

/** In a network of its own, so that no session raises the price of another. */
const newVisitor = (): Headers => ({
  'user-agent': FIREFOX,
  ...signalsOf(stack(), { from: `10.${networks++}.0.1`, country: 'DE' }),
});
const pageLoad = (headers: Headers, path = '/'): Promise<string | null> => pageLoadAt(stack().edgeUrl + path, headers);
const post = (headers: Headers, page: object): Promise<EdgeResponse> => sessionAt(stack().edgeUrl, headers)(page);

const SQUARINGS = 150_000;

async function challengeFor(headers: Headers, load: string | null): Promise<SessionChallenge> {
  return (await post(headers, load === null ? {} : { load })).body as SessionChallenge;
}

async function open(headers: Headers, load: string | null): Promise<{ squarings: number; session: EdgeResponse }> {
  const challenge = await challengeFor(headers, load);
  const solved = await solvedSession(challenge);
  const session = await post(headers, load === null ? solved : { ...solved, load });
  return { squarings: challenge.pow.t ?? NaN, session };
}

/** Of a session's cookie. */
function detectorsIn({ cookie }: EdgeResponse): string[] {
  const [, claims = ''] = cookie.split('|')[1]?.split('.') ?? [];
  return detectorsOf((JSON.parse(Buffer.from(claims, 'base64url').toString()) as { det: number }).det);
}

test('one page load opens one session at the price of a person', async () => {
  const headers = newVisitor();
  const load = await pageLoad(headers);
  const first = await open(headers, load);
  expect(first.squarings).toBe(SQUARINGS);
  expect([first.session.status, detectorsIn(first.session)]).toEqual([200, []]);

  const again = await open(headers, load);
  expect([again.session.status, again.session.cookie]).toEqual([400, '']);
});

test('many sessions without a page each cost twice as much and begin with a sign', async () => {
  const headers = newVisitor();
  for (let session = 0; session < 5; session++) {
    const opened = await open(headers, null);
    expect(opened.squarings).toBe(2 * SQUARINGS);
    expect([opened.session.status, detectorsIn(opened.session)]).toEqual([200, ['no-page-load']]);
  }
});

test('a nonce that is not of this visitor, or not of the gate, counts as none', () =>
  expectRows<[string, (load: string, owner: Headers) => [string, Headers]]>(
    [
      ['of another network', (load) => [load, newVisitor()]],
      ['of another browser', (load, owner) => [load, { ...owner, 'user-agent': `${FIREFOX} another` }]],
      ['with another page load', (load, owner) => [load.replace(/[^-]+/, '00000000'), owner]],
      ['with another id', (load, owner) => [load.replace(/-[0-9a-f]{12}\./, '-000000000000.'), owner]],
      ['with another signature', (load, owner) => [`${load.slice(0, -1)}${load.endsWith('A') ? 'B' : 'A'}`, owner]],
      ['without a signature', (load, owner) => [load.split('.')[0]!, owner]],
      ['that is very long', (load, owner) => [load.repeat(100), owner]],
    ],
    async ([, attempt]) => {
      const owner = newVisitor();
      const [load, headers] = attempt((await pageLoad(owner))!, owner);
      const { squarings, session } = await open(headers, load);
      expect([squarings, session.status, detectorsIn(session)]).toEqual([2 * SQUARINGS, 200, ['no-page-load']]);
    },
  ));

test('a nonce that a script does not show with the solution is used up all the same', async () => {
  const headers = newVisitor();
  const load = await pageLoad(headers);
  const solved = await solvedSession(await challengeFor(headers, load));
  expect(detectorsIn(await post(headers, solved))).toEqual(['no-page-load']);
  expect((await open(headers, load)).session.status).toBe(400);
});

test('the pages of a session give no nonce for another', async () => {
  const headers = newVisitor();
  const { session } = await open(headers, await pageLoad(headers));
  expect(await pageLoad({ ...headers, cookie: session.cookie })).toBeNull();
});

test('the challenge page gives one as well: nobody pays for the pages that a neighbour used up', async () => {
  await addRules(stack(), { type: 'userAgent', value: 'challenge me', verdict: 'challenge' });
  const headers = { ...newVisitor(), 'user-agent': `${FIREFOX} challenge me` };
  const page = await browse(`${stack().edgeUrl}/`, { headers });
  expect(page.status).toBe(403);
  const load = loadNonceOf(await page.text());
  const { squarings, session } = await open(headers, load);
  expect([squarings, session.status]).toEqual([SQUARINGS, 200]);
  expect(detectorsIn(session)).not.toContain('no-page-load');
});

test('the log finds the page that a session was opened from', async () => {
  const headers = newVisitor();
  const load = (await pageLoad(headers))!;
  const { session } = await open(headers, load);
  const { jti } = session.body as { jti: string };
  const requestId = load.split('.')[0]!;
  expect(jti.replace('-', '').slice(1)).toBe(requestId.replaceAll('-', '').slice(1));
  const { verdicts } = await eventually(
    () => manage<{ verdicts: { requestId: string }[] }>(stack(), '/protect/verdicts', { requestId }),
    (answer) => answer.verdicts.length > 0,
  );
  expect(verdicts).toHaveLength(1);
});
