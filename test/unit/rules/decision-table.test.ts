/**
 * Every combination of the decision table, compared with an oracle that was written from the table in
 * `docs/access-rules.md` and not from the code: a list of inputs, each with the inputs that its `allow` lifts.
 */
import { describe, expect, test } from 'vitest';
import { type Decision, decisions } from '../../../src/contract/vocabulary.ts';
import { type DecideInputs, decide, liftedInputs } from '../../../src/rules/decision-table.ts';
import { explainVerdict } from '../../../src/rules/explain.ts';
import type { MatchedRule } from '../../../src/rules/types.ts';

type InputName = keyof DecideInputs;

const lifts = {
  ip: ['client', 'category', 'risk', 'policy'],
  ipMask: ['client', 'category', 'risk', 'policy'],
  asn: ['category', 'risk', 'policy'],
  countryCode: ['category', 'policy'],
  ja4Hash: ['policy'],
  userAgent: ['policy'],
  category: ['policy'],
  risk: [],
  policy: [],
} as const satisfies Record<string, readonly InputName[]>;

const rule = (type: MatchedRule['type'], verdict: Decision): MatchedRule => ({
  id: `${type}:value`,
  type,
  verdict,
  mode: 'enforce',
});

const networks = [
  null,
  ...(['ip', 'ipMask', 'asn', 'countryCode'] as const).flatMap((type) => decisions.map((v) => rule(type, v))),
];
const clients = [null, ...(['ja4Hash', 'userAgent'] as const).flatMap((type) => decisions.map((v) => rule(type, v)))];
const categories = [null, ...decisions.map((verdict) => ({ verdict, category: 'tor' }))];
const risks = [null, ...decisions.map((verdict) => ({ verdict, score: 0.6 }))];
const policies = [null, ...decisions.map((verdict) => ({ verdict, reason: 'onPending' }))];

function* everyCombination(): Generator<DecideInputs> {
  for (const network of networks)
    for (const client of clients)
      for (const category of categories)
        for (const risk of risks) for (const policy of policies) yield { network, client, category, risk, policy };
}

const order: readonly InputName[] = ['network', 'client', 'category', 'risk', 'policy'];

function oracle(inputs: DecideInputs): { decision: Decision; input: string; lifted: string[] } {
  const lifted = new Set<string>();
  for (const name of order) {
    const input = inputs[name];
    if (input?.verdict !== 'allow') continue;
    const kind = 'type' in input ? input.type : (name as 'category' | 'risk' | 'policy');
    for (const other of lifts[kind]) lifted.add(other);
  }
  const standing = order.filter((name) => inputs[name] !== null && !lifted.has(name));
  for (const decision of ['block', 'challenge', 'allow'] as const) {
    const first = standing.find((name) => inputs[name]?.verdict === decision);
    if (first) return { decision, input: first, lifted: [...lifted] };
  }
  return { decision: 'allow', input: 'default', lifted: [...lifted] };
}

describe('the decision table', () => {
  test('decides every combination as the table says', () => {
    let combinations = 0;
    for (const inputs of everyCombination()) {
      const expected = oracle(inputs);
      const actual = decide(inputs);
      combinations++;
      if (actual.decision !== expected.decision || actual.input !== expected.input) {
        expect({ inputs, ...actual }).toEqual({ inputs, ...expected });
      }
      expect(liftedInputs(inputs)).toEqual(
        order.filter((name) => inputs[name] !== null && expected.lifted.includes(name)),
      );
    }
    expect(combinations).toBe(13 * 7 * 4 * 4 * 4);
  });

  test('explains every combination in one bounded sentence that names the deciding input', () => {
    for (const inputs of everyCombination()) {
      const outcome = decide(inputs);
      const fired = [inputs.network, inputs.client].filter((one) => one !== null);
      const match = { network: inputs.network, client: inputs.client, fired };
      const text = explainVerdict({ match, inputs, outcome, rulesetVersion: 12 });
      expect(text).toMatch(/^(Allowed|Challenged|Blocked) by [^\n]+; ruleset version 12\.$/);
      expect(text).toContain({ allow: 'Allowed', challenge: 'Challenged', block: 'Blocked' }[outcome.decision]);
      const named = {
        category: 'category tor',
        risk: 'risk score 0.60',
        policy: 'policy onPending',
        default: 'default',
      };
      const decider =
        outcome.input === 'network' || outcome.input === 'client' ? outcome.decidedBy : named[outcome.input];
      expect(text.split(';')[0]).toContain(decider);
    }
  });

  test('names the fired rule, category, risk, policy or default that decided', () => {
    const none = { network: null, client: null, category: null, risk: null, policy: null };
    expect(decide(none).decidedBy).toBe('default');
    expect(decide({ ...none, network: rule('asn', 'allow') }).decidedBy).toBe('asn:value');
    expect(decide({ ...none, client: rule('userAgent', 'block') }).decidedBy).toBe('userAgent:value');
    expect(decide({ ...none, category: { verdict: 'block', category: 'tor' } }).decidedBy).toBe('category:tor');
    expect(decide({ ...none, risk: { verdict: 'challenge', score: 0.6 } }).decidedBy).toBe('risk:challenge');
    expect(decide({ ...none, policy: { verdict: 'allow', reason: 'onPending' } }).decidedBy).toBe('policy:onPending');
  });
});
