/** Rules as the API returns them: ISO times, every field present, and whether the rule has expired. */
import type { EdgeRuleCanonical, EdgeRuleListed } from '../../../../contract/management/edge-rule.ts';
import type { EdgeRuleType } from '../../../../contract/vocabulary.ts';
import type { RuleWrite, StoredRule } from '../../../../store/rule-book/rule-row.ts';

/** A rule in canonical form, as create returns it. */
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

/** What a listing adds to a rule. For `unseen`, see `unseen-signals.ts`. */
export interface ListingFacts {
  nowMs: number;
  unseen: readonly EdgeRuleType[];
}

export function listedRule(
  rule: StoredRule,
  { nowMs, unseen }: ListingFacts,
  hits?: EdgeRuleListed['hits'],
): EdgeRuleListed {
  return {
    ...canonicalRule(rule),
    expired: rule.expiry !== undefined && rule.expiry * 1000 <= nowMs,
    ...(unseen.includes(rule.type) ? { signalUnseen: true as const } : {}),
    createdAt: isoTime(rule.createdAt),
    createdBy: rule.createdBy,
    updatedAt: isoTime(rule.updatedAt),
    updatedBy: rule.updatedBy,
    ...(hits === undefined ? {} : { hits }),
  };
}

/** Thousands of rules have the time of their batch, so the text of the last time is kept. */
let lastTime = { at: Number.NaN, text: '' };

export function isoTime(epochMs: number): string {
  if (lastTime.at !== epochMs) lastTime = { at: epochMs, text: new Date(epochMs).toISOString() };
  return lastTime.text;
}
