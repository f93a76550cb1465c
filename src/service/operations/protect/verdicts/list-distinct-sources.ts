/**
 * `POST /protect/verdicts/distinct-sources`: which sources decided in a window, with exact counts from the rollups. The
 * window is extended to whole minutes.
 */
import { distinctRequest, distinctSourcesResponse } from '../../../../contract/management/verdict-query.ts';
import { countValues } from '../../../../store/event-log/client/verdict-log.ts';
import { operation } from '../../define-operation.ts';
import { outcomeCounts } from './outcome-counts.ts';
import { distinctWindow, logTarget } from './verdict-log-query.ts';

/** There are 13 sources; a later version may have more. */
const SOURCES_MAX = 100;

export const listDistinctSources = operation({
  name: 'list-distinct-sources',
  method: 'POST',
  path: '/protect/verdicts/distinct-sources',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Distinct verdict sources in a window',
  body: distinctRequest,
  response: distinctSourcesResponse,
  async handler(context) {
    const { log, horizon } = await logTarget(context, context.body.siteKey);
    const window = distinctWindow(context.body, horizon, context.nowMs);
    const { values } = await countValues(context.store, log, 'source', { ...window, outcomes: null }, SOURCES_MAX);
    return {
      sources: values.map(({ value, counts }) => ({ source: value ?? '', ...outcomeCounts(counts) })),
      since: window.since,
      until: window.until,
    };
  },
});
