/**
 * What each input of the decision table said about a logged request: rules and limits from the record's list, category,
 * risk and policy from its explanation. Where a later step replaced the explanation, those three are worked out again from
 * the record and the instance's present settings. Pure.
 */
import { RISK_NEVER } from '../../../../contract/edge/risk-detectors.ts';
import { RECORD_FIRED_RULES_MAX } from '../../../../contract/edge/record-bounds.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { edgeRuleTypes } from '../../../../contract/vocabulary.ts';
import type { EdgeRuleType } from '../../../../contract/vocabulary.ts';
import { isProved, restrictiveness } from '../../../../rules/decision-table.ts';
import type { DecideInputs } from '../../../../rules/decision-table.ts';
import { explainedInputs } from '../../../../rules/explained-inputs.ts';
import type { MatchedRule } from '../../../../rules/types.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';

export type Policy = Pick<StoredInstance, 'ipCategoryRules' | 'challengeThreshold' | 'blockThreshold'>;

/** `rank`: how specific an entry of a list is, where the record shows it. */
export type RankedRule = MatchedRule & { rank?: number };

export interface RecordedInputs {
  /** Enforced and monitored rules. */
  rules: readonly RankedRule[];
  inputs: DecideInputs;
  /** `false`: part of it follows from the present settings, or the record's list of rules is cut. */
  isExact: boolean;
}

/** Sources whose decision was the policy input of the table. */
const ofPolicy: readonly VerdictRecord['source'][] = ['policy', 'no-session', 'bootstrap-passthrough'];
/** Client rules of which the one that counted is looked for. */
const CLIENTS_TRIED_MAX = 8;
const LIST = 'list:';
/** More lists fit between two ranks than a record has rules. */
const ENTRY_STEP = 0.001;

export function recordedInputs(record: VerdictRecord, policy: Policy): RecordedInputs {
  // Risk detectors, limits and the mark of requests without a page are in the list of fired rules, but are not rules.
  const rules = record.fired_rules.filter(({ id }) => !/^(?:risk|limit|policy|session):/.test(id)).map(matchedRule);
  rankEntries(rules);
  const limits = firedLimits(record);
  const { network, client } = countingRules(rules);
  const isCut = record.fired_rules.length >= RECORD_FIRED_RULES_MAX;
  const explained = explainedInputs({
    explain: record.explain,
    network,
    clients: rules
      .filter((rule) => isEnforcedClient(rule) && rule.verdict === client?.verdict)
      .slice(0, CLIENTS_TRIED_MAX),
    bot: record.bot ?? null,
    categories: record.ip_category,
    riskScore: record.risk_score,
    limits,
    rulesetVersion: record.ruleset_version,
  });
  if (explained) return { rules, inputs: withWholeReason(explained, record), isExact: !isCut };
  const inputs: DecideInputs = {
    network,
    client,
    bot: botInput(record),
    category: strictestCategory(record.ip_category, policy),
    // Who is proved to be a bot is not judged by how its requests look.
    risk: record.bot && isProved(record.bot.proof) ? null : riskInput(record.risk_score, policy),
    limit: strictestLimit(limits),
    policy: ofPolicy.includes(record.source) ? policyInput(record) : null,
  };
  return { rules, inputs, isExact: false };
}

/** The enforced limits that the request was above. */
function firedLimits({ fired_rules: fired }: VerdictRecord): NonNullable<DecideInputs['limit']>[] {
  return fired
    .filter(({ id, mode }) => mode === 'enforce' && id.startsWith('limit:'))
    .map(({ id, verdict }) => ({ name: id.slice('limit:'.length), verdict }));
}

/** The first of the strictest, as the edge chooses it. */
function strictestLimit(limits: readonly NonNullable<DecideInputs['limit']>[]): DecideInputs['limit'] {
  let strictest: DecideInputs['limit'] = null;
  for (const limit of limits) {
    if (!strictest || restrictiveness[limit.verdict] > restrictiveness[strictest.verdict]) strictest = limit;
  }
  return strictest;
}

/** The most specific enforced network rule, and the most restrictive enforced client rule. */
export function countingRules(rules: readonly RankedRule[]): Pick<DecideInputs, 'network' | 'client'> {
  const enforced = rules.filter(({ mode }) => mode === 'enforce');
  return {
    network: best(enforced, specificity),
    client: best(enforced, (rule) => (isClient(rule.type) ? 1 + restrictiveness[rule.verdict] : 0)),
  };
}

export function strictestCategory(categories: VerdictRecord['ip_category'], policy: Policy): DecideInputs['category'] {
  let strictest: DecideInputs['category'] = null;
  for (const name of categories) {
    const verdict = policy.ipCategoryRules[name];
    if (verdict && (!strictest || restrictiveness[verdict] > restrictiveness[strictest.verdict])) {
      strictest = { verdict, category: name };
    }
  }
  return strictest;
}

/** An explanation shortens long path patterns. `decided_by` has the whole one. */
function withWholeReason(inputs: DecideInputs, { decided_by: decidedBy }: VerdictRecord): DecideInputs {
  const { policy } = inputs;
  const start = policy?.reason.endsWith('…') ? policy.reason.slice(0, -1) : null;
  return policy && start !== null && decidedBy.startsWith(start)
    ? { ...inputs, policy: { ...policy, reason: decidedBy } }
    : inputs;
}

const ofBot: readonly VerdictRecord['source'][] = ['bot', 'impostor'];

function botInput({ bot, source, decision }: VerdictRecord): DecideInputs['bot'] {
  return bot && ofBot.includes(source) ? { verdict: decision, id: bot.id, proof: bot.proof } : null;
}

function policyInput({ decision, decided_by: decidedBy }: VerdictRecord): DecideInputs['policy'] {
  return { verdict: decision, reason: decidedBy.replace(/^policy:/, '') };
}

function riskInput(score: number | null, policy: Policy): DecideInputs['risk'] {
  if (score === null || score < policy.challengeThreshold || policy.challengeThreshold === RISK_NEVER) return null;
  const blocks = score >= policy.blockThreshold && policy.blockThreshold !== RISK_NEVER;
  return { verdict: blocks ? 'block' : 'challenge', score };
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

function isEnforcedClient(rule: MatchedRule): boolean {
  return rule.mode === 'enforce' && isClient(rule.type);
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

function matchedRule({ id, verdict, mode }: VerdictRecord['fired_rules'][number]): RankedRule {
  // Entries of lists are networks.
  if (id.startsWith(LIST)) return { id, type: 'ipMask', verdict, mode };
  const name = id.slice(0, id.indexOf(':'));
  const type = edgeRuleTypes.find((known) => known === name) ?? 'userAgent';
  return { id, type, verdict, mode };
}
