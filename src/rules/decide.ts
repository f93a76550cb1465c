/**
 * The one decision table (design 3.1). Five inputs on one lattice, `block` > `challenge` > `allow`; an
 * input's `allow` lifts inputs below it; the most restrictive of what is left stands. Pure, so that
 * every combination is generated into a test against an independent oracle.
 */
import type { Decision, DecisionInput } from '../contract/vocabulary.ts';
import type { MatchedRule } from './types.ts';

/** Each is `null` when it has nothing to say. */
export interface DecideInputs {
  /** Most specific enforced network rule. */
  network: MatchedRule | null;
  /** Most restrictive enforced client rule. */
  client: MatchedRule | null;
  category: { verdict: Decision; category: string } | null;
  risk: { verdict: Decision; score: number } | null;
  policy: { verdict: Decision; reason: string } | null;
}

export interface DecideOutcome {
  decision: Decision;
  /** The input that decided; `default` when every input was silent or lifted. */
  input: DecisionInput;
  /** Rule id, `category:<name>`, `risk:<verdict>`, `policy:<reason>` or `default`. */
  decidedBy: string;
}

export const restrictiveness: Record<Decision, number> = { allow: 0, challenge: 1, block: 2 };

const CLIENT = 1;
const CATEGORY = 2;
const RISK = 4;
const POLICY = 8;

/** The inputs that are lifted, in table order. For explanations; `decide` itself uses the bits. */
export function liftedInputs(inputs: DecideInputs): DecisionInput[] {
  const bits = liftedBits(inputs);
  const lifted: DecisionInput[] = [];
  if (inputs.client && bits & CLIENT) lifted.push('client');
  if (inputs.category && bits & CATEGORY) lifted.push('category');
  if (inputs.risk && bits & RISK) lifted.push('risk');
  if (inputs.policy && bits & POLICY) lifted.push('policy');
  return lifted;
}

/**
 * Whether a lifted input can itself still lift never matters: whatever lifts `client` or `category` lifts
 * `policy` too, which is all that those two could lift.
 */
function liftedBits({ network, client, category }: DecideInputs): number {
  let bits = 0;
  if (network?.verdict === 'allow') {
    if (network.type === 'asn') bits = CATEGORY | RISK | POLICY;
    else if (network.type === 'countryCode') bits = CATEGORY | POLICY;
    else bits = CLIENT | CATEGORY | RISK | POLICY;
  }
  // A forged user agent's allow opens the path's policy and nothing else.
  if (client?.verdict === 'allow' || category?.verdict === 'allow') bits |= POLICY;
  return bits;
}

/** Ties go to the input that stands first in the table. */
export function decide(inputs: DecideInputs): DecideOutcome {
  const { network, client, category, risk, policy } = inputs;
  const lifted = liftedBits(inputs);
  let decision: Decision = 'allow';
  let input: DecisionInput = 'default';
  if (network) {
    decision = network.verdict;
    input = 'network';
  }
  if (client && !(lifted & CLIENT) && stands(client.verdict, decision, input)) {
    decision = client.verdict;
    input = 'client';
  }
  if (category && !(lifted & CATEGORY) && stands(category.verdict, decision, input)) {
    decision = category.verdict;
    input = 'category';
  }
  if (risk && !(lifted & RISK) && stands(risk.verdict, decision, input)) {
    decision = risk.verdict;
    input = 'risk';
  }
  if (policy && !(lifted & POLICY) && stands(policy.verdict, decision, input)) {
    decision = policy.verdict;
    input = 'policy';
  }
  return { decision, input, decidedBy: attribution(inputs, input) };
}

function stands(verdict: Decision, over: Decision, heldBy: DecisionInput): boolean {
  return heldBy === 'default' || restrictiveness[verdict] > restrictiveness[over];
}

function attribution({ network, client, category, risk, policy }: DecideInputs, input: DecisionInput): string {
  if (input === 'network' && network) return network.id;
  if (input === 'client' && client) return client.id;
  if (input === 'category' && category) return `category:${category.category}`;
  if (input === 'risk' && risk) return `risk:${risk.verdict}`;
  if (input === 'policy' && policy) return `policy:${policy.reason}`;
  return 'default';
}
