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
    const clearance = { level: 1, kind: 'pow', powDifficulty: 7, eased: false } as const;
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
