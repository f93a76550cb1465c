/** The parts of a risk score in the verdict, and a threshold that is never reached. */
import { NO_OUTCOME } from '../../../src/policies/outcome.ts';
import { describe, expect, test } from 'vitest';
import { unknownSite } from '../../../src/contract/edge/edge-responses.ts';
import { detectorBits, riskDetectors } from '../../../src/contract/edge/risk-detectors.ts';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import { type VerdictInputs, verdictOf } from '../../../src/decide/verdict.ts';
import { contextOf, signalsOf } from './edge-fixture.ts';

const { path } = await contextOf('/');
const detectors = detectorBits(['webdriver', 'burst']);

function inputsOf(policy: object, fired: VerdictInputs['match']['fired'], risk: VerdictInputs['risk']): VerdictInputs {
  return {
    policy: instancePolicy.parse(policy),
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
    match: { network: null, client: null, fired },
    session: { status: 'active', riskScore: risk?.score ?? null },
    risk,
    clearance: null,
    policies: NO_OUTCOME,
    detectorNames: riskDetectors,
  };
}

function verdict(score: number, policy: object = {}, fired: VerdictInputs['match']['fired'] = [], bits = detectors) {
  return verdictOf(inputsOf(policy, fired, { score, detectors: bits }));
}

describe('a verdict', () => {
  test.each([
    [0.4, 'allow'],
    [0.65, 'challenge'],
    [0.9, 'block'],
  ])('at a score of %d lists the parts with their result: %s', (score, decision) => {
    expect(verdict(score)).toMatchObject({
      decision,
      firedRules: [
        { id: 'risk:webdriver', verdict: decision, mode: 'enforce' },
        { id: 'risk:burst', verdict: decision, mode: 'enforce' },
      ],
    });
  });

  test('lists rules before the parts of the score', () => {
    const rule = { id: 'asn:64496', type: 'asn' as const, verdict: 'challenge' as const, mode: 'monitor' as const };
    expect(verdict(0.2, {}, [rule]).firedRules.map(({ id }) => id)).toEqual([
      'asn:64496',
      'risk:webdriver',
      'risk:burst',
    ]);
  });

  test('never comes from a threshold of 1, not even at a score of 1', () => {
    expect(verdict(1, { blockThreshold: 1 })).toMatchObject({ decision: 'challenge', riskScore: 1 });
    expect(verdict(1, { challengeThreshold: 1, blockThreshold: 1 })).toMatchObject({ decision: 'allow', riskScore: 1 });
  });

  test('of an ordinary session allocates no new list', () => {
    const fired: VerdictInputs['match']['fired'] = [];
    expect(verdict(0, {}, fired, 0).firedRules).toBe(fired);
  });
});

describe('a request without a session', () => {
  const session = { status: 'none', jti: null, riskScore: null, detectors: 0, refresh: null } as const;
  const risky = { score: 0.7, detectors: detectorBits(['automation-user-agent', 'no-accept-language']) };
  const pending = (changes: Partial<VerdictInputs> = {}) =>
    verdictOf({ ...inputsOf({}, [], risky), session, ...changes });

  test('is challenged by what it shows of itself', () => {
    expect(pending()).toMatchObject({
      decision: 'challenge',
      source: 'risk',
      decidedBy: 'risk:challenge',
      riskScore: 0.7,
    });
    expect(pending().firedRules.map(({ id }) => id)).toEqual(['risk:automation-user-agent', 'risk:no-accept-language']);
  });

  test('is scored and not judged where a path or the instance asks for no session', () => {
    expect(pending({ path: { ...path, waiveSession: true } })).toMatchObject({ decision: 'allow', riskScore: 0.7 });
    expect(pending({ session: { ...session, status: 'off' } })).toMatchObject({ decision: 'allow', riskScore: 0.7 });
  });
});
