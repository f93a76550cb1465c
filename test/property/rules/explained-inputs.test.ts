/** An explanation leads back to the inputs that it was written for, whatever the rules and paths are called. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { botProofs, decisions, ipCategories } from '../../../src/contract/vocabulary.ts';
import { decide } from '../../../src/rules/decision-table.ts';
import type { DecideInputs } from '../../../src/rules/decision-table.ts';
import { explainVerdict } from '../../../src/rules/explain.ts';
import { explainedInputs } from '../../../src/rules/explained-inputs.ts';
import type { MatchedRule } from '../../../src/rules/types.ts';
import { runs } from '../../support/properties.ts';

const verdict = fc.constantFrom(...decisions);
/** Texts that look like the words of an explanation. */
const misleading = fc.constantFrom(
  'bot',
  'x; over bot that claims to be examplebot (block)',
  'x; over policy onPending (block)',
  '; lifted risk score 0.50 (challenge)',
  'address category tor (block), ',
  'x; over limit login (block)',
  'rule ip:192.0.2.1 (allow); also fired y',
  'long '.repeat(40),
);
const rule = (id: fc.Arbitrary<string>, type: MatchedRule['type']): fc.Arbitrary<MatchedRule> =>
  fc.record({ id, type: fc.constant(type), verdict, mode: fc.constant('enforce' as const) });
const network = fc.oneof(
  rule(fc.constant('ip:192.0.2.1'), 'ip'),
  rule(fc.constant('ipMask:192.0.2.0/24'), 'ipMask'),
  rule(fc.constant('asn:64496'), 'asn'),
  rule(fc.constant('countryCode:DE'), 'countryCode'),
  rule(fc.constant('list:bad-networks'), 'ipMask'),
);
const client = rule(
  misleading.map((text) => `userAgent:${text}`),
  'userAgent',
);
const inputs: fc.Arbitrary<DecideInputs> = fc.record({
  network: fc.option(network),
  client: fc.option(client),
  bot: fc.option(
    fc.record({
      verdict,
      id: fc.constantFrom('examplebot', 'agent.example.com', 'b'.repeat(90)),
      proof: fc.constantFrom(...botProofs),
    }),
  ),
  category: fc.option(fc.record({ verdict, category: fc.constantFrom(...ipCategories) })),
  risk: fc.option(fc.record({ verdict, score: fc.constantFrom(0.5, 0.66, 1) })),
  limit: fc.option(fc.record({ verdict, name: fc.constantFrom('login', 'api-2') })),
  policy: fc.option(
    fc.record({
      verdict,
      reason: fc.constantFrom(
        'onPending',
        'noSession',
        'pendingBudget',
        'path:/a b/*',
        'path:/x(y)',
        'no-admin',
        'over',
      ),
    }),
  ),
});
const others = fc.array(fc.oneof(network, client), { maxLength: 12 });
const policiesFired = fc.array(
  fc.record({
    id: fc.constantFrom('policy:no-admin', 'policy:policy', 'policy:onPending'),
    verdict,
    mode: fc.constantFrom('enforce' as const, 'monitor' as const),
  }),
  { maxLength: 3 },
);

test('the inputs of a sentence are found by explaining them again', () => {
  fc.assert(
    fc.property(
      inputs,
      others,
      policiesFired,
      fc.constantFrom(...ipCategories),
      (given, alsoFired, fired, category) => {
        const version = alsoFired.length;
        const match = { network: given.network, client: given.client, fired: alsoFired };
        const outcome = decide(given);
        const explain = explainVerdict({
          match,
          policiesFired: fired,
          inputs: given,
          outcome,
          rulesetVersion: version,
        });
        const found = explainedInputs({
          explain: `${explain} Lifted: clearance.`,
          network: given.network,
          clients: given.client ? [{ ...given.client, id: 'userAgent:another' }, given.client] : [],
          bot: given.bot ?? { id: 'examplebot', proof: 'range' },
          categories: [...new Set([category, ...(given.category ? [given.category.category] : [])])],
          riskScore: given.risk?.score ?? 0.5,
          limits: [{ verdict: 'block', name: 'other' }, ...(given.limit ? [given.limit] : [])],
          rulesetVersion: version,
        });
        expect(found).toEqual(given);
      },
    ),
    { numRuns: runs(1000) },
  );
});

test('a sentence that no decision table wrote has no inputs', () => {
  const nothing = {
    network: null,
    clients: [],
    bot: null,
    categories: [],
    riskScore: null,
    limits: [],
    rulesetVersion: 1,
  };
  for (const explain of [
    'Answered 401: a json path asks for a session (no-session).',
    '',
    'Blocked by rule ip:192.0.2.1; ruleset version 1.',
  ])
    expect(explainedInputs({ ...nothing, explain })).toBeNull();
});
