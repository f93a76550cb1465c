/** Who passes without a session, and who takes from the budget for it. */
import { describe, expect, test } from 'vitest';
import { takeEffects } from '../../../src/edge/gate.ts';
import { judge } from '../../../src/edge/decide/judge.ts';
import { LimitCounts } from '../../../src/edge/limits/limit-counts.ts';
import { Pace } from '../../../src/edge/limits/pace.ts';
import { PendingBudget } from '../../../src/edge/limits/pending-budget.ts';
import { type SessionReading, SessionRenewals } from '../../../src/edge/session/sessions.ts';
import type { MatchedRule } from '../../../src/rules/types.ts';
import type { EdgeSession } from '../../../src/contract/edge/edge-responses.ts';
import { expectRows } from '../../support/rows.ts';
import { serviceSaid } from '../../support/service-client.ts';
import { NOW_MS, configOf, factsOf, sentenceOf, signalsOf } from './edge-fixture.ts';

const none: SessionReading = { status: 'none', jti: null, riskScore: null, detectors: 0, refresh: null, paid: null };

interface Visit {
  path?: string;
  method?: string;
  ip?: string;
  session?: SessionReading;
  network?: MatchedRule;
  client?: MatchedRule;
  policy?: object;
  pendingExempt?: string[];
}

/** A gate of one isolate, with a budget of two pages and no detectors, whose visitors have used their reserves. */
function gate() {
  const ports = { report: null, now: () => NOW_MS, sleep: async () => {}, count: () => {} };
  const pending = new PendingBudget(new LimitCounts(ports));
  const pace = new Pace(new LimitCounts(ports));
  for (const ip of ['192.0.2.1', '192.0.2.200']) {
    for (let page = 0; page < 2; page++) pending.take('page', ip, 2, NOW_MS);
  }
  return async (visit: Visit = {}) => {
    const { path = '/', method = 'GET', ip = '192.0.2.1', network = null, client = null } = visit;
    const config = await configOf(
      { pendingBudget: 2, ...visit.policy },
      { detectorWeights: [], pendingExempt: visit.pendingExempt ?? [] },
    );
    const renewals = new SessionRenewals({ session: async () => serviceSaid<EdgeSession>(null) }, () => {});
    const read = factsOf(path, { signals: signalsOf({ ip }) });
    const facts = { ...read, headers: { ...read.headers, method, accept: 'text/html' } };
    const judged = judge({
      facts,
      config,
      path: config.pathPolicy(facts.target, method),
      ruleset: { version: 1, match: () => ({ network, client, fired: [] }) },
      visitor: { bot: null, session: visit.session ?? none, clearance: null },
      held: null,
      hasRoom: (kind) => pending.hasRoom(kind, ip, config.policy.pendingBudget, NOW_MS),
      paceOf: () => ({ reading: null, payers: [] }),
    });
    const { verdict, effects } = takeEffects(judged, { pending, pace, renewals }, () => {});
    const { decision, source, decidedBy } = verdict;
    return { decision, source, decidedBy, explain: sentenceOf(verdict), pending: effects.pending };
  };
}
const rule = (type: MatchedRule['type']): MatchedRule => ({ id: `${type}:x`, type, verdict: 'allow', mode: 'enforce' });

describe('a page without a session', () => {
  test('passes while its network has budget, and is challenged after that', async () => {
    const visit = gate();
    expect(await visit()).toMatchObject({
      source: 'bootstrap-passthrough',
      decidedBy: 'policy:onPending',
      pending: 'page',
    });
    expect(await visit({ ip: '192.0.2.200', method: 'HEAD' })).toMatchObject({ decision: 'allow' });
    expect(await visit()).toMatchObject({ decision: 'challenge', source: 'policy', decidedBy: 'policy:pendingBudget' });
    expect((await visit()).explain).toContain('policy pendingBudget');
    expect(await visit({ ip: '198.51.100.1' })).toMatchObject({ decision: 'allow' });
  });

  test.each(['invalid-session', 'session-not-found'] as const)(
    'is one with the session status %s too',
    async (status) => {
      const visit = gate();
      await visit();
      await visit();
      expect(await visit({ session: { ...none, status } })).toMatchObject({ decidedBy: 'policy:pendingBudget' });
    },
  );

  test('past the budget gets what onChallenge says', async () => {
    const visit = gate();
    const policy = { enforcementPolicy: { html: { onChallenge: 'block' } } };
    for (let page = 0; page < 2; page++) await visit({ policy });
    expect(await visit({ policy })).toMatchObject({ decision: 'block', decidedBy: 'policy:pendingBudget' });
  });
});

describe('nothing is taken from the budget by', () => {
  const free: [string, Visit][] = [
    ['a visitor with a session', { session: { ...none, status: 'active', jti: 'j', riskScore: 0 } }],
    ['an instance without sessions', { session: { ...none, status: 'off' } }],
    ['an address that a rule allows', { network: rule('ip') }],
    ['a country that a rule allows', { network: rule('countryCode') }],
    ['a user agent that a rule allows', { client: rule('userAgent') }],
    ['a path that a rule allows', { policy: { pathRules: [{ pattern: '/**', action: 'allow' }] } }],
    [
      'a path that waives the session',
      { policy: { pathRules: [{ pattern: '/**', action: 'inherit', waiveSession: true }] } },
    ],
    ['an exempt path', { path: '/robots.txt' }],
    ['the gate’s own addresses', { path: '/__protect/protect.js' }],
    ['onPending pass', { policy: { enforcementPolicy: { html: { onPending: 'pass' } } } }],
    ['the older word allow', { policy: { enforcementPolicy: { html: { onPending: 'allow' } } } }],
    ['a network that is exempt', { pendingExempt: ['192.0.2.0/26', '2001:db8::/32'] }],
  ];

  test('what passes anyway', () =>
    expectRows(free, async ([, of]) => {
      const visit = gate();
      for (let page = 0; page < 5; page++) expect(await visit(of)).toMatchObject({ decision: 'allow', pending: null });
      expect(await visit()).toMatchObject({ decision: 'allow', pending: 'page' });
    }));

  test('what is challenged anyway: a post and a json path', async () => {
    const visit = gate();
    for (let page = 0; page < 5; page++) await visit({ method: 'POST' });
    for (let page = 0; page < 5; page++) await visit({ policy: { defaultPathType: 'json' } });
    expect(await visit()).toMatchObject({ decision: 'allow' });
  });
});
