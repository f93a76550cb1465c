/** The challenge of a session at the service: for whom, for how long, and how often it counts. */
import { describe, expect, test } from 'vitest';
import { type EdgeVisitor } from '../../../src/contract/edge/edge-api.ts';
import { edgeSession } from '../../../src/contract/edge/edge-responses.ts';
import type { SessionChallenge } from '../../../src/contract/captcha/challenge-api.ts';
import { later } from '../../support/clock.ts';
import { PERSONS_BROWSER, solvedSession, type SolvedSession } from '../../support/session.ts';
import { readRisk } from '../../../src/store/risk-book/client/session-risk.ts';
import { CHROME, edgeVisitorAt } from '../../unit/risk/session-facts.ts';
import { call, newAccount, serviceEnv } from './service-under-test.ts';

const MINUTE_MS = 60_000;
const visitor = edgeVisitorAt('192.0.2.1');

let names = 0;
async function newEdge() {
  const owner = await newAccount();
  const { body: instance } = await call(owner.token, '/protect/instances/create', {
    name: 'Shop',
    cname: `challenge${names++}.example.org`,
    globalSiteKey: owner.site.siteKey,
  });
  const issued = await call(owner.token, '/protect/client-jwt/generate', {
    protectInstanceId: instance.id,
    expiresInWeeks: 1,
  });
  const post = (page: object, from: EdgeVisitor = visitor, jwt?: string) =>
    call(issued.body.clientJwt, '/edge/v1/sessions', { visitor: from, page, ...(jwt === undefined ? {} : { jwt }) });
  return {
    owner,
    instanceId: instance.id as string,
    post,
    solved: async (environment = PERSONS_BROWSER): Promise<SolvedSession> =>
      solvedSession((await post({})).body as SessionChallenge, environment),
  };
}
const refusal = ({ status, body }: { status: number; body: { error: { message: string } } }) => [
  status,
  body.error.message,
];

describe('a solved challenge', () => {
  test('opens a session with what its report of the browser gives away, and keeps no more of it', async () => {
    const { post, solved, instanceId } = await newEdge();
    const page = await solved({ ...PERSONS_BROWSER, traits: ['webdriver'], system: 'linux' });
    const session = edgeSession.parse((await post(page)).body);
    const state = await readRisk(serviceEnv, instanceId, session.jti);
    const environment = { traits: ['webdriver'], findings: ['contradictory-system'] };
    expect(state).toMatchObject({ environment, userAgent: CHROME });
    expect(JSON.stringify(state)).not.toContain('direct3d');
  });

  test('of another instance is refused', async () => {
    const one = await newEdge();
    const other = await newEdge();
    const solved = await one.solved();
    expect(refusal(await other.post(solved))).toEqual([400, 'The challenge was issued for another visitor']);
    expect((await one.post(solved)).status).toBe(200);
  });

  test('counts for five minutes', async () => {
    const { post, solved } = await newEdge();
    const late = await solved();
    later(5 * MINUTE_MS);
    expect(refusal(await post(late))).toEqual([400, 'The challenge has expired; ask for a new one']);
  });

  test('returns the same session with the same end when a response was lost, for ten minutes', async () => {
    const { post, solved } = await newEdge();
    const page = await solved();
    const first = edgeSession.parse((await post(page)).body);
    later(4 * MINUTE_MS);
    const again = edgeSession.parse((await post(page)).body);
    expect([again.jti, again.expiresAt]).toEqual([first.jti, first.expiresAt]);
    expect(again.jwtExpiresAt).toBeGreaterThan(first.jwtExpiresAt);
  });

  test('is refused after its session was erased', async () => {
    const { post, solved, owner, instanceId } = await newEdge();
    const page = await solved();
    const { jti } = edgeSession.parse((await post(page)).body);
    await call(owner.token, '/protect/sessions/erase', { jti, siteKey: owner.site.siteKey });
    expect(refusal(await post(page))).toEqual([400, 'The challenge was used before; ask for a new one']);
    expect(await readRisk(serviceEnv, instanceId, jti)).toBeNull();
  });

  test('is not spent where the visitor’s own session can be renewed', async () => {
    const { post, solved } = await newEdge();
    const session = edgeSession.parse((await post(await solved())).body);
    const page = await solved();
    expect(edgeSession.parse((await post(page, visitor, session.jwt)).body).jti).toBe(session.jti);
    expect(edgeSession.parse((await post(page)).body).jti).not.toBe(session.jti);
  });

  test('names what is missing', async () => {
    const { post, solved } = await newEdge();
    const { challenge } = await solved();
    const { status, body } = await post({ challenge });
    expect([status, body.error.details]).toEqual([
      400,
      [
        { path: 'page.solution', message: 'is missing' },
        { path: 'page.environment', message: 'is missing' },
      ],
    ]);
  });
});
