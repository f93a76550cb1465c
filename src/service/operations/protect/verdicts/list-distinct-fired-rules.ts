/**
 * `POST /protect/verdicts/distinct-fired-rules`: which rules fired in a window, including monitored rules, with exact
 * counts from the rollups. The window is extended to whole minutes.
 */
import { distinctFiredRulesResponse, distinctRequest } from '../../../../contract/management/verdict-query.ts';
import { countValues } from '../../../../store/event-log/client/verdict-log.ts';
import { operation } from '../../define-operation.ts';
import { outcomeCounts } from './outcome-counts.ts';
import { distinctWindow, logTarget } from './verdict-log-query.ts';

/** About 1 MB of response. */
const RULES_MAX = 10_000;

export const listDistinctFiredRules = operation({
  name: 'list-distinct-fired-rules',
  method: 'POST',
  path: '/protect/verdicts/distinct-fired-rules',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Distinct fired rule ids in a window',
  body: distinctRequest,
  response: distinctFiredRulesResponse,
  async handler(context) {
    const { log, horizon } = await logTarget(context, context.body.siteKey);
    const window = distinctWindow(context.body, horizon, context.nowMs);
    const counted = { ...window, outcomes: null };
    const { values, more } = await countValues(context.store, log, 'fired_rule', counted, RULES_MAX + 1);
    return {
      // The empty value: verdicts in which no rule fired. `null`: rules that were not counted apart.
      firedRules: values
        .filter(({ value }) => value !== '' && value !== null)
        .slice(0, RULES_MAX)
        .map(({ value, counts }) => ({ id: value, ...outcomeCounts(counts) })),
      isComplete: more === 0 && values.every(({ value }) => value !== null),
      since: window.since,
      until: window.until,
    };
  },
});
