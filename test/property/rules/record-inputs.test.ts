/** A verdict record gives back what was decided from, and the sentence about it, whatever rules and paths are called. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type VerdictRecord, verdictRecord } from '../../../src/contract/edge/verdict-record.ts';
import { RECORD_FIRED_RULES_MAX } from '../../../src/contract/edge/record-bounds.ts';
import { botProofs, decisions, ipCategories } from '../../../src/contract/vocabulary.ts';
import { decide, type DecideInputs } from '../../../src/rules/decision-table.ts';
import { explainDecision, explainRecord } from '../../../src/rules/explain.ts';
import { inputsOfRecord, recordInputsOf } from '../../../src/rules/record-inputs.ts';
import type { MatchedRule } from '../../../src/rules/types.ts';
import { runs } from '../../support/properties.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';

const networkTypes = ['ip', 'ipMask', 'asn', 'countryCode'] as const;
const verdict = fc.constantFrom(...decisions);
/** Texts that look like the words of an explanation, and the longest ones. */
const misleading = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.constantFrom(
    'bot',
    'x; over policy onPending (block)',
    'limit:login',
    'risk:webdriver',
    'session:',
    'x'.repeat(300),
  ),
);
const rule = (id: fc.Arbitrary<string>, type: fc.Arbitrary<MatchedRule['type']>): fc.Arbitrary<MatchedRule> =>
  fc.record({ id, type, verdict, mode: fc.constant('enforce' as const) });
const network = fc.oneof(
  ...networkTypes.map((type) => rule(fc.constant(`${type}:value`), fc.constant(type))),
  // Entries of lists are networks of every kind, and an allow of each lifts something else.
  rule(fc.constant('list:networks'), fc.constantFrom(...networkTypes)),
);
const client = fc.constantFrom('userAgent' as const, 'ja4Hash' as const).chain((type) =>
  rule(
    misleading.map((text) => `${type}:${text}`),
    fc.constant(type),
  ),
);
const inputs: fc.Arbitrary<DecideInputs> = fc.record({
  network: fc.option(network),
  client: fc.option(client),
  bot: fc.option(fc.record({ verdict, id: misleading, proof: fc.constantFrom(...botProofs) })),
  category: fc.option(fc.record({ verdict, category: fc.constantFrom(...ipCategories) })),
  risk: fc.option(fc.record({ verdict, score: fc.double({ min: 0, max: 1, noNaN: true }) })),
  limit: fc.option(fc.record({ verdict, name: fc.constantFrom('login', 'api-2') })),
  policy: fc.option(
    fc.record({
      verdict,
      reason: fc.oneof(
        fc.constantFrom('onPending', 'noSession', 'no-admin'),
        misleading.map((path) => `path:/${path}`),
      ),
    }),
  ),
});
const fired = fc.array(
  fc.record({
    id: fc.oneof(
      misleading.map((text) => `userAgent:${text}`),
      fc.constantFrom('ip:192.0.2.1', 'list:others', 'policy:no-admin'),
    ),
    verdict,
    mode: fc.constantFrom('enforce' as const, 'monitor' as const),
  }),
  { maxLength: 12 },
);
/** Beside the rules in a record's list. */
const marks = ['limit:login', 'risk:webdriver', 'session:no-page'].map((id) => ({
  id,
  verdict: 'block' as const,
  mode: 'enforce' as const,
}));

/** As it is after its way to the log. */
function recordOf(from: DecideInputs, given: Partial<VerdictRecord>): VerdictRecord {
  const record = verdictRecordOf('i', {
    timestamp: 1_800_000_000_000,
    inputs: recordInputsOf(from),
    bot: from.bot && { id: from.bot.id, behaviours: [], proof: from.bot.proof },
    risk_score: from.risk?.score ?? 0.5,
    decision: decide(from).decision,
    ...given,
  });
  return JSON.parse(JSON.stringify(record)) as VerdictRecord;
}

test('a record has the inputs that it was written for, as its schema allows them', () => {
  fc.assert(
    fc.property(inputs, (given) => {
      const record = recordOf(given, {});
      expect(inputsOfRecord(record)).toEqual(given);
      expect(verdictRecord.shape.inputs.safeParse(record.inputs).success).toBe(true);
    }),
    { numRuns: runs(1000) },
  );
});

test('the sentence that a reader gets is the one that would have been written at the edge', () => {
  fc.assert(
    fc.property(inputs, fired, (given, rules) => {
      const written = explainDecision({ inputs: given, fired: rules, rulesetVersion: 7 });
      const kept = { fired_rules: [...rules, ...marks], ruleset_version: 7 };
      expect(explainRecord(recordOf(given, kept))).toBe(written);
      const passed = explainRecord(recordOf(given, { ...kept, decision: 'allow', source: 'clearance' }));
      const isLifted = decide(given).decision !== 'allow';
      expect(passed).toBe(`${written} ${isLifted ? 'Lifted' : 'In place of a session'}: clearance.`);
      const refused = recordOf(given, { ...kept, source: 'no-session', session_status: 'invalid-session' });
      expect(explainRecord(refused)).toBe('Answered 401: a json path asks for a session (invalid-session).');
    }),
    { numRuns: runs(1000) },
  );
});

test('a name that is too long for a record is cut between two characters', () => {
  const reason = `path:/x${'😀'.repeat(400)}`;
  const { policy } = recordInputsOf({ ...inputsOf(null), policy: { verdict: 'block', reason } });
  expect([policy?.reason.length, policy?.reason.isWellFormed()]).toEqual([319, true]);
});

test('a record without inputs has its own sentence, and tells nothing else', () => {
  for (const explain of ['The service is down.', '']) {
    const record = verdictRecordOf('i', { timestamp: 1, explain, fired_rules: marks });
    expect([explainRecord(record), inputsOfRecord(record)]).toEqual([explain, null]);
  }
  const none = verdictRecordOf('i', { timestamp: 1, inputs: undefined });
  expect(explainRecord(none)).toBe('');
});

function inputsOf(nothing: null): DecideInputs {
  return {
    network: nothing,
    client: nothing,
    bot: nothing,
    category: nothing,
    risk: nothing,
    limit: nothing,
    policy: nothing,
  };
}

test('the longest sentence with the word of a later step fits into a record', () => {
  const id = `userAgent:${'x'.repeat(300)}`;
  const rules = Array.from({ length: RECORD_FIRED_RULES_MAX }, (_, at) => ({
    id: `${at}${id}`,
    verdict: 'block' as const,
    mode: 'enforce' as const,
  }));
  const given: DecideInputs = {
    network: { id, type: 'ip', verdict: 'challenge', mode: 'enforce' },
    client: { id, type: 'userAgent', verdict: 'challenge', mode: 'enforce' },
    bot: { verdict: 'challenge', id, proof: 'claimed' },
    category: { verdict: 'challenge', category: 'tor' },
    risk: { verdict: 'challenge', score: 1 },
    limit: { verdict: 'challenge', name: 'x'.repeat(64) },
    policy: { verdict: 'challenge', reason: id },
  };
  const record = recordOf(given, { fired_rules: rules, decision: 'allow', source: 'clearance' });
  expect(explainRecord(record).length).toBeLessThanOrEqual(1024);
});
