/**
 * One logged request under other rules. The record has the rules that fired and everything else that was known. The
 * decision table is applied twice, without and with the proposed rules, so that a difference can only come from them.
 * Pure.
 */
import { RISK_NEVER } from '../../../../contract/edge/risk-detectors.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { edgeRuleTypes } from '../../../../contract/vocabulary.ts';
import type { Decision, EdgeRuleType } from '../../../../contract/vocabulary.ts';
import { decide, restrictiveness } from '../../../../rules/decision-table.ts';
import type { DecideInputs } from '../../../../rules/decision-table.ts';
import { rolloutBucket } from '../../../../rules/rollout.ts';
import type { Ruleset } from '../../../../rules/ruleset.ts';
import type { MatchedRule } from '../../../../rules/types.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';

export interface Proposal {
  /** Has the proposed rules only. */
  ruleset: Ruleset;
  /** `type:value` of each proposed rule. It replaces an existing rule with the same id. */
  ids: ReadonlySet<string>;
}

export interface WhatIf {
  before: Decision;
  after: Decision;
  /** What would decide under the proposal. */
  decidedBy: string;
}

type Policy = Pick<StoredInstance, 'ipCategoryRules' | 'challengeThreshold' | 'blockThreshold'>;

/** Sources that let a request pass a challenge; they would do so again. */
const lifting: readonly VerdictRecord['source'][] = ['clearance', 'verified', 'exempt', 'preflight'];
/** Sources whose decision was the policy input of the table. */
const ofPolicy: readonly VerdictRecord['source'][] = ['policy', 'no-session', 'bootstrap-passthrough'];

export function whatIf(record: VerdictRecord, proposal: Proposal, policy: Policy): WhatIf {
  // Risk detectors and the mark of requests without a page are in the list of fired rules, but they are not rules.
  const fired = record.fired_rules.filter(({ id }) => !/^(?:risk|session):/.test(id)).map(matchedRule);
  const proposed = proposal.ruleset.match(
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
  const others = fired.filter((rule) => !proposal.ids.has(rule.id));
  const before = decide(inputs(record, fired, policy));
  const after = decide(inputs(record, [...others, ...proposed], policy));
  return {
    before: lifted(before.decision, record),
    after: lifted(after.decision, record),
    decidedBy: after.decidedBy,
  };
}

function lifted(decision: Decision, record: VerdictRecord): Decision {
  return decision === 'challenge' && lifting.includes(record.source) ? 'allow' : decision;
}

function inputs(record: VerdictRecord, rules: readonly MatchedRule[], policy: Policy): DecideInputs {
  const enforced = rules.filter((rule) => rule.mode === 'enforce');
  return {
    network: best(enforced, specificity),
    client: best(enforced, (rule) => (isClient(rule.type) ? 1 + restrictiveness[rule.verdict] : 0)),
    category: category(record, policy),
    risk: risk(record.risk_score, policy),
    policy: ofPolicy.includes(record.source) ? { verdict: record.decision, reason: 'as recorded' } : null,
  };
}

/** The rule with the highest rank above 0. */
function best(rules: readonly MatchedRule[], rank: (rule: MatchedRule) => number): MatchedRule | null {
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
function specificity(rule: MatchedRule): number {
  switch (rule.type) {
    case 'ip':
      return 1000;
    case 'ipMask':
      return 100 + Number(rule.id.slice(rule.id.lastIndexOf('/') + 1));
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

function category(record: VerdictRecord, policy: Policy): DecideInputs['category'] {
  let strictest: DecideInputs['category'] = null;
  for (const name of record.ip_category) {
    const verdict = policy.ipCategoryRules[name];
    if (verdict && (!strictest || restrictiveness[verdict] > restrictiveness[strictest.verdict])) {
      strictest = { verdict, category: name };
    }
  }
  return strictest;
}

function risk(score: number | null, policy: Policy): DecideInputs['risk'] {
  if (score === null || score < policy.challengeThreshold || policy.challengeThreshold === RISK_NEVER) return null;
  const blocks = score >= policy.blockThreshold && policy.blockThreshold !== RISK_NEVER;
  return { verdict: blocks ? 'block' : 'challenge', score };
}

function matchedRule({ id, verdict, mode }: VerdictRecord['fired_rules'][number]): MatchedRule {
  const name = id.slice(0, id.indexOf(':'));
  const type = edgeRuleTypes.find((known) => known === name) ?? 'userAgent';
  return { id, type, verdict, mode };
}
