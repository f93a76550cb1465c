/** A session in its last minutes is renewed behind a response, and the next response has the new cookie. */
import { expect, test } from 'vitest';
import type { EdgeVisitor } from '../../../src/contract/edge/edge-api.ts';
import { takeEffects } from '../../../src/edge/gate.ts';
import { judge } from '../../../src/edge/decide/judge.ts';
import { LimitCounts } from '../../../src/edge/limits/limit-counts.ts';
import { Pace } from '../../../src/edge/limits/pace.ts';
import { PendingBudget } from '../../../src/edge/limits/pending-budget.ts';
import { SessionRenewals } from '../../../src/edge/session/sessions.ts';
import { sessionVisitorOf } from '../../../src/edge/session/visitor.ts';
import { ok } from '../../../src/result.ts';
import { NOW_MS, configOf, factsOf } from './edge-fixture.ts';

const successor = { jti: 'j', jwt: 'new', expiresAt: NOW_MS + 60_000, jwtExpiresAt: NOW_MS + 60_000 };
const counts = { report: null, now: () => NOW_MS, sleep: async () => {}, count: () => {} };

/**
 * The cookies that a visitor with this session gets, and the JWTs that the service is asked to renew. `meanwhile`: before
 * the service answers.
 */
function gate(refresh: string | null, meanwhile: (renewals: SessionRenewals) => void = () => {}) {
  const asked: string[] = [];
  const visitors: EdgeVisitor[] = [];
  const renew = async (visitor: EdgeVisitor, jwt: string) => {
    asked.push(jwt);
    visitors.push(visitor);
    meanwhile(renewals);
    return ok(successor);
  };
  const renewals: SessionRenewals = new SessionRenewals({ session: renew }, () => {});
  const pending = new PendingBudget(new LimitCounts(counts));
  const pace = new Pace(new LimitCounts(counts));
  const session = { status: 'active', jti: 'j', riskScore: 0, detectors: 0, refresh, paid: null } as const;
  const visitor = { bot: null, session, clearance: null };
  const visit = async () => {
    const [config, facts, work] = [await configOf(), factsOf(), [] as Promise<unknown>[]];
    const path = config.pathPolicy(facts.target, 'GET');
    const ruleset = { version: 1, match: () => ({ network: null, client: null, fired: [] }) };
    const judged = judge({
      facts,
      config,
      path,
      ruleset,
      visitor,
      held: null,
      hasRoom: () => true,
      paceOf: () => ({ reading: null, payers: [] }),
    });
    const { cookies } = takeEffects(judged, { pending, pace, renewals }, (one) => work.push(one));
    await Promise.all(work);
    return cookies;
  };
  return { asked, visitors, visit, renewals };
}

test('the cookie comes with the response after the renewal, which is asked for once', async () => {
  const { asked, visit } = gate('old');
  expect(await visit()).toEqual([]);
  expect(await visit()).toEqual(['protect_session=j|new; Path=/; Max-Age=60; SameSite=Lax; Secure']);
  expect(asked).toEqual(['old']);
});

test('a renewal is not handed out once the page has got a JWT with more work, whichever came first', async () => {
  const first = gate('old');
  await first.visit();
  first.renewals.replaced('old');
  expect([await first.visit(), first.asked]).toEqual([[], ['old']]);

  const second = gate('old', (renewals) => renewals.replaced('old'));
  expect([await second.visit(), await second.visit(), second.asked]).toEqual([[], [], ['old']]);
});

test('the service learns whose session it renews, with their risk and their headers', async () => {
  const { visitors, visit } = gate('old');
  await visit();
  const riskScore = visitors[0]?.riskScore ?? null;
  expect(visitors).toEqual([{ ...sessionVisitorOf(factsOf(), riskScore), requestId: expect.any(String) }]);
  expect(riskScore).toBeGreaterThan(0);
});

test('a session with time left is not renewed', async () => {
  const { asked, visit } = gate(null);
  expect([await visit(), await visit(), asked]).toEqual([[], [], []]);
});

test('a session whose old JWTs are all sent in turn is renewed once in fifteen seconds', async () => {
  const asked: string[] = [];
  const renew = async (_: EdgeVisitor, jwt: string) => {
    asked.push(jwt);
    return ok(successor);
  };
  const renewals = new SessionRenewals({ session: renew }, () => {});
  const work: Promise<unknown>[] = [];
  const send = (jti: string, jwt: string, nowMs: number) =>
    renewals.successorOf(
      { jti, jwt },
      () => sessionVisitorOf(factsOf(), null),
      nowMs,
      (one) => work.push(one),
    );
  for (let round = 0; round < 2; round++) {
    for (let index = 0; index < 4100; index++) send('j', `old ${index}`, NOW_MS + round * 14_999);
  }
  send('another', 'theirs', NOW_MS);
  send('j', 'old 7', NOW_MS + 15_000);
  await Promise.all(work);
  expect(asked).toEqual(['old 0', 'theirs', 'old 7']);
  expect(send('j', 'old 7', NOW_MS + 15_001)).toBe(successor);
});
