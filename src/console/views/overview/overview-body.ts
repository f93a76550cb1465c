/** From the address of the view to its calls. */
import type { RequestOf, Schema } from '../../api/service-api.ts';
import { siteOf } from '../../frame/instances.ts';
import { bucketSecondsOf, type Params, type TimeWindow } from '../../url/params.ts';
import { filterFields, showsOwnCalls } from '../verdicts/verdict-filters.ts';
import { decisions, verdictSources } from '../../../contract/vocabulary.ts';

const TOP_VALUES = 8;

/** Counts what had one of these reasons. */
export const sourceFilter = { param: 'source', label: 'Reasons', values: verdictSources } as const;
/** The lists count what was decided so. */
export const decisionFilter = { param: 'decision', label: 'Decision', values: decisions } as const;

export type Dimension = Schema<'TrafficDimension'>;

export function summaryBody(params: Params, window: TimeWindow): RequestOf<'/protect/traffic-summary'> {
  return { ...shared(params, window), ...filterFields([sourceFilter], params) };
}

export function breakdownBody(
  groupBy: Dimension,
  params: Params,
  window: TimeWindow,
): RequestOf<'/protect/traffic-by-dimension'> {
  return { ...shared(params, window), groupBy, topN: TOP_VALUES, ...filterFields([decisionFilter], params) };
}

function shared(params: Params, window: TimeWindow) {
  const { since, until } = window;
  return { ...siteOf(params), since, until, bucket: bucketSecondsOf(window), includeInternal: showsOwnCalls(params) };
}
