/**
 * `POST /protect/origin-latency`: how long the origin took to respond, as the edges measured it: percentiles over time
 * with the number of requests that each is computed from. Every request counts; nothing is sampled.
 */
import { originLatencyRequest, originLatencyResponse } from '../../../../contract/management/verdict-query.ts';
import { countSeries, countValues } from '../../../../store/event-log/client/verdict-log.ts';
import { percentileOf } from '../../../../store/event-log/latency-steps.ts';
import { protectOperation } from '../../define-operation.ts';
import { pointCounts, outcomeCounts } from './outcome-counts.ts';
import { logTarget, seriesWindow } from './verdict-log-query.ts';

/** There are fewer steps up to a day. */
const STEPS_MAX = 500;
const MINUTE_MS = 60_000;

interface Step {
  ms: number;
  count: number;
}

export const getOriginLatency = protectOperation({
  name: 'get-origin-latency',
  path: '/protect/origin-latency',
  access: 'read',
  summary: 'Percentiles of how long the origin took to respond',
  body: originLatencyRequest,
  response: originLatencyResponse,
  async handler(context) {
    const { store, body, nowMs } = context;
    const { log, horizon } = await logTarget(context, body.siteKey);
    const { since, until, from, to, bucketMinutes } = seriesWindow(body, horizon, nowMs);
    const window = { from, to, outcomes: null };
    const { values } = await countValues(store, log, 'origin_ms', window, STEPS_MAX);
    const labels = values.flatMap(({ value }) => (value === null ? [] : [value])).toSorted((a, b) => +a - +b);
    const { series } = await countSeries(store, log, 'origin_ms', labels, window, bucketMinutes);
    const all: Step[] = [];
    const byMinute = new Map<number, Step[]>();
    // In rising order of the steps, so that each bucket's steps rise too.
    for (const [index, label] of labels.entries()) {
      const ms = Number(label);
      let sum = 0;
      for (const point of series[index] ?? []) {
        const count = outcomeCounts(pointCounts(point)).total;
        sum += count;
        const steps = byMinute.get(point[0]);
        if (steps) steps.push({ ms, count });
        else byMinute.set(point[0], [{ ms, count }]);
      }
      all.push({ ms, count: sum });
    }
    return {
      since,
      until,
      bucketSeconds: body.bucket,
      ...percentiles(all),
      buckets: [...byMinute]
        .toSorted(([a], [b]) => a - b)
        .map(([minute, steps]) => ({ timestamp: minute * MINUTE_MS, ...percentiles(steps) })),
    };
  },
});

function percentiles(steps: readonly Step[]) {
  return {
    requests: steps.reduce((sum, { count }) => sum + count, 0),
    p50: percentileOf(steps, 0.5),
    p95: percentileOf(steps, 0.95),
    p99: percentileOf(steps, 0.99),
  };
}
