/**
 * One logged request under other rules. The record has the rules that fired and everything else that was known. The
 * decision table is applied twice, without and with the proposed rules, so that a difference can only come from them.
 * Pure.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { Decision } from '../../../../contract/vocabulary.ts';
import { decide, rolloutBucket } from '../../../../rules/decision-table.ts';
import type { Ruleset } from '../../../../rules/ruleset.ts';
import type { MatchedRule } from '../../../../rules/types.ts';
import { countingRules, recordedInputs } from './recorded-inputs.ts';
import type { Policy } from './recorded-inputs.ts';

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

/** Sources that let a request pass a challenge; they would do so again. */
const lifting: readonly VerdictRecord['source'][] = ['clearance', 'verified', 'exempt', 'preflight'];

export function whatIf(record: VerdictRecord, proposal: Proposal, policy: Policy): WhatIf {
  const { rules, inputs } = recordedInputs(record, policy);
  const proposed = matching(record, proposal);
  const others = rules.filter((rule) => !proposal.ids.has(rule.id));
  const before = decide(inputs);
  const after = decide({ ...inputs, ...countingRules([...others, ...proposed]) });
  return {
    before: liftedAgain(before.decision, record),
    after: liftedAgain(after.decision, record),
    decidedBy: after.decidedBy,
  };
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

/** The decision after the steps that follow the table, if what lifted a challenge then would lift it again. */
export function liftedAgain(decision: Decision, record: VerdictRecord): Decision {
  return decision === 'challenge' && lifting.includes(record.source) ? 'allow' : decision;
}
