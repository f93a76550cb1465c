/**
 * Why a visitor got this verdict, in one sentence. The management API returns it to operators and the verdict record
 * stores it, so it is deterministic and no longer than the record's text field.
 */
import { RECORD_TEXT_MAX_CHARS } from '../contract/edge/record-bounds.ts';
import type { BotProof, Decision, DecisionInput } from '../contract/vocabulary.ts';
import { type DecideInputs, type DecideOutcome, liftedInputs } from './decision-table.ts';
import type { MatchedRule, RuleMatch } from './types.ts';

/** Rules that are named after the deciding rule; further rules are only counted. */
const OTHER_RULES_NAMED_MAX = 8;
/** Characters of one rule's id, so that a long user agent substring leaves room for the rest. */
const NAME_MAX_CHARS = 80;
const LIST = 'list:';

const verbs: Record<Decision, string> = { allow: 'Allowed', challenge: 'Challenged', block: 'Blocked' };
const proofs: Record<BotProof, string> = {
  range: 'bot with an address of ',
  dns: 'bot with a host name of ',
  signature: 'bot with a signature of ',
  claimed: 'bot that claims to be ',
  impostor: 'bot that is not ',
};
const inputOrder = ['network', 'client', 'bot', 'category', 'risk', 'limit', 'policy'] as const;

export interface ExplainInput {
  match: RuleMatch;
  /** Named like rules that fired. `id` is `policy:<name>`. */
  policiesFired?: readonly Pick<MatchedRule, 'id' | 'verdict' | 'mode'>[];
  inputs: DecideInputs;
  outcome: DecideOutcome;
  rulesetVersion: number;
}

function shorten(text: string, maxChars = NAME_MAX_CHARS): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function namedRule(id: string): string {
  return id.startsWith(LIST) ? `list ${shorten(id.slice(LIST.length))}` : `rule ${shorten(id)}`;
}

/** An input in words. */
function named(input: DecisionInput, inputs: DecideInputs): string {
  const { network, client, bot, category, risk, limit, policy } = inputs;
  if (input === 'network' && network) return namedRule(network.id);
  if (input === 'client' && client) return `rule ${shorten(client.id)}`;
  if (input === 'bot' && bot) return proofs[bot.proof] + shorten(bot.id);
  if (input === 'category' && category) return `address category ${shorten(category.category)}`;
  if (input === 'risk' && risk) return `risk score ${risk.score.toFixed(2)}`;
  if (input === 'limit' && limit) return `limit ${limit.name}`;
  if (input === 'policy' && policy) return `policy ${shorten(policy.reason)}`;
  return 'default: nothing applies';
}

function namedWithVerdict(input: DecisionInput, inputs: DecideInputs): string {
  const verdict = input === 'default' ? undefined : inputs[input]?.verdict;
  return verdict === undefined ? named(input, inputs) : `${named(input, inputs)} (${verdict})`;
}

/** One sentence of at most `RECORD_TEXT_MAX_CHARS` characters. */
export function explainVerdict({ match, policiesFired = [], inputs, outcome, rulesetVersion }: ExplainInput): string {
  const lifted = liftedInputs(inputs);
  const overruled = inputOrder.filter(
    (input) => inputs[input] !== null && input !== outcome.input && !lifted.includes(input),
  );
  const deciding = [inputs.network?.id, inputs.client?.id, inputs.policy && `policy:${inputs.policy.reason}`];
  const others = [...match.fired, ...policiesFired].filter((rule) => !deciding.includes(rule.id));

  let text = `${verbs[outcome.decision]} by ${named(outcome.input, inputs)}`;
  if (overruled.length > 0) text += `; over ${overruled.map((input) => namedWithVerdict(input, inputs)).join(', ')}`;
  if (lifted.length > 0) text += `; lifted ${lifted.map((input) => namedWithVerdict(input, inputs)).join(', ')}`;
  if (others.length > 0) {
    const list = others
      .slice(0, OTHER_RULES_NAMED_MAX)
      .map((rule) => `${shorten(rule.id)} (${rule.mode === 'monitor' ? `monitored ${rule.verdict}` : rule.verdict})`);
    const more = others.length - list.length;
    text += `; also fired ${list.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  }
  text += `; ruleset version ${rulesetVersion}.`;
  return shorten(text, RECORD_TEXT_MAX_CHARS);
}

/** The explanation of a request to which no rule, category, risk, limit or policy applies: one per ruleset version. */
export function quietExplanation(rulesetVersion: number): string {
  const outcome = { decision: 'allow', input: 'default', decidedBy: 'default' } as const;
  const inputs = { network: null, client: null, bot: null, category: null, risk: null, limit: null, policy: null };
  return explainVerdict({ match: { network: null, client: null, fired: [] }, inputs, outcome, rulesetVersion });
}
