/**
 * One logged request under other rules. The record has the rules that fired and everything else that was known. The
 * decision table is applied twice, without and with the proposed rules, so that a difference can only come from them.
 * Pure.
 */
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { Decision } from '../../../../contract/vocabulary.ts';
import { decide, type DecideInputs, type DecideOutcome, rolloutBucket } from '../../../../rules/decision-table.ts';
import { liftingSources } from '../../../../rules/explain.ts';
import type { Ruleset } from '../../../../rules/ruleset.ts';
import type { MatchedRule } from '../../../../rules/types.ts';
import { countingRules, recordedInputs } from './recorded-inputs.ts';

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
