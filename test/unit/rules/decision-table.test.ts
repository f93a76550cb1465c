/**
 * Every combination of the decision table, compared with an oracle that was written from the table in
 * `docs/access-rules.md` and not from the code: a list of inputs, each with the inputs that its `allow` lifts.
 */
import { describe, expect, test } from 'vitest';
import { type Decision, botProofs, decisions } from '../../../src/contract/vocabulary.ts';
import { type DecideInputs, decide, liftedInputs } from '../../../src/rules/decision-table.ts';
import { explainDecision } from '../../../src/rules/explain.ts';
import type { MatchedRule } from '../../../src/rules/types.ts';

type InputName = keyof DecideInputs;

const lifts = {
  ip: ['client', 'bot', 'category', 'risk', 'limit', 'policy'],
  ipMask: ['client', 'bot', 'category', 'risk', 'limit', 'policy'],
  asn: ['category', 'risk', 'limit', 'policy'],
  countryCode: ['category', 'policy'],
  ja4Hash: ['policy'],
  userAgent: ['policy'],
  range: ['category', 'risk', 'limit', 'policy'],
  dns: ['category', 'risk', 'limit', 'policy'],
  signature: ['category', 'risk', 'limit', 'policy'],
  claimed: ['policy'],
  impostor: ['policy'],
  suspected: ['policy'],
  category: ['policy'],
  risk: [],
  limit: [],
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
const bots = [
  null,
  ...botProofs.flatMap((proof) => decisions.map((verdict) => ({ verdict, id: 'examplebot', proof }))),
];
const categories = [null, ...decisions.map((verdict) => ({ verdict, category: 'tor' as const }))];
const risks = [null, ...decisions.map((verdict) => ({ verdict, score: 0.6 }))];
/** A limit that is kept says nothing. */
const limits = [null, ...(['challenge', 'block'] as const).map((verdict) => ({ verdict, name: 'login' }))];
const policies = [
  null,
  ...decisions.map((verdict) => ({ verdict, reason: 'onPending' })),
  ...decisions.map((verdict) => ({ verdict, reason: 'path:/admin/**' })),
  { verdict: 'block' as const, reason: 'no-admin' },
];

function* everyCombination(some: typeof policies = policies): Generator<DecideInputs> {
  for (const network of networks)
    for (const client of clients)
      for (const bot of bots)
        for (const category of categories)
          for (const risk of risks)
            for (const limit of limits)
              for (const policy of some) yield { network, client, bot, category, risk, limit, policy };
}

const order: readonly InputName[] = ['network', 'client', 'bot', 'category', 'risk', 'limit', 'policy'];

function oracle(inputs: DecideInputs): { decision: Decision; input: string; lifted: string[] } {
  const lifted = new Set<string>();
  for (const name of order) {
    const input = inputs[name];
    if (input?.verdict !== 'allow') continue;
    const kind =
      'type' in input
        ? input.type
        : 'proof' in input
          ? input.proof
          : (name as 'category' | 'risk' | 'limit' | 'policy');
    for (const other of lifts[kind]) {
      // A bot does not open a path that the operator closed.
      const isClosed = other === 'policy' && inputs.policy?.verdict === 'block' && inputs.policy.reason !== 'onPending';
      if (name !== 'bot' || !isClosed) lifted.add(other);
    }
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
      const lifted = order.filter((name) => inputs[name] !== null && expected.lifted.includes(name));
      if (liftedInputs(inputs).join() !== lifted.join())
        expect({ inputs, lifted: liftedInputs(inputs) }).toEqual({ inputs, lifted });
    }
    expect(combinations).toBe(13 * 7 * 19 * 4 * 4 * 3 * 8);
  });

  test('explains every combination of the other inputs with some policies in one bounded sentence that names the deciding input', () => {
    for (const inputs of everyCombination(policies.filter((_, place) => place % 3 === 0))) {
      const outcome = decide(inputs);
      const fired = [inputs.network, inputs.client].filter((one) => one !== null);
      const text = explainDecision({ inputs, fired, rulesetVersion: 12 });
      const named = {
        network: outcome.decidedBy,
        client: outcome.decidedBy,
        bot: 'examplebot',
        category: 'category tor',
        risk: 'risk score 0.60',
        limit: 'limit login',
        policy: outcome.decidedBy.replace(':', ' '),
        default: 'default',
      };
      const verb = { allow: 'Allowed', challenge: 'Challenged', block: 'Blocked' }[outcome.decision];
      const isSaid =
        /^(Allowed|Challenged|Blocked) by [^\n]+; ruleset version 12\.$/.test(text) &&
        text.startsWith(verb) &&
        (text.split(';')[0] ?? '').includes(named[outcome.input]);
      if (!isSaid) expect({ inputs, text }).toBe(`${verb} by ${named[outcome.input]}`);
    }
  });

  test('names the fired rule, category, risk, limit, policy or default that decided', () => {
    const none = { network: null, client: null, bot: null, category: null, risk: null, limit: null, policy: null };
    expect(decide(none).decidedBy).toBe('default');
    expect(decide({ ...none, network: rule('asn', 'allow') }).decidedBy).toBe('asn:value');
    expect(decide({ ...none, client: rule('userAgent', 'block') }).decidedBy).toBe('userAgent:value');
    expect(decide({ ...none, bot: { verdict: 'block', id: 'examplebot', proof: 'range' } }).decidedBy).toBe(
      'bot:examplebot',
    );
    expect(decide({ ...none, category: { verdict: 'block', category: 'tor' } }).decidedBy).toBe('category:tor');
    expect(decide({ ...none, risk: { verdict: 'challenge', score: 0.6 } }).decidedBy).toBe('risk:challenge');
    expect(decide({ ...none, limit: { verdict: 'block', name: 'login' } }).decidedBy).toBe('limit:login');
    expect(decide({ ...none, policy: { verdict: 'allow', reason: 'onPending' } }).decidedBy).toBe('policy:onPending');
  });
});
