/** What a session gets that is not within its pace, and that its record says how far beyond it was. */
import { describe, expect, test } from 'vitest';
import { unknownSite } from '../../../src/contract/edge/edge-responses.ts';
import { writtenPolicy } from '../../../src/contract/management/instance-settings.ts';
import type { Decision } from '../../../src/contract/vocabulary.ts';
import { recordedPace } from '../../../src/decide/pace-limit.ts';
import { pastPace, type VerdictInputs, verdictOf } from '../../../src/decide/verdict.ts';
import { NO_OUTCOME } from '../../../src/policies/outcome.ts';
import type { PaceState } from '../../../src/risk/pace.ts';
import { expectRows } from '../../support/rows.ts';
import { signalsOf } from './edge-fixture.ts';

const policyWith = (onChallenge: Decision) => writtenPolicy.parse({ enforcementPolicy: { html: { onChallenge } } });

function verdict(state: PaceState, onChallenge: Decision, changes: Partial<VerdictInputs> = {}) {
  return verdictOf({
    policy: policyWith(onChallenge),
    site: unknownSite,
    path: { pathType: 'html', action: 'inherit', pattern: null, waiveSession: false, exempt: false },
    method: 'GET',
    hasPendingRoom: true,
    pace: { state },
    preflight: false,
    ofPage: true,
    signals: signalsOf(),
    bot: null,
    botAction: 'inherit',
    match: { network: null, client: null, fired: [] },
    session: { status: 'active', riskScore: 0 },
    risk: null,
    detectorNames: [],
    clearance: null,
    policies: NO_OUTCOME,
    ...changes,
  });
}

test('a spent session gets what onChallenge says, one that is beyond is blocked, and the record tells them apart', () =>
  expectRows<[PaceState, Decision, Decision]>(
    [
      ['within', 'challenge', 'allow'],
      ['spent', 'challenge', 'challenge'],
      ['spent', 'block', 'block'],
      ['spent', 'allow', 'allow'],
      ['beyond', 'challenge', 'block'],
      ['beyond', 'block', 'block'],
      ['beyond', 'allow', 'block'],
    ],
    ([state, onChallenge, decision]) => {
      const found = verdict(state, onChallenge);
      expect(found.decision).toBe(decision);
      expect(recordedPace(found.firedRules)).toBe(state);
    },
  ));

test('a path that needs no session records nothing of it', () => {
  const path = { pathType: 'html', action: 'inherit', pattern: null, waiveSession: true, exempt: false } as const;
  expect(verdict('spent', 'challenge', { path }).firedRules).toEqual([]);
});

describe('a page that was asked for as a file', () => {
  const passed = verdict('within', 'challenge');

  test('was not let through by the clearance that is used up, so its record names none', () => {
    const path = { pathType: 'json', action: 'inherit', pattern: null, waiveSession: false, exempt: false } as const;
    const clearance = { level: 1, kind: 'pow', powDifficulty: 7, eased: false, isAged: false } as const;
    const cleared = verdict('within', 'challenge', { path, clearance, session: { status: 'none', riskScore: null } });
    expect(cleared).toMatchObject({ decision: 'allow', source: 'clearance', level: 1 });
    expect(pastPace(cleared, policyWith('challenge'), 'spent').level).toBeNull();
  });

  test('gets the same, and its record says as much', () =>
    expectRows<['spent' | 'beyond', Decision, Decision]>(
      [
        ['spent', 'challenge', 'challenge'],
        ['spent', 'block', 'block'],
        ['beyond', 'challenge', 'block'],
      ],
      ([state, onChallenge, decision]) => {
        const past = pastPace(passed, policyWith(onChallenge), state);
        expect(past).toMatchObject({ decision, decidedBy: 'limit:sessionPace' });
        expect(recordedPace(past.firedRules)).toBe(state);
      },
    ));
});

describe('a clearance whose `clearanceSeconds` are over', () => {
  const rule = { id: 'ip:x', type: 'ip', verdict: 'challenge', mode: 'enforce' } as const;
  const path = { pathType: 'html', action: 'inherit', pattern: null, waiveSession: false, exempt: false } as const;
  const none: Partial<VerdictInputs> = { session: { status: 'none', riskScore: null } };
  const clearance = { level: 1, kind: 'pow', powDifficulty: 7, eased: false, isAged: true } as const;
  const policyOf = (changes: object) => writtenPolicy.parse(changes);
  const ofPathRule = { path: { ...path, action: 'challenge', pattern: '/x' } } as const;
  const ofPolicy = { ...NO_OUTCOME, verdict: { name: 'own', action: 'challenge', level: 0 } } as const;
  const limit = { verdict: 'challenge', name: 'own' } as const;

  test('lifts what use costs, and nothing else', () =>
    expectRows<[says: string, decision: Decision, of: Partial<VerdictInputs>, state?: PaceState]>(
      [
        ['the budget of the network is used up', 'allow', { ...none, hasPendingRoom: false }],
        [
          'every newcomer is challenged',
          'allow',
          { ...none, policy: policyOf({ enforcementPolicy: { html: { onPending: 'captcha' } } }) },
        ],
        ['a form', 'allow', { ...none, method: 'POST' }],
        ['a call', 'allow', { ...none, path: { ...path, pathType: 'json' } }],
        ['a session that is spent', 'allow', {}, 'spent'],
        ['a rule', 'challenge', { ...none, match: { network: rule, client: null, fired: [] } }],
        ['a path rule', 'challenge', { ...none, ...ofPathRule }],
        [
          'a category',
          'challenge',
          {
            ...none,
            signals: signalsOf({ ipCategories: ['tor'] }),
            policy: policyOf({ ipCategoryRules: { tor: 'challenge' } }),
          },
        ],
        ['the risk', 'challenge', { ...none, risk: { score: 0.6, detectors: 0 } }],
        ['a path rule, for a session', 'challenge', ofPathRule],
        ['a path rule, for a session that is spent', 'challenge', ofPathRule, 'spent'],
        ['a policy, for a session that is spent', 'challenge', { policies: ofPolicy }, 'spent'],
        ['a limit, for a session that is spent', 'challenge', { limit }, 'spent'],
      ],
      ([, decision, of, state = 'within']) => {
        expect(verdict(state, 'challenge', { ...of, clearance }).decision).toBe(decision);
        expect(verdict(state, 'challenge', { ...of, clearance: { ...clearance, isAged: false } }).decision).toBe(
          'allow',
        );
      },
    ));
});
