/**
 * A session that is kept for its whole day: what its script gets from old JWTs, renewed again and again, and with the work
 * of one piece in a window. Sessions last for a day, so the clock is the test's.
 */
import { decodeJwt } from 'jose';
import { beforeAll, expect, test } from 'vitest';
import type { SessionChallenge } from '../../../src/contract/captcha/challenge-api.ts';
import type { EdgeVisitor } from '../../../src/contract/edge/edge-api.ts';
import { type EdgeSession, edgeSession } from '../../../src/contract/edge/edge-responses.ts';
import { PACE_WINDOW_MS, paceWindow, paidWorkAt, readPace, unitsOf } from '../../../src/risk/pace.ts';
import { paidWorkOf, type SessionClaims } from '../../../src/risk/session-token.ts';
import { later, testNow } from '../../support/clock.ts';
import { solvedSession, solveWork } from '../../support/session.ts';
import { CHROME, edgeVisitorAt, environmentOf } from '../../unit/risk/session-facts.ts';
import { call, newAccount, send } from './service-under-test.ts';

const PAGE = unitsOf('html', { html: 60, json: 600 });
const FREE_PAGES = 4;
const PAGES_OF_A_PIECE = 60 / 8;
const WINDOWS_OF_A_DAY = 144;
let clientJwt: string;

beforeAll(async () => {
  const { token, site } = await newAccount();
  const instance = { name: 'Gate', cname: 'stock.example.org', globalSiteKey: site.siteKey };
  const { body } = await call(token, '/protect/instances/create', instance);
  const issued = { protectInstanceId: body.id as string, expiresInWeeks: 1 };
  clientJwt = (await call(token, '/protect/client-jwt/generate', issued)).body.clientJwt as string;
});

let visitors = 0;
function newVisitor(): EdgeVisitor {
  const visitor = edgeVisitorAt(`192.0.2.${++visitors}`);
  return { ...visitor, requestId: crypto.randomUUID(), host: 'stock.example.org' };
}

class Script {
  readonly #visitor = newVisitor();
  /** Units of each window. */
  readonly #used = new Map<number, number>();
  session!: EdgeSession;
  pages = 0;

  #opening: object = {};

  async open(): Promise<void> {
    const { body } = await this.#post({ page: {} });
    this.#opening = await solvedSession(body as SessionChallenge, environmentOf({ userAgent: CHROME }));
    await this.openAgain();
  }

  /** Sends what opened the session, without a JWT. */
  async openAgain(): Promise<void> {
    const page = { ...this.#opening, work: true };
    this.session = edgeSession.parse((await this.#post({ page })).body);
  }

  /** By any JWT of the session. */
  async renew(jwt = this.session.jwt): Promise<void> {
    this.session = edgeSession.parse((await this.#post({ jwt, page: {} })).body);
  }

  /** Solves the next piece, which is asked for where none was given. */
  async work(): Promise<void> {
    const { work } = this.session.work ? this.session : await this.#sent({ work: true });
    const { challenge, pow } = work as unknown as SessionChallenge;
    this.session = await this.#sent({ challenge, solution: await solveWork(pow), work: true });
  }

  /** Asks for pages until the edge lets none through. */
  read(): number {
    const window = paceWindow(testNow());
    const paid = paidWorkAt(paidWorkOf(decodeJwt<SessionClaims>(this.session.jwt).pac!), window);
    const before = this.#used.get(window - 1) ?? 0;
    for (let pages = 0; ; pages++) {
      const now = this.#used.get(window) ?? 0;
      if (readPace(paid, { before, now }).state !== 'within') return pages;
      this.#used.set(window, now + PAGE);
      this.pages += 1;
    }
  }

  async #sent(page: object): Promise<EdgeSession> {
    return edgeSession.parse((await this.#post({ jwt: this.session.jwt, page })).body);
  }

  async #post(question: object): Promise<{ status: number; body: unknown }> {
    const headers = { authorization: `Bearer ${clientJwt}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ visitor: this.#visitor, ...question });
    const response = await send('/edge/v1/sessions', { method: 'POST', headers, body });
    return { status: response.status, body: await response.json() };
  }
}

async function opened(): Promise<Script> {
  const script = new Script();
  await script.open();
  return script;
}

test('a session that never works has four pages, however long it is kept and whichever JWT renews it', async () => {
  const script = await opened();
  const { jwt } = script.session;
  for (let window = 0; window < WINDOWS_OF_A_DAY - 1; window++) {
    await script.renew(window % 2 === 0 ? jwt : undefined);
    script.read();
    later(PACE_WINDOW_MS);
  }
  expect(script.pages).toBe(FREE_PAGES);
});

test('a JWT with one piece of work brings one advance more, however often it is renewed', async () => {
  const script = await opened();
  await script.work();
  const { jwt } = script.session;
  script.read();
  for (let window = 0; window < 20; window++) {
    later(PACE_WINDOW_MS);
    await script.renew(jwt);
    script.read();
  }
  expect(script.pages).toBe(Math.ceil(FREE_PAGES + PAGES_OF_A_PIECE) + FREE_PAGES);
});

test('a piece in each window brings its own pages and an advance in the next', async () => {
  const script = await opened();
  for (let window = 0; window < 3; window++) {
    await script.work();
    script.read();
    later(PACE_WINDOW_MS);
    await script.renew();
  }
  expect(script.read()).toBe(FREE_PAGES);
  expect(script.pages).toBe(3 * Math.ceil(FREE_PAGES + PAGES_OF_A_PIECE) + FREE_PAGES);
});

test('who comes back to an open page hours later has an advance, and so have two tabs that renew at once', async () => {
  const script = await opened();
  await script.work();
  const { jwt } = script.session;
  later(20 * PACE_WINDOW_MS);
  await script.renew(jwt);
  expect(script.read()).toBe(FREE_PAGES);
  const other = script.session.jwt;
  await script.renew(jwt);
  expect(decodeJwt<SessionClaims>(script.session.jwt).pac).toEqual(decodeJwt<SessionClaims>(other).pac);
});

test('what opened a session, sent again after the end of its window, brings no second advance', async () => {
  // One minute before the end. A challenge is good for some minutes.
  later(2 * PACE_WINDOW_MS - 60_000 - (testNow() % PACE_WINDOW_MS));
  const script = await opened();
  const { jti } = script.session;
  script.read();
  later(2 * 60_000);
  await script.openAgain();
  expect(script.session.jti).toBe(jti);
  expect(script.read()).toBe(0);
  expect(script.pages).toBe(FREE_PAGES);
});

test('a renewal with an advance brings the work for the next one', async () => {
  const script = await opened();
  await script.work();
  await script.work();
  expect(script.session.work).toBeUndefined();
  later(PACE_WINDOW_MS);
  await script.renew();
  // It has more than a quarter of its allowance ahead.
  await script.work();
  later(2 * PACE_WINDOW_MS);
  await script.renew();
  expect(script.read()).toBe(FREE_PAGES);
});
