/** Rules as the API shows them: ISO times, every member present, whether the rule has expired. */
import type { EdgeRuleCanonical, EdgeRuleListed } from '../../../contract/edge-rule.ts';
import type { RuleWrite, StoredRule } from '../../../store/rule-book/rule-row.ts';

/** What create echoes: the rule in canonical form. */
export function canonicalRule(rule: RuleWrite): EdgeRuleCanonical {
  return {
    type: rule.type,
    value: rule.value,
    verdict: rule.verdict,
    mode: rule.mode ?? 'enforce',
    expiry: rule.expiry === undefined ? null : isoTime(rule.expiry * 1000),
    rollout: rule.rollout ?? 100,
    note: rule.note ?? null,
  };
}

/** `now`: epoch milliseconds. */
export function listedRule(rule: StoredRule, now: number): EdgeRuleListed {
  return {
    ...canonicalRule(rule),
    expired: rule.expiry !== undefined && rule.expiry * 1000 <= now,
    createdAt: isoTime(rule.createdAt),
    createdBy: rule.createdBy,
    updatedAt: isoTime(rule.updatedAt),
    updatedBy: rule.updatedBy,
  };
}

export function isoTime(epochMilliseconds: number): string {
  return new Date(epochMilliseconds).toISOString();
}
