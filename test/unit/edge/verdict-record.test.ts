/** What a verdict says beside its decision: the statuses, the explanation, and what it takes from a budget. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { verdictRecord } from '../../../src/contract/edge/verdict-record.ts';
import { unknownSite } from '../../../src/contract/edge/edge-responses.ts';
import { writtenPolicy } from '../../../src/contract/management/instance-settings.ts';
import type { Decision } from '../../../src/contract/vocabulary.ts';
import { unjudged } from '../../../src/edge/decide/context.ts';
import { policyRequest } from '../../../src/edge/decide/judge.ts';
import {
  isBlockedByRules,
  liftsLimits,
  pastBudget,
  type VerdictInputs,
  verdictOf,
} from '../../../src/decide/verdict.ts';
import type { SessionReading } from '../../../src/edge/session/sessions.ts';
import { quickCheck } from '../../../src/service/ingest/quick-check.ts';
import { NO_OUTCOME } from '../../../src/policies/outcome.ts';
import type { MatchedRule } from '../../../src/rules/types.ts';
import { factsOf, recordOfVerdict, sentenceOf, signalsOf, solvedClearance } from './edge-fixture.ts';

const QUIET = 'Allowed by default: nothing applies; ruleset version 7.';
const path = { pathType: 'html', action: 'inherit', pattern: null, waiveSession: false, exempt: false } as const;
const json = { ...path, pathType: 'json' } as const;
const rule = (verdict: Decision): MatchedRule => ({ id: `ip:${verdict}`, type: 'ip', verdict, mode: 'enforce' });
const session = (status: SessionReading['status']): SessionReading =>
  status === 'active'
    ? { status, jti: 'j', riskScore: 0, detectors: 0, refresh: null, paid: null }
    : { status, jti: null, riskScore: null, detectors: 0, refresh: null, paid: null };

function inputs(changes: Partial<Omit<VerdictInputs, 'match'>> & { network?: MatchedRule } = {}): VerdictInputs {
  const { network = null, ...others } = changes;
  return {
    policy: writtenPolicy.parse({}),
    site: unknownSite,
    path,
    method: 'GET',
    hasPendingRoom: true,
    pace: null,
    preflight: false,
    ofPage: true,
    signals: signalsOf(),
    bot: null,
    botAction: 'inherit',
    match: { network, client: null, fired: network === null ? [] : [network] },
    session: session('active'),
    risk: null,
    detectorNames: [],
    clearance: null,
    policies: NO_OUTCOME,
    ...others,
  };
}
const verdict = (...given: Parameters<typeof inputs>) => verdictOf(inputs(...given));

test('a request that nothing is said about is allowed by default', () => {
  expect(verdict()).toMatchObject({ decision: 'allow', source: 'default', explain: null, takesPending: false });
  expect(sentenceOf(verdict())).toBe(QUIET);
  expect(unjudged(factsOf()).verdict).toMatchObject({
    decision: 'allow',
    source: 'error',
    decidedBy: 'default',
    explain: '',
  });
});

test('an address that cannot be read is blocked, with the reason', () => {
  expect(verdict({ signals: signalsOf({ isAddressUnread: true }) })).toMatchObject({
    decision: 'block',
    source: 'error',
    decidedBy: 'default',
    inputs: null,
    explain: 'Blocked: x-client-ip of the proxy is not one address.',
    takesPending: false,
  });
});

test('an address that cannot be read is blocked by default, whatever else applies, and takes from no budget', () => {
  const unread = signalsOf({ isAddressUnread: true });
  expect(verdict({ signals: unread, network: rule('challenge') })).toMatchObject({
    source: 'error',
    decidedBy: 'default',
  });
  expect(verdict({ signals: unread, session: session('none') })).toMatchObject({
    decision: 'block',
    takesPending: false,
  });
});

describe('a page that was asked for as a file past the budget', () => {
  const policy = writtenPolicy.parse({ enforcementPolicy: { html: { onChallenge: 'block' } } });

  test('gets what onChallenge says, and its record says why', () => {
    const passed = verdict({ session: session('none') });
    const past = pastBudget(passed, policy);
    expect(past).toMatchObject({
      decision: 'block',
      source: 'policy',
      decidedBy: 'policy:pendingBudget',
      explain: 'The response was a page, asked for as a file: block by policy pendingBudget.',
    });
    expect(past.inputs).toEqual({ ...passed.inputs, policy: { verdict: 'block', reason: 'pendingBudget' } });
  });

  test('has no inputs where no table was applied', () => {
    expect(pastBudget(unjudged(factsOf()).verdict, policy).inputs).toBeNull();
  });
});

describe('a visitor whom rules block before anything else is known', () => {
  const nowMs = 1_800_000_000_500;
  const blocked = (network: MatchedRule | null, client: MatchedRule | null, policy = {}) => {
    const seconds: number[] = [];
    const match = (_: unknown, nowSeconds: number) => {
      seconds.push(nowSeconds);
      return { network, client, fired: [] };
    };
    const isBlocked = isBlockedByRules({ signals: signalsOf(), nowMs }, writtenPolicy.parse(policy), { match });
    return { isBlocked, seconds };
  };

  test('is one whom a network or a client rule blocks, where rules are enforced', () => {
    expect(blocked(rule('block'), null).isBlocked).toBe(true);
    expect(blocked(null, rule('block')).isBlocked).toBe(true);
    expect(blocked(rule('allow'), rule('block')).isBlocked).toBe(false);
    expect(blocked(rule('challenge'), null).isBlocked).toBe(false);
    expect(blocked(rule('block'), null, { monitor: true }).isBlocked).toBe(false);
    expect(blocked(rule('block'), null, { rollout: 0 }).isBlocked).toBe(false);
  });

  test('is looked for in the rules of this second', () => {
    expect(blocked(null, null).seconds).toEqual([1_800_000_000]);
  });
});

describe('the status of a session', () => {
  test('is waived where a path asks for none and there is none', () => {
    for (const changes of [{ waiveSession: true }, { exempt: true }]) {
      const waived = { ...path, ...changes };
      expect(verdict({ session: session('none'), path: waived }).sessionStatus).toBe('waived');
      expect(verdict({ path: waived }).sessionStatus).toBe('active');
    }
    expect(verdict({ session: session('none') }).sessionStatus).toBe('none');
  });

  test('is sent to a visitor who is challenged and has no session that is known', () => {
    const network = rule('challenge');
    const statusOf = (status: SessionReading['status']) => verdict({ session: session(status), network }).status;
    expect(statusOf('active')).toBeNull();
    expect(statusOf('none')).toBe('no-session');
    expect(statusOf('invalid-session')).toBe('invalid-session');
    expect(statusOf('session-not-found')).toBe('session-not-found');
  });

  test('is the answer to a call of any method on a json path', () => {
    for (const method of ['GET', 'POST']) {
      expect(verdict({ session: session('none'), path: json, method }), method).toMatchObject({
        decision: 'challenge',
        source: 'no-session',
        decidedBy: 'policy:noSession',
        status: 'no-session',
      });
    }
    const sentence = (status: SessionReading['status']) =>
      sentenceOf(verdict({ session: session(status), path: json }));
    expect(sentence('none')).toBe('Answered 401: a json path asks for a session (no-session).');
    expect(sentence('invalid-session')).toContain('(invalid-session)');
  });
});

test('what lifts a challenge is in its explanation, and nothing is where there was none', () => {
  const network = rule('challenge');
  expect(verdict({ network, clearance: solvedClearance })).toMatchObject({ decision: 'allow', source: 'clearance' });
  expect(sentenceOf(verdict({ network, clearance: solvedClearance }))).toMatch(/ Lifted: clearance\.$/);
  expect(sentenceOf(verdict({ network, preflight: true }))).toMatch(/ Lifted: preflight\.$/);
  expect(sentenceOf(verdict({ preflight: true }))).toBe(QUIET);
});

test('a log that does not take inputs gets the sentence in their place, as older services take records', () => {
  const { inputs: _, ...shape } = verdictRecord.shape;
  const older = z.strictObject({ ...shape, explain: z.string().check(z.maxLength(1024)) });
  const network = rule('challenge');
  const verdicts = [
    verdict(),
    verdict({ network }),
    verdict({ network, clearance: solvedClearance }),
    verdict({ session: session('none'), path: json }),
    verdict({ signals: signalsOf({ isAddressUnread: true }) }),
    unjudged(factsOf()).verdict,
  ];
  for (const one of verdicts) {
    const record = JSON.parse(JSON.stringify(recordOfVerdict(one, false))) as object;
    expect(older.parse(record)).toMatchObject({ explain: sentenceOf(one) });
    const newer = JSON.parse(JSON.stringify(recordOfVerdict(one))) as object;
    expect(quickCheck(verdictRecord)(newer)).toBe(true);
    expect('explain' in newer).toBe(one.inputs === null);
  }
});

test('a page without a session takes from the budget, unless something else decides or a challenge was solved', () => {
  const page = { session: session('none') };
  expect(verdict(page)).toMatchObject({ decision: 'allow', takesPending: true });
  expect(verdict({ ...page, network: rule('challenge') }).takesPending).toBe(false);
  expect(verdict({ ...page, network: rule('allow') }).takesPending).toBe(false);
  expect(verdict({ ...page, clearance: solvedClearance }).takesPending).toBe(false);
  expect(verdict().takesPending).toBe(false);
});

test('the mark of a request that no page prepared decides nothing', () => {
  const { firedRules } = verdict({ session: session('none'), method: 'POST', ofPage: false });
  expect(firedRules).toEqual([{ id: 'session:no-page', verdict: 'allow', mode: 'monitor' }]);
});

test('limits are not asked where a rule or a proved bot allows', () => {
  const bot = { id: 'examplebot', behaviours: ['search'], proof: 'dns' } as const;
  expect(liftsLimits(inputs())).toBe(false);
  expect(liftsLimits(inputs({ network: rule('challenge') }))).toBe(false);
  expect(liftsLimits(inputs({ network: rule('allow') }))).toBe(true);
  expect(liftsLimits(inputs({ bot, botAction: 'allow' }))).toBe(true);
  expect(liftsLimits(inputs({ bot, botAction: 'inherit' }))).toBe(false);
  expect(liftsLimits(inputs({ bot: { ...bot, proof: 'claimed' }, botAction: 'allow' }))).toBe(false);
});

test('a policy sees every reading of the path, or that there are too many', () => {
  const known = { bot: null, session: session('none'), path, risk: null } as never;
  const request = (raw: string) => policyRequest(factsOf(raw), known);
  expect(request('/a?b=1')).toMatchObject({ paths: ['/a'], query: '?b=1', sessionStatus: 'none', riskScore: null });
  const { paths } = request('/a;b/%2e%2e;c/d');
  expect(paths?.length).toBeGreaterThan(1);
  expect(paths?.[0]).toBe(factsOf('/a;b/%2e%2e;c/d').target.path);
});

test('onPending decides about a page without a session by itself, whatever the budget says', () => {
  const policy = writtenPolicy.parse({ enforcementPolicy: { html: { onPending: 'block', onChallenge: 'challenge' } } });
  for (const hasPendingRoom of [true, false]) {
    const told = verdict({ session: session('none'), policy, hasPendingRoom });
    expect(told).toMatchObject({ decision: 'block', decidedBy: 'policy:onPending' });
  }
});

test('a bot that is to pay is not asked for money where a rule blocks it', () => {
  const bot = { id: 'examplebot', behaviours: ['search'], proof: 'range' } as const;
  const told = verdict({ bot, botAction: 'charge', network: rule('block') });
  expect(told).toMatchObject({ decision: 'block', source: 'access-rule', isCharged: false });
});
