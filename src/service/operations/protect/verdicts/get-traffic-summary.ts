/** `POST /protect/traffic-summary`: traffic by bucket and decision, exact, from the rollups alone. */
import { trafficSummaryResponse, trafficSummaryRequest } from '../../../../contract/management/verdict-query.ts';
import { countSeries } from '../../../../store/event-log/client/verdict-log.ts';
import { operation } from '../../define-operation.ts';
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
    const { series } = body.source
      ? await countSeries(store, log, 'source', [...new Set(body.source)], window, bucketMinutes)
      : await countSeries(store, log, 'none', [''], window, bucketMinutes);
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
