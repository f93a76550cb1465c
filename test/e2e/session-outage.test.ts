/** Sessions while the service is away: what a visitor with one keeps, and what a newcomer can still earn. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { decodeJwt } from 'jose';
import { startDemoOrigin, type DemoOrigin } from '../../src/cli/demo/origin.ts';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import type { ChallengeResponse, SessionChallenge } from '../../src/contract/captcha/challenge-api.ts';
import { levelOf, squaringsOf } from '../../src/captcha/pow/rsw-key.ts';
import { sessionDifficulty } from '../../src/captcha/plan/tariffs.ts';
import type { SessionClaims } from '../../src/risk/session-token.ts';
import { FIREFOX, browse } from '../support/browse.ts';
import { sessionAt } from '../support/edge-session.ts';
import { freePortBase } from '../support/ports.ts';
import { startRawWorker, type RawWorker } from '../support/raw-workerd.ts';
import { solvedSession } from '../support/session.ts';
import { eventually } from '../support/stack.ts';
import { startUpstream, type Upstream } from './edge-upstream.ts';
import { stackNow } from '../support/clock.ts';

/** The upstream mints its sessions for the browser that `browse` is. */
const NEWCOMER = { 'user-agent': FIREFOX.replace('Linux x86_64', 'Linux aarch64') };
/** Hashes that a native core computes in the time of one squaring. */
const HASHES_PER_SQUARING = 57;
/** Without work, in one window. A test that sees the end of a window gets it twice. */
const FREE_CALLS = 40;
let source: string;
let upstream: Upstream;
let origin: DemoOrigin;
const workers: RawWorker[] = [];

beforeAll(async () => {
  source = await bundleWorker('src/edge/index.ts');
  upstream = await startUpstream();
  upstream.setPolicy({ sessionsEnabled: true, endpointRules: [{ pattern: '/api/**', pathType: 'json' }] });
  origin = await startDemoOrigin(await freePortBase());
});
beforeEach(() => {
  upstream.trouble = 'none';
  upstream.sessionTrouble = false;
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await origin?.close();
  await upstream?.stop();
});

/** An edge that has its rules; then the service fails and, once `isNoticed`, the edge knows. */
async function edgeInOutage(vars: Record<string, string> = {}): Promise<string> {
  const worker = await startRawWorker({
    source,
    compatibilityDate: '2026-10-01',
    compatibilityFlags: ['global_fetch_strictly_public'],
    vars: {
      SERVICE_URL: upstream.url,
      ORIGIN_URL: origin.url,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: 'a-secret-of-the-operators-proxy',
      CLIENT_JWT: upstream.clientJwt,
      OPS_TOKEN: 'a-token-of-the-operators',
      RULES_POLL_SECONDS: '0.1',
      RULES_MAX_STALE_SECONDS: '0.1',
      ...vars,
    },
  });
  workers.push(worker);
  await eventually(
    () => api(worker.url),
    (response) => response.status === 401,
  );
  return worker.url;
}

/** Returns once the edge has found out that the service fails. */
async function breakService(url: string, session: string): Promise<void> {
  upstream.trouble = 'error';
  await eventually(
    () => api(url, { cookie: session }),
    (response) => response.status === 200,
  );
}

const api = (url: string, headers: Record<string, string> = NEWCOMER) => browse(`${url}/api/time`, { headers });
const sessionWith = async (claims: Partial<SessionClaims>) =>
  `protect_session=jti-1|${await upstream.mintSession(claims)}`;
/** A session that lives on, with a JWT whose time is over. */
const idleSession = () => sessionWith({ exp: Math.floor(stackNow() / 1000) - 60 });

describe('a visitor with a session', () => {
  test('keeps it although its JWT cannot be renewed, without work', async () => {
    const url = await edgeInOutage();
    const cookie = await idleSession();
    expect((await api(url, { cookie })).status).toBe(401);
    await breakService(url, cookie);
    const { status, body } = await sessionAt(url, { cookie })({});
    expect([status, body]).toEqual([200, { jti: 'jti-1' }]);
  });
});

describe('a newcomer', () => {
  test('earns a short session with the edge’s own challenge', async () => {
    const url = await edgeInOutage();
    await breakService(url, await idleSession());
    const post = sessionAt(url, NEWCOMER);
    const asked = await post({});
    const challenge = asked.body as SessionChallenge;
    expect([asked.status, challenge.pow.lane]).toEqual([200, 'sha256']);
    const solved = await solvedSession(challenge);
    const opened = await post(solved);
    expect(opened.status).toBe(200);
    expect((await api(url, { ...NEWCOMER, cookie: opened.cookie })).status).toBe(200);
    const { sxp, risk } = decodeJwt<SessionClaims>(opened.cookie.split('|')[1] ?? '');
    expect(sxp * 1000 - stackNow()).toBeLessThanOrEqual(600_000);
    expect(risk).toBe(0);

    const again = await post(solved);
    expect((again.body as { jti: string }).jti).toBe((opened.body as { jti: string }).jti);
    const wrong = await post({ ...solved, solution: { counters: 'AAAA' } });
    expect(wrong.status).toBe(400);
    const stolen = await sessionAt(url, { 'user-agent': 'another' })(solved);
    expect([stolen.status, stolen.cookie]).toEqual([400, '']);
  });

  test('pays for it a quarter of what a session costs, and gets forty answers of an API for it', async () => {
    const url = await edgeInOutage();
    await breakService(url, await idleSession());
    const post = sessionAt(url, NEWCOMER);
    const challenge = (await post({})).body as SessionChallenge;
    const { count = 0, bits = 0 } = challenge.pow;
    const squarings = squaringsOf(levelOf(sessionDifficulty(0)));
    expect((count * 2 ** bits) / squarings).toBeCloseTo(HASHES_PER_SQUARING / 4, 0);
    const { cookie } = await post(await solvedSession(challenge));
    let calls = 0;
    for (let call = 0; call < 100; call++) {
      if ((await api(url, { ...NEWCOMER, cookie })).status === 200) calls += 1;
    }
    expect(calls).toBeGreaterThanOrEqual(FREE_CALLS);
    expect(calls).toBeLessThanOrEqual(2 * FREE_CALLS);
  });

  test('cannot use the edge’s challenge of a clearance for it, nor this one for a clearance', async () => {
    const url = await edgeInOutage();
    await breakService(url, await idleSession());
    const post = async (path: string, body: object) => {
      const response = await browse(`${url}/__protect/${path}`, {
        method: 'POST',
        headers: { ...NEWCOMER, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return { status: response.status, body: await response.json() };
    };
    const clearance = (await post('challenge', { action: 'clearance' })).body as ChallengeResponse;
    const forSession = await solvedSession({ ...clearance, pow: clearance.pow! });
    expect((await post('session', forSession)).status).toBe(400);
    const session = await solvedSession((await post('session', {})).body as SessionChallenge);
    const { challenge, solution } = session;
    expect((await post('solution', { challenge, solution })).body).toMatchObject({ verified: false });
  });

  test('gets none from a service whose last check was in order', async () => {
    const url = await edgeInOutage();
    upstream.sessionTrouble = true;
    const { status, headers, cookie } = await sessionAt(url, NEWCOMER)({});
    expect([status, headers.get('retry-after'), cookie]).toEqual([503, '5', '']);
  });

  test('gets none with FAIL_MODE_CHALLENGE closed', async () => {
    const url = await edgeInOutage({ FAIL_MODE_CHALLENGE: 'closed' });
    await breakService(url, await idleSession());
    expect((await sessionAt(url, NEWCOMER)({})).status).toBe(503);
    expect((await api(url)).status).toBe(401);
  });
});
