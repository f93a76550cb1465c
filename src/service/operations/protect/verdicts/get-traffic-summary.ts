/** `POST /protect/traffic-summary`: traffic by bucket and decision, exact, from the rollups alone. */
import {
  type TrafficSummaryRequest,
  trafficSummaryRequest,
  trafficSummaryResponse,
} from '../../../../contract/management/verdict-query.ts';
import { countSeries } from '../../../../store/event-log/client/verdict-log.ts';
import { botValues } from '../../../../store/event-log/bot-counts.ts';
import type { StoredDimension } from '../../../../store/event-log/count-dimensions.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { addSeries, outcomeCounts, pointCounts, seriesPoint, sumCounts } from './outcome-counts.ts';
import { logTarget, seriesWindow } from './verdict-log-query.ts';

export const getTrafficSummary = operation({
  name: 'get-traffic-summary',
  method: 'POST',
  path: '/protect/traffic-summary',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Bucketed traffic totals',
  body: trafficSummaryRequest,
  response: trafficSummaryResponse,
  async handler(context) {
    const { store, body, nowMs } = context;
    const { log, horizon } = await logTarget(context, body.siteKey);
    const { since, until, from, to, bucketMinutes } = seriesWindow(body, horizon, nowMs);
    const window = { from, to, outcomes: null };
    const { series } = await countSeries(store, log, ...countedAs(body), window, bucketMinutes);
    const points = addSeries(series);
    return {
      since,
      until,
      bucketSeconds: body.bucket,
      ...outcomeCounts(sumCounts(points.map(pointCounts))),
      buckets: points.map(seriesPoint),
    };
  },
});

/** The log counts by one dimension at a time. */
function countedAs({ source, bot }: TrafficSummaryRequest): [StoredDimension, string[]] {
  if (source && bot) {
    throw new OperationError('API.INVALID_BODY', 'Requests are counted by source or by bot', [
      { path: 'bot', message: 'must not be sent together with source' },
    ]);
  }
  if (source) return ['source', [...new Set(source)]];
  return bot ? ['bot', [...new Set(bot)].flatMap(botValues)] : ['none', ['']];
}
