/** A visitor who did what the service asked for is never asked for more by the edge, and harder proof is never worse. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseChallenge, siteDemandOf } from '../../../src/captcha/plan/choose-challenge.ts';
import { type Demand, demandAt, meets, type Proof, proofFrom } from '../../../src/captcha/plan/demand.ts';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import { siteSettings } from '../../../src/contract/management/site-settings.ts';
import { captchaTypes, challengeKinds } from '../../../src/contract/vocabulary.ts';

const share = fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100);
const difficulty = fc.integer({ min: 2, max: 20 }).map((half) => half / 2);
const level = fc.integer({ min: 0, max: 2 });
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const settings = fc
  .record({
    captchaType: fc.constantFrom(...captchaTypes),
    frictionlessThreshold: share,
    frictionlessTypes: fc.record({ image: fc.boolean(), puzzle: fc.boolean() }),
    powDifficulty: difficulty,
    minimumLevel: level,
  })
  .map((given) => siteSettings.parse({ domains: ['example.com'], ...given }));
const policy = fc
  .record({
    challengeDifficulty: fc.array(
      fc
        .record({
          minScore: share,
          captchaType: optional(fc.constantFrom(...challengeKinds)),
          powDifficulty: optional(fc.integer({ min: 1, max: 10 })),
        })
        .map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))),
      { maxLength: 4 },
    ),
    challengeThreshold: share,
    clearanceLevel: level,
  })
  .map((given) => instancePolicy.parse(given));
const rule = fc.option(
  fc.record({
    type: fc.constant('restrict' as const),
    captchaType: fc.constantFrom(...captchaTypes),
    powDifficulty: difficulty,
  }),
);
const capabilities = fc.record({
  bigint: fc.boolean(),
  worker: fc.boolean(),
  script: fc.boolean(),
  audio: fc.boolean(),
});
const kind = fc.constantFrom(...challengeKinds);
const traits = { categories: null, network: null, abuseScore: null };

function planOf(given: {
  settings: ReturnType<typeof siteSettings.parse>;
  policy: ReturnType<typeof instancePolicy.parse>;
  rule: Parameters<typeof chooseChallenge>[0]['demand'];
  risk: number;
  capabilities: Parameters<typeof chooseChallenge>[0]['capabilities'];
}) {
  const { risk } = given;
  const instance = { policy: given.policy, risk };
  const inputs = { settings: given.settings, capabilities: given.capabilities, demand: given.rule, traits, instance };
  return chooseChallenge({ ...inputs, score: risk, webView: false });
}

describe('what the service asks for', () => {
  test('is enough for the edge at the same risk', () => {
    fc.assert(
      fc.property(fc.record({ settings, policy, risk: share, capabilities }), (given) => {
        const plan = planOf({ ...given, rule: null });
        fc.pre(plan !== null);
        const demand = demandAt(siteDemandOf(given.settings), given.policy, given.risk);
        expect(meets(proofFrom(plan), demand)).toBe(true);
      }),
    );
  });

  test('is enough for the edge where a rule eases it, and the edge knows that', () => {
    fc.assert(
      fc.property(fc.record({ settings, policy, rule, risk: share, capabilities }), (given) => {
        const plan = planOf(given);
        fc.pre(plan !== null);
        const demand = demandAt(siteDemandOf(given.settings), given.policy, given.risk, true);
        expect(meets(proofFrom(plan), demand)).toBe(true);
      }),
    );
  });
});

test('a harder proof meets every demand that an easier one meets, and work is worth more than waiting', () => {
  const proof: fc.Arbitrary<Proof> = fc.record({ kind, powDifficulty: fc.oneof(fc.constant(0), difficulty) });
  const demand: fc.Arbitrary<Demand> = fc.record({ kind, powDifficulty: difficulty, mayWait: fc.boolean() });
  fc.assert(
    fc.property(proof, demand, difficulty, (easier, wanted, more) => {
      fc.pre(meets(easier, wanted) && easier.powDifficulty > 0);
      expect(meets({ ...easier, powDifficulty: Math.max(easier.powDifficulty, more) }, wanted)).toBe(true);
      expect(meets({ ...easier, kind: 'image' }, wanted)).toBe(true);
    }),
  );
});
