/** Rules as the API shows them: ISO times, every member present, whether the rule has expired. */
import type { EdgeRuleCanonical, EdgeRuleListed } from '../../../../contract/management/edge-rule.ts';
import type { EdgeRuleType } from '../../../../contract/vocabulary.ts';
import type { RuleWrite, StoredRule } from '../../../../store/rule-book/rule-row.ts';

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

/** What a listing is made under. `now`: epoch milliseconds; `unseen`: see `unseen-signals.ts`. */
export interface ListingFacts {
  nowMs: number;
  unseen: readonly EdgeRuleType[];
}

export function listedRule(rule: StoredRule, { nowMs, unseen }: ListingFacts): EdgeRuleListed {
  return {
    ...canonicalRule(rule),
    expired: rule.expiry !== undefined && rule.expiry * 1000 <= nowMs,
    ...(unseen.includes(rule.type) ? { signalUnseen: true as const } : {}),
    createdAt: isoTime(rule.createdAt),
    createdBy: rule.createdBy,
    updatedAt: isoTime(rule.updatedAt),
    updatedBy: rule.updatedBy,
  };
}

/** Thousands of rules share the time of the batch they came in: the last one spelled is kept. */
let lastSpelled = { at: Number.NaN, text: '' };

export function isoTime(epochMilliseconds: number): string {
  if (lastSpelled.at !== epochMilliseconds) {
    lastSpelled = { at: epochMilliseconds, text: new Date(epochMilliseconds).toISOString() };
  }
  return lastSpelled.text;
}
