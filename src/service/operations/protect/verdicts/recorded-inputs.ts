/**
 * What each input of the decision table said about a logged request, and what the table would say without one of them.
 * For the explanation of a verdict, which is about the rules of then. Pure.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { type EdgeRuleType, edgeRuleTypes } from '../../../../contract/vocabulary.ts';
import { decide, type DecideInputs, type DecideOutcome, restrictiveness } from '../../../../rules/decision-table.ts';
import { liftingSources } from '../../../../rules/explain.ts';
import type { MatchedRule } from '../../../../rules/types.ts';
import { RECORD_FIRED_RULES_MAX } from '../../../../contract/edge/record-bounds.ts';
import { specificity } from '../replay/merged-match.ts';
import { inputsOfRecord } from '../../../../rules/record-inputs.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';

/**
 * The table's decision with the steps that follow it: what lifted a challenge then lifts it again, and a call of a json
 * path that had no session gets its 401 again.
 */
export function afterTable(inputs: DecideInputs, record: VerdictRecord): Pick<DecideOutcome, 'decision' | 'decidedBy'> {
  const { decision, decidedBy } = decide(inputs);
  if (decision === 'challenge' && liftingSources.includes(record.source)) return { decision: 'allow', decidedBy };
  const getsNoSession = record.source === 'no-session' && inputs.network?.verdict !== 'allow';
  if (decision === 'allow' && getsNoSession) return { decision: 'challenge', decidedBy: record.decided_by };
  return { decision, decidedBy };
}

/** `rank`: how specific an entry of a list is, where the record shows it. */
type RankedRule = MatchedRule & { rank?: number };

/** What each input of the decision table said about a logged request, and the rules that fired. */
export interface RecordedInputs {
  /** Enforced and monitored rules. */
  rules: readonly RankedRule[];
  inputs: DecideInputs;
  /** `false`: the record's list of rules is cut. */
  isExact: boolean;
}

const LIST = 'list:';
/** More lists fit between two ranks than a record has rules. */
const ENTRY_STEP = 0.001;

/** `null`: no table was applied, or an older edge did not record its inputs. */
export function recordedInputs(record: VerdictRecord): RecordedInputs | null {
  const inputs = inputsOfRecord(record);
  if (inputs === null) return null;
  // Risk detectors, limits and the mark of requests without a page are in the list of fired rules, but are not rules.
  const fired = record.fired_rules.filter(({ id }) => !/^(?:risk|limit|policy|session):/.test(id));
  const rules = fired.map((rule) => matchedRule(rule, inputs.network));
  rankEntries(rules);
  return { rules, inputs, isExact: record.fired_rules.length < RECORD_FIRED_RULES_MAX };
}

/** Whether the gate decided before any table: a failure policy did, or the instance does not serve the host. */
export function isWithoutTable({ inputs, source, decided_by: decidedBy }: VerdictRecord): boolean {
  return inputs === undefined && (source === 'error' || decidedBy === 'policy:hosts');
}

/** The most specific enforced network rule, and the most restrictive enforced client rule. */
export function countingRules(rules: readonly RankedRule[]): Pick<DecideInputs, 'network' | 'client'> {
  const enforced = rules.filter(({ mode }) => mode === 'enforce');
  return {
    network: best(enforced, rankOf),
    client: best(enforced, (rule) => (isClient(rule.type) ? 1 + restrictiveness[rule.verdict] : 0)),
  };
}

export function strictestCategory(
  categories: VerdictRecord['ip_category'],
  policy: Pick<StoredInstance, 'ipCategoryRules'>,
): DecideInputs['category'] {
  let strictest: DecideInputs['category'] = null;
  for (const name of categories) {
    const verdict = policy.ipCategoryRules[name];
    if (verdict && (!strictest || restrictiveness[verdict] > restrictiveness[strictest.verdict])) {
      strictest = { verdict, category: name };
    }
  }
  return strictest;
}

/** The rule with the highest rank above 0. */
function best(rules: readonly RankedRule[], rank: (rule: RankedRule) => number): MatchedRule | null {
  let found: MatchedRule | null = null;
  let highest = 0;
  for (const rule of rules) {
    const own = rank(rule);
    if (own > highest) {
      highest = own;
      found = rule;
    }
  }
  return found;
}

function rankOf(rule: RankedRule): number {
  return rule.rank ?? specificity(rule);
}

function isClient(type: EdgeRuleType): boolean {
  return type === 'ja4Hash' || type === 'userAgent';
}

/**
 * The record names the list and not its entry. But network rules are in order, so the entry is less specific than the
 * rule before it and more than the one after it.
 */
function rankEntries(rules: readonly RankedRule[]): void {
  let after = 0;
  for (const rule of rules.toReversed()) {
    if (rule.id.startsWith(LIST)) rule.rank = after + ENTRY_STEP;
    after = rankOf(rule);
  }
}

/** `network`: the rule that counted, whose type the record has. */
function matchedRule(
  { id, verdict, mode }: VerdictRecord['fired_rules'][number],
  network: DecideInputs['network'],
): RankedRule {
  if (network?.id === id && mode === 'enforce') return { ...network, verdict };
  // Most entries of lists are addresses and networks.
  if (id.startsWith(LIST)) return { id, type: 'ipMask', verdict, mode };
  const name = id.slice(0, id.indexOf(':'));
  const type = edgeRuleTypes.find((known) => known === name) ?? 'userAgent';
  return { id, type, verdict, mode };
}
