/**
 * Why a visitor got this verdict, in one sentence. It is written when somebody reads it, from what the verdict record
 * holds, so a better sentence improves old records too. Deterministic, and no longer than the record's text field.
 */
import { RECORD_TEXT_MAX_CHARS } from '../contract/edge/record-bounds.ts';
import type { VerdictRecord } from '../contract/edge/verdict-record.ts';
import type { BotProof, Decision, VerdictSource } from '../contract/vocabulary.ts';
import { decide, liftedInputs, tableInputs, type DecideInputs, type TableInput } from './decision-table.ts';
import { inputsOfRecord } from './record-inputs.ts';

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
  suspected: 'visitor who is taken for a ',
};

/** Later steps that let a request pass a challenge of the table. */
export const liftingSources: readonly VerdictSource[] = ['clearance', 'verified', 'exempt', 'preflight'];
/** In a record's list of fired rules, but neither rules nor policies. */
const NO_RULE = /^(?:risk|limit|session):/;

const SERVED = "Allowed: one of the gate's own addresses, which it serves to everybody whom no rule blocks.";

type ExplainedRecord = Pick<
  VerdictRecord,
  | 'inputs'
  | 'explain'
  | 'bot'
  | 'risk_score'
  | 'decision'
  | 'source'
  | 'fired_rules'
  | 'session_status'
  | 'ruleset_version'
>;

/** The sentence of a record: its own, where it has one. Empty where nothing says why. */
export function explainRecord(record: ExplainedRecord): string {
  const { decision, source, session_status: status, ruleset_version: rulesetVersion } = record;
  const inputs = inputsOfRecord(record);
  // Older edges recorded here what was decided about the visitor.
  if (source === 'internal' && decision === 'allow') return SERVED;
  if (record.explain !== undefined || inputs === null) return record.explain ?? '';
  if (source === 'no-session') return `Answered 401: a json path asks for a session (${status}).`;
  const fired = record.fired_rules.filter(({ id }) => !NO_RULE.test(id));
  const text = explainDecision({ inputs, fired, rulesetVersion });
  if (decision !== 'allow' || !liftingSources.includes(source)) return text;
  if (decide(inputs).decision !== 'allow') return shorten(`${text} Lifted: ${source}.`, RECORD_TEXT_MAX_CHARS);
  return source === 'clearance' ? shorten(`${text} In place of a session: clearance.`, RECORD_TEXT_MAX_CHARS) : text;
}

interface ExplainInput {
  inputs: DecideInputs;
  /** Rules and policies that matched, enforced and monitored. A policy's `id` is `policy:<name>`. */
  fired: VerdictRecord['fired_rules'];
  rulesetVersion: number;
}

function shorten(text: string, maxChars = NAME_MAX_CHARS): string {
  if (text.length <= maxChars) return text;
  return `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

function namedRule(id: string): string {
  return id.startsWith(LIST) ? `list ${shorten(id.slice(LIST.length))}` : `rule ${shorten(id)}`;
}

/** Each input in words. Asked only of one that says something. */
const words: Record<TableInput, (inputs: DecideInputs) => string> = {
  network: ({ network }) => namedRule(network!.id),
  client: ({ client }) => `rule ${shorten(client!.id)}`,
  bot: ({ bot }) => proofs[bot!.proof] + shorten(bot!.id),
  category: ({ category }) => `address category ${shorten(category!.category)}`,
  risk: ({ risk }) => `risk score ${risk!.score.toFixed(2)}`,
  limit: ({ limit }) => `limit ${limit!.name}`,
  policy: ({ policy }) => `policy ${shorten(policy!.reason)}`,
};

function withVerdict(input: TableInput, inputs: DecideInputs): string {
  return `${words[input](inputs)} (${inputs[input]!.verdict})`;
}

/** What the decision table says of these inputs, in one sentence of at most `RECORD_TEXT_MAX_CHARS` characters. */
export function explainDecision({ inputs, fired, rulesetVersion }: ExplainInput): string {
  const outcome = decide(inputs);
  const lifted = liftedInputs(inputs);
  const overruled = tableInputs.filter(
    (input) => inputs[input] !== null && input !== outcome.input && !lifted.includes(input),
  );
  const deciding = [inputs.network?.id, inputs.client?.id, inputs.policy && `policy:${inputs.policy.reason}`];
  const others = fired.filter((rule) => !deciding.includes(rule.id));

  const decider = outcome.input === 'default' ? 'default: nothing applies' : words[outcome.input](inputs);
  let text = `${verbs[outcome.decision]} by ${decider}`;
  if (overruled.length > 0) text += `; over ${overruled.map((input) => withVerdict(input, inputs)).join(', ')}`;
  if (lifted.length > 0) text += `; lifted ${lifted.map((input) => withVerdict(input, inputs)).join(', ')}`;
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

const rowOutcomes = ['decided', 'overruled', 'lifted', 'silent'] as const;

export interface TableRow {
  input: TableInput;
  /** `null`: this input said nothing. */
  verdict: Decision | null;
  /** Rule id, `category:<name>`, `risk:<verdict>`, `limit:<name>`, `policy:<reason>` or `bot:<id>`. */
  by: string | null;
  outcome: (typeof rowOutcomes)[number];
  /** The first input whose `allow` lifts this one. */
  liftedBy: TableInput | null;
}

/** The decision table of one request as rows for a reader: what each input said, and what became of it. Pure. */
export function tableRows(inputs: DecideInputs): TableRow[] {
  const { input: deciding } = decide(inputs);
  return tableInputs.map((input): TableRow => {
    const said = inputs[input];
    if (said === null) return { input, verdict: null, by: null, outcome: 'silent', liftedBy: null };
    const lifter = tableInputs.find((other) => lifts(inputs, other, input)) ?? null;
    const outcome = input === deciding ? 'decided' : lifter === null ? 'overruled' : 'lifted';
    return { input, verdict: said.verdict, by: only(inputs, [input]).by, outcome, liftedBy: lifter };
  });
}

/** Whether `lifter` alone lifts `input`. No input lifts itself. */
function lifts(inputs: DecideInputs, lifter: TableInput, input: TableInput): boolean {
  return liftedInputs(only(inputs, [lifter, input]).inputs).includes(input);
}

/** These inputs, and none of the others. */
function only(inputs: DecideInputs, kept: readonly TableInput[]): { inputs: DecideInputs; by: string } {
  const empty: DecideInputs = {
    network: null,
    client: null,
    bot: null,
    category: null,
    risk: null,
    limit: null,
    policy: null,
  };
  const chosen = { ...empty, ...Object.fromEntries(kept.map((input) => [input, inputs[input]])) };
  return { inputs: chosen, by: decide(chosen).decidedBy };
}
