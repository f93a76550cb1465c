/** What the edge tells the service of who asks for a challenge: a session only where it has checked one. */
import { expect, test, vi } from 'vitest';
import { mintSessionJwt } from '../../../src/risk/session-token.ts';
import { paceWindow } from '../../../src/risk/pace.ts';
import { visitorBinding } from '../../../src/address/visitor-binding.ts';
import { clearanceCookie, newClearance } from '../../../src/edge/session/clearances.ts';
import { setClock } from '../../support/clock.ts';
import { NOW_MS, configOf, factsOf, signalsOf } from './edge-fixture.ts';
import { edgeWith } from './whole-edge.ts';

const USER_AGENT = 'Mozilla/5.0';
const SESSION = '0'.repeat(32);
const config = await configOf({}, { detectorWeights: [] });
const quiet = { version: 1, quietExplanation: '', match: () => ({ network: null, client: null, fired: [] }) };

async function sessionCookie(sxp: number): Promise<string> {
  const nowSeconds = NOW_MS / 1000;
  const window = paceWindow(NOW_MS);
  const claims = {
    jti: SESSION,
    sub: 'inst_1',
    iat: nowSeconds - 3600,
    exp: Math.min(sxp, nowSeconds + 300),
    sxp,
    risk: 0,
    bnd: await visitorBinding(null, USER_AGENT),
    pac: [window, 0, 0, 0, window] as const,
  };
  return `protect_session=${SESSION}|${await mintSessionJwt(config.sessionKeyOf('k2')!, 'k2', claims)}`;
}

async function ownClearance(): Promise<string> {
  const facts = factsOf('/', { signals: signalsOf({ ip: null, userAgent: USER_AGENT }) });
  const solved = { jti: 'clearance', level: 1, kind: 'pow', powDifficulty: 5.5, eased: false } as const;
  return (await clearanceCookie(await newClearance(config, facts, solved, null), config, NOW_MS)).split(';', 1)[0]!;
}

/** The session that the service is told of, and asked about when the challenge's token comes back. */
async function sessionTold(cookie: string): Promise<unknown> {
  setClock(NOW_MS);
  const asked: unknown[] = [];
  const service = (body: unknown) => {
    asked.push(body);
    return Response.json({ challenge: 'c', kind: 'pow', expiresAt: NOW_MS + 60_000 });
  };
  const { request } = edgeWith({ state: { config, ruleset: quiet }, service });
  const headers = {
    'user-agent': USER_AGENT,
    'content-type': 'application/json',
    origin: 'https://site.test',
    'sec-fetch-site': 'same-origin',
    cookie,
  };
  const response = await request('/__protect/challenge', { method: 'POST', headers, body: '{"sessionId":"claimed"}' });
  expect(response.status).toBe(200);
  vi.restoreAllMocks();
  expect(asked).toHaveLength(1);
  return (asked[0] as { sessionId?: string }).sessionId;
}

test('the service is told of an open session, and of none by its claim, a session that is over or a clearance', async () => {
  const nowSeconds = NOW_MS / 1000;
  expect(await sessionTold(await sessionCookie(nowSeconds + 3600))).toBe(SESSION);
  expect(await sessionTold('')).toBeUndefined();
  expect(await sessionTold(await sessionCookie(nowSeconds - 60))).toBeUndefined();
  expect(await sessionTold(await ownClearance())).toBeUndefined();
});
