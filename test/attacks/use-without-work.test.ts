/**
 * A session is a meter. These scripts open one session with an invented report, and use it as much as they can: with no more
 * work, with the work of one piece sent many times, with an old JWT, with the work of another session.
 */
import { describe, expect, test } from 'vitest';
import type { SessionChallenge } from '../../src/contract/captcha/challenge-api.ts';
import { browse } from '../support/browse.ts';
import { boughtToken, call, challengeFor, newVisitor, withCookie, type Headers } from '../support/gate.ts';
import { sessionAt, type EdgeResponse } from '../support/edge-session.ts';
import { PERSONS_BROWSER, personsHeaders, solveWork, solvedSession } from '../support/session.ts';
import { letThrough } from '../support/let-through.ts';
import { useStack } from '../support/stack.ts';

const PACE = { html: 60, json: 600 };
const FORM = 'application/x-www-form-urlencoded';
const asCall = { accept: '*/*', 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' };
const SCRIPT_OF_THE_SITE = '/widget/explicit.js';
/** Pages of the network's budget, which a spent session takes from too. Its own address has as many in reserve. */
const PENDING_PAGES = 1;
const stack = useStack({
  seedChanges: { ...letThrough, policy: { ...letThrough.policy, pendingBudget: PENDING_PAGES, pace: PACE } },
});
/** Free in one window. A test that sees the end of a window gets it twice. */
const FREE_PAGES = 4;
const FREE_CALLS = 40;
const PAGES_OF_A_PIECE = PACE.html / 8;
const SQUARINGS_OF_A_PIECE = 377_976;
/** A clearance at the gate's lowest price. */
const CLEARED_PAGES = 3;

interface Script {
  headers: Headers;
  post: (page: object) => Promise<EdgeResponse>;
  opened: EdgeResponse;
}

async function openedSession(): Promise<Script> {
  const headers = { ...newVisitor(stack()), ...personsHeaders };
  const { body } = await sessionAt(stack().edgeUrl, headers)({});
  const opened = await sessionAt(
    stack().edgeUrl,
    headers,
  )({
    ...(await solvedSession(body as SessionChallenge, PERSONS_BROWSER)),
    work: true,
  });
  expect(opened.status).toBe(200);
  return { opened, ...withSession(headers, opened) };
}

function withSession(headers: Headers, { cookie }: EdgeResponse): Pick<Script, 'headers' | 'post'> {
  const sent = withCookie({ ...headers, cookie: '' }, cookie);
  return { headers: sent, post: sessionAt(stack().edgeUrl, sent) };
}

const workOf = ({ body }: EdgeResponse) => (body as { work?: SessionChallenge }).work;

/** Solves the next piece. The script goes on with the new cookie. */
async function worked(script: Script): Promise<Script & { sent: object }> {
  const work = workOf(script.opened)!;
  const sent = { challenge: work.challenge, solution: await solveWork(work.pow), work: true };
  const opened = await script.post(sent);
  expect(opened.status).toBe(200);
  return { sent, opened, ...withSession(script.headers, opened) };
}

/** How many of so many requests the site answered. */
async function answered(headers: Headers, path: string, count: number): Promise<number> {
  let passed = 0;
  for (let at = 0; at < count; at++) {
    const response = await browse(stack().edgeUrl + path, { headers });
    await response.arrayBuffer();
    if (response.status === 200) passed += 1;
  }
  return passed;
}

function expectAbout(count: number, bound: number): void {
  expect(count).toBeGreaterThanOrEqual(bound);
  expect(count).toBeLessThanOrEqual(2 * bound);
}

describe('a script with one session gets', () => {
  test('four pages in ten minutes without work', async () => {
    const { headers } = await openedSession();
    expectAbout(await answered(headers, '/', 60), FREE_PAGES);
  });

  test('forty answers of an API', async () => {
    const { headers } = await openedSession();
    expectAbout(await answered(headers, '/api/time', 200), FREE_CALLS);
  });

  test('no more by asking for pages as pictures', async () => {
    const { headers } = await openedSession();
    const asPicture = { ...headers, 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors', accept: 'image/*' };
    expectAbout(await answered(asPicture, '/', 60), FREE_PAGES);
  });

  test('no more by asking for many at once as pictures', async () => {
    const { headers } = await openedSession();
    const asPicture = { ...headers, 'sec-fetch-dest': 'image', 'sec-fetch-mode': 'no-cors', accept: 'image/*' };
    const counts = await Promise.all(Array.from({ length: 50 }, () => answered(asPicture, '/', 1)));
    expectAbout(
      counts.reduce((sum, count) => sum + count, 0),
      FREE_PAGES,
    );
  });

  test('forty tries of an address that is not there', async () => {
    const { headers } = await openedSession();
    let tries = 0;
    for (let status = 404; status === 404; tries++) {
      const init = { method: 'POST', body: 'a=b', headers: { ...headers, ...asCall, 'content-type': FORM } };
      const response = await browse(`${stack().edgeUrl}/nowhere`, init);
      await response.arrayBuffer();
      status = response.status;
    }
    expectAbout(tries, FREE_CALLS);
  });

  test('the files of its pages, also when it has used all that it worked for', async () => {
    const { headers } = await openedSession();
    await answered(headers, '/', 20);
    const asFile = { ...headers, 'sec-fetch-dest': 'script', 'sec-fetch-mode': 'no-cors', accept: '*/*' };
    expect(await answered(asFile, SCRIPT_OF_THE_SITE, 5)).toBe(5);
  });

  test('no more by renewing its session', async () => {
    const script = await openedSession();
    let [pages, { headers }]: [number, Pick<Script, 'headers'>] = [0, script];
    for (let round = 0; round < 10; round++) {
      pages += await answered(headers, '/', 5);
      ({ headers } = withSession(headers, await sessionAt(stack().edgeUrl, headers)({})));
    }
    expectAbout(pages, FREE_PAGES);
  });
});

describe('a piece of work', () => {
  test('is worth an eighth of the allowance, once', async () => {
    const first = await worked(await openedSession());
    const again = await first.post(first.sent);
    const { headers } = withSession(first.headers, again);
    expectAbout(await answered(headers, '/', 60), FREE_PAGES + PAGES_OF_A_PIECE - 0.5);
  });

  test('opens no session, and counts for no other one', async () => {
    const [one, other] = [await openedSession(), await openedSession()];
    const work = workOf(one.opened)!;
    const solved = { challenge: work.challenge, solution: await solveWork(work.pow) };
    expect((await other.post(solved)).status).toBe(400);
    const { cookie: _none, ...visitor } = one.headers;
    const fresh = sessionAt(stack().edgeUrl, visitor);
    expect((await fresh({ ...solved, environment: PERSONS_BROWSER })).status).toBe(400);
  });

  test('does not count where it is guessed', async () => {
    const script = await openedSession();
    const { challenge } = workOf(script.opened)!;
    expect((await script.post({ challenge, solution: { y: 'A'.repeat(342) } })).status).toBe(400);
  });

  test('is offered until a quarter of the allowance lies ahead, and the session’s opening is none', async () => {
    const script = await openedSession();
    const second = await worked(await worked(script));
    expect(workOf(second.opened)).toBeUndefined();
  });
});

describe('a clearance', () => {
  const clearanceOf = async (headers: Headers): Promise<string> => {
    const token = await boughtToken(stack(), headers);
    return (await call(`${stack().edgeUrl}/__protect/verify`, headers, { token })).cookie;
  };

  test('is good for three pages', async () => {
    const { headers } = await openedSession();
    expectAbout(await answered(headers, '/', 20), FREE_PAGES);
    const cleared = withCookie(headers, await clearanceOf(headers));
    expectAbout(await answered(cleared, '/', 60), CLEARED_PAGES);
  });

  test('opens an API without a session for the calls that these pages would be, and then asks for one', async () => {
    const headers = { ...newVisitor(stack()), ...personsHeaders };
    expect(await answered(headers, '/api/time', 1)).toBe(0);
    const cleared = withCookie(headers, await clearanceOf(headers));
    expectAbout(await answered(cleared, '/api/time', 100), 10 * CLEARED_PAGES);
    expect((await browse(`${stack().edgeUrl}/api/time`, { headers: { ...cleared, ...asCall } })).status).toBe(401);
  });

  test('costs as much for each page as the work of a session', async () => {
    const { pow } = await challengeFor(stack(), { ...newVisitor(stack()), ...personsHeaders });
    expect(pow!.t! / CLEARED_PAGES).toBeGreaterThan((0.98 * SQUARINGS_OF_A_PIECE) / PAGES_OF_A_PIECE);
  });

  test('is good for no more without the cookie of the session', async () => {
    const visitor = { ...newVisitor(stack()), ...personsHeaders };
    const cleared = withCookie(visitor, await clearanceOf(visitor));
    expect(await answered(cleared, '/', 100)).toBeLessThanOrEqual(2 * CLEARED_PAGES + PENDING_PAGES);
  });

  test('is followed by others, until the session has used an allowance more: then it is 429', async () => {
    const { headers } = await openedSession();
    let pages = await answered(headers, '/', 20);
    const statuses = new Set<number>();
    for (let round = 0; round < 20 && !statuses.has(429); round++) {
      const cleared = withCookie(headers, await clearanceOf(headers));
      pages += await answered(cleared, '/', 40);
      const refused = await browse(stack().edgeUrl, { headers: cleared });
      statuses.add(refused.status);
      if (refused.status === 429) expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(600);
      await refused.arrayBuffer();
    }
    expect(statuses).toContain(429);
    expectAbout(pages, FREE_PAGES + PACE.html);
  });
});

test('a page that is told to work has room for all that a person opens', async () => {
  let script: Script = await openedSession();
  while (workOf(script.opened) !== undefined) script = await worked(script);
  expect(await answered(script.headers, '/', 15)).toBe(15);
  const page = await browse(stack().edgeUrl, { headers: script.headers });
  expect(page.headers.get('server-timing')).toContain('protect-work');
});
