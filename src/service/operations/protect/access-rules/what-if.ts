/**
 * One logged request under other rules. The record has the rules that fired and everything else that was known. The
 * decision table is applied twice, without and with the proposed rules, so that a difference can only come from them.
 * Pure.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { type Decision, type EdgeRuleType, edgeRuleTypes } from '../../../../contract/vocabulary.ts';
import {
  decide,
  type DecideInputs,
  type DecideOutcome,
  restrictiveness,
  rolloutBucket,
} from '../../../../rules/decision-table.ts';
import { liftingSources } from '../../../../rules/explain.ts';
import type { Ruleset } from '../../../../rules/ruleset.ts';
import type { MatchedRule } from '../../../../rules/types.ts';
import { RECORD_FIRED_RULES_MAX } from '../../../../contract/edge/record-bounds.ts';
import { inputsOfRecord } from '../../../../rules/record-inputs.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';

export interface Proposal {
  /** Has the proposed rules only. */
  ruleset: Ruleset;
  /** `type:value` of each proposed rule, which replaces an existing one, and of each rule that would be deleted. */
  ids: ReadonlySet<string>;
}

export interface WhatIf {
  before: Decision;
  after: Decision;
  /** What would decide under the proposal. */
  decidedBy: string;
}

/** `null`: the record does not have what was decided from. */
export function whatIf(record: VerdictRecord, proposal: Proposal): WhatIf | null {
  const recorded = recordedInputs(record);
  if (recorded === null) return null;
  const { rules, inputs } = recorded;
  const proposed = matching(record, proposal);
  const others = rules.filter((rule) => !proposal.ids.has(rule.id));
  const after = afterTable({ ...inputs, ...countingRules([...others, ...proposed]) }, record);
  return { before: afterTable(inputs, record).decision, after: after.decision, decidedBy: after.decidedBy };
}

/** Ids of the proposed rules that match the request, and of those that fired and would be replaced or deleted. */
export function touchedRules(record: VerdictRecord, proposal: Proposal): ReadonlySet<string> {
  const ids = matching(record, proposal).map(({ id }) => id);
  return new Set([...ids, ...record.fired_rules.flatMap(({ id }) => (proposal.ids.has(id) ? [id] : []))]);
}

function matching(record: VerdictRecord, { ruleset }: Proposal): readonly MatchedRule[] {
  return ruleset.match(
    {
      ip: record.ip,
      asn: record.asn,
      countryCode: record.country,
      ja4: record.ja4,
      userAgent: record.user_agent,
      rolloutBucket: rolloutBucket(`${record.ip}\n${record.user_agent}`),
    },
    Math.floor(record.timestamp / 1000),
  ).fired;
}

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
    network: best(enforced, specificity),
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

/** `ip` > longest `ipMask` > `asn` > `countryCode`; 0 for client rules. */
function specificity(rule: RankedRule): number {
  if (rule.rank !== undefined) return rule.rank;
  switch (rule.type) {
    case 'ip':
      return 1000;
    case 'ipMask': {
      const id = rule.entry ?? rule.id;
      return 100 + Number(id.slice(id.lastIndexOf('/') + 1));
    }
    case 'asn':
      return 2;
    case 'countryCode':
      return 1;
    case 'ja4Hash':
    case 'userAgent':
      return 0;
  }
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
    after = specificity(rule);
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
