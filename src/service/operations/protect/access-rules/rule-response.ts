/**
 * Rules as the API returns them: ISO times, every field present, whether the rule has expired, and how often it fired.
 */
import type { EdgeRuleCanonical, EdgeRuleListed } from '../../../../contract/management/edge-rule.ts';
import type { EdgeRuleType } from '../../../../contract/vocabulary.ts';
import type { RuleKey, RuleWrite, StoredRule } from '../../../../store/rule-book/rule-row.ts';
import { countTotals } from '../../../../store/event-log/client/verdict-log.ts';
import type { ValueTotal } from '../../../../store/event-log/shard-rpc.ts';
import type { ServiceStore } from '../../../environment.ts';
import { outcomeCounts } from '../verdicts/outcome-counts.ts';
import type { LogTarget } from '../verdicts/verdict-log-query.ts';

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

const MINUTE_MS = 60_000;

type RuleHits = NonNullable<EdgeRuleListed['hits']>;

export interface HitsOfRules {
  /** In the order of the rules or ids. */
  hits: RuleHits[];
  /** `false`: more distinct rules fired in an hour than the log counts separately. */
  areExact: boolean;
}

export async function hitsOfRules(
  store: ServiceStore,
  target: Pick<LogTarget, 'log'>,
  rules: readonly RuleKey[],
  window: { from: number; to: number },
): Promise<HitsOfRules> {
  return hitsOf(store, target, rules.map(ruleId), window);
}

/**
 * One pass over the log's counts for a page of rules: no row is read. A rule counts in every request of a visitor that it
 * matched, whatever decided that request. No rule decides what becomes of the gate's own calls.
 * @param ids as in `fired_rules` of a verdict.
 */
export async function hitsOf(
  store: ServiceStore,
  { log }: Pick<LogTarget, 'log'>,
  ids: readonly string[],
  window: { from: number; to: number },
): Promise<HitsOfRules> {
  const totals = await countTotals(store, log, 'fired_rule', [...ids, null], window);
  const uncounted = totals.pop();
  return { hits: totals.map(ruleHits), areExact: uncounted?.lastMinute === null };
}

/** As in `fired_rules` of a verdict. */
export function ruleId({ type, value }: RuleKey): string {
  return `${type}:${value}`;
}

function ruleHits({ counts, lastMinute }: ValueTotal): RuleHits {
  return { ...outcomeCounts(counts), lastHitAt: lastMinute === null ? null : isoTime(lastMinute * MINUTE_MS) };
}
