/**
 * How often rules fired, from the counts of the verdict log: one pass over them for a page of rules, and no row is
 * read. A rule counts in every request that it matched, whatever decided that request.
 */
import type { EdgeRuleListed } from '../../../../contract/management/edge-rule.ts';
import type { RuleKey } from '../../../../store/rule-book/rule-row.ts';
import { countTotals } from '../../../../store/event-log/client/verdict-log.ts';
import type { ValueTotal } from '../../../../store/event-log/shard-rpc.ts';
import type { ServiceStore } from '../../../environment.ts';
import { outcomeCounts } from '../verdicts/outcome-counts.ts';
import type { LogTarget } from '../verdicts/verdict-log-query.ts';
import { isoTime } from './rule-response.ts';

const MINUTE_MS = 60_000;

export type RuleHits = NonNullable<EdgeRuleListed['hits']>;

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

/** `ids`: as in `fired_rules` of a verdict. */
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
