/**
 * Which sources decided and which rules fired in a window, with exact counts from the rollups. The window is extended
 * to whole minutes.
 */
import {
  distinctFiredRulesResponse,
  distinctRequest,
  distinctSourcesResponse,
} from '../../../../contract/management/verdict-query.ts';
import { countValues } from '../../../../store/event-log/client/verdict-log.ts';
import { type Operation, protectOperation } from '../../define-operation.ts';
import { outcomeCounts } from './outcome-counts.ts';
import { distinctWindow, logTarget } from './verdict-log-query.ts';

/** There are 13 sources; a later version may have more. */
const SOURCES_MAX = 100;

/** About 1 MB of response. */
const RULES_MAX = 10_000;

export const distinctOperations: readonly Operation[] = [
  /** Which sources decided in a window, with exact counts from the rollups. The window is extended to whole minutes. */
  protectOperation({
    name: 'list-distinct-sources',
    path: '/protect/verdicts/distinct-sources',
    access: 'read',
    summary: 'Distinct verdict sources in a window',
    body: distinctRequest,
    response: distinctSourcesResponse,
    async handler(context) {
      const { log, horizon } = await logTarget(context, context.body.siteKey);
      const window = distinctWindow(context.body, horizon, context.nowMs);
      const counted = { ...window, outcomes: null, excludeInternal: !context.body.includeInternal };
      const { values } = await countValues(context.store, log, 'source', counted, SOURCES_MAX);
      return {
        sources: values.map(({ value, counts }) => ({ source: value ?? '', ...outcomeCounts(counts) })),
        since: window.since,
        until: window.until,
      };
    },
  }),
  /**
   * Which rules fired in a window, including monitored rules, with exact counts from the rollups. The window is
   * extended to whole minutes.
   */
  protectOperation({
    name: 'list-distinct-fired-rules',
    path: '/protect/verdicts/distinct-fired-rules',
    access: 'read',
    summary: 'Distinct fired rule ids in a window',
    body: distinctRequest,
    response: distinctFiredRulesResponse,
    async handler(context) {
      const { log, horizon } = await logTarget(context, context.body.siteKey);
      const window = distinctWindow(context.body, horizon, context.nowMs);
      const counted = { ...window, outcomes: null, excludeInternal: !context.body.includeInternal };
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
  }),
];
