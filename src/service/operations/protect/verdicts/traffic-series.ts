/** Requests as time series: all of them, or split by a dimension. */
import {
  DIMENSION_POINTS_MAX,
  trafficByDimensionRequest,
  trafficByDimensionResponse,
  type TrafficSummaryRequest,
  trafficSummaryRequest,
  trafficSummaryResponse,
  type VerdictDimension,
} from '../../../../contract/management/verdict-query.ts';
import { countSeries, countValues, type CountWindow } from '../../../../store/event-log/client/verdict-log.ts';
import { botValues } from '../../../../store/event-log/bot-counts.ts';
import { internalValue, type StoredDimension } from '../../../../store/event-log/count-dimensions.ts';
import { type Operation, protectOperation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { addSeries, outcomeCounts, pointCounts, seriesPoint, sumCounts } from './outcome-counts.ts';
import { ruleName } from './headline.ts';
import { logTarget, outcomesOf, seriesWindow } from './verdict-log-query.ts';
import { decisions, verdictSources } from '../../../../contract/vocabulary.ts';
import { sourceWords } from '../../../../contract/management/source-words.ts';
import type { Point } from '../../../../store/event-log/shard-rpc.ts';
import type { LogName } from '../../../../store/event-log/client/shards.ts';
import { splitByBot } from './split-by-bot.ts';
import type { ServiceStore } from '../../../environment.ts';

/** The verdicts with one value, bucket by bucket. */
const MINUTES_PER_HOUR = 60;

interface Series {
  value: string | null;
  points: Point[];
}

interface Split extends Counted {
  total: Point[];
  series: Series[];
  other: { values: number; points: Point[] };
}

interface Counted {
  isExact: boolean;
  /** Own calls of the gate that could not be left out. */
  internalLeft: number;
}

export const trafficSeriesOperations: readonly Operation[] = [
  /** Traffic by bucket and decision, exact, from the rollups alone. */
  protectOperation({
    name: 'get-traffic-summary',
    path: '/protect/traffic-summary',
    access: 'read',
    summary: 'Bucketed traffic totals',
    body: trafficSummaryRequest,
    response: trafficSummaryResponse,
    async handler(context) {
      const { store, body, nowMs } = context;
      const { log, horizon } = await logTarget(context, body.siteKey);
      const { since, until, from, to, bucketMinutes } = seriesWindow(body, horizon, nowMs);
      const window = { from, to, outcomes: null, excludeInternal: !body.includeInternal };
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
  }),
  /**
   * One time series for each of the largest values of a dimension, and one for all other values together. Both are
   * exact: the largest values are chosen over the whole window, not per bucket.
   */
  protectOperation({
    name: 'get-traffic-by-dimension',
    path: '/protect/traffic-by-dimension',
    access: 'read',
    summary: 'Time series split by the groupBy dimension',
    body: trafficByDimensionRequest,
    response: trafficByDimensionResponse,
    async handler(context) {
      const { store, body, nowMs } = context;
      const { log, horizon } = await logTarget(context, body.siteKey);
      const { since, until, from, to, bucketMinutes } = seriesWindow(body, horizon, nowMs);
      checkPoints((to - from) / bucketMinutes, body.topN);
      const window = { from, to, outcomes: outcomesOf(body.decision), excludeInternal: !body.includeInternal };
      const split = await splitBy(store, log, body.groupBy, window, bucketMinutes, body.topN);
      return {
        groupBy: body.groupBy,
        since,
        until,
        bucketSeconds: body.bucket,
        ...outcomeCounts(sumCounts(split.total.map(pointCounts))),
        series: split.series.map(({ value, points }) => ({
          value,
          ...nameIn(body.groupBy, value),
          ...described(points),
        })),
        other: { values: split.other.values, ...described(split.other.points) },
        isExact: split.isExact,
        internalLeft: split.internalLeft,
      };
    },
  }),
];

/** In words, where the value is an id of the gate's own. */
function nameIn(groupBy: VerdictDimension, value: string | null): { name?: string } {
  if (value === null) return {};
  if (groupBy === 'fired_rule') return { name: ruleName(value) };
  const source = groupBy === 'source' ? verdictSources.find((one) => one === value) : undefined;
  return source === undefined ? {} : { name: sourceWords[source] };
}

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

/** Each named value, and the others together, may have a point in every bucket. */
function checkPoints(buckets: number, topN: number): void {
  if (buckets * (topN + 1) <= DIMENSION_POINTS_MAX) return;
  const most = Math.floor(DIMENSION_POINTS_MAX / buckets) - 1;
  throw new OperationError('API.INVALID_BODY', 'The response would have too many points', [
    { path: 'topN', message: `must be at most ${most} for ${buckets} buckets; or use a longer bucket` },
  ]);
}

async function splitBy(
  store: ServiceStore,
  log: LogName,
  groupBy: VerdictDimension,
  window: CountWindow,
  bucketMinutes: number,
  topN: number,
): Promise<Split> {
  const all = await countSeries(store, log, 'none', [''], window, bucketMinutes);
  const total = all.series[0] ?? [];
  if (groupBy === 'none') {
    return {
      total,
      series: [{ value: null, points: total }],
      other: { values: 0, points: [] },
      ...exact,
    };
  }
  if (groupBy === 'decision') return byDecision(total, topN);
  const own = window.excludeInternal && groupBy !== 'source' ? await ownCalls(store, log, window) : exact;
  if (groupBy === 'bot' || groupBy === 'bot_proof') {
    const split = await splitByBot(store, log, groupBy, window, bucketMinutes, topN, total);
    return { ...split, ...own, isExact: split.isExact && own.isExact };
  }
  // One more than asked for: if the rest that a shard did not count apart is among them, it belongs to `other`.
  const { values, more, lumped } = await countValues(store, log, groupBy, window, topN + 1);
  const named = values.filter(({ value }) => value !== null);
  const top = named.slice(0, topN).map(({ value }) => value as string);
  const { series, other } = await countSeries(store, log, groupBy, top, window, bucketMinutes);
  return {
    total,
    series: top.map((value, index) => ({ value: value === '' ? null : value, points: series[index] ?? [] })),
    other: { values: more + values.length - top.length, points: other },
    ...own,
    isExact: !lumped && own.isExact,
  };
}

const exact: Counted = { isExact: true, internalLeft: 0 };

/** How well the gate's own calls can be subtracted. */
async function ownCalls(store: ServiceStore, log: LogName, { from, to, outcomes }: CountWindow): Promise<Counted> {
  const count = async (dimension: StoredDimension, value: string | null): Promise<number> => {
    const { series } = await countSeries(store, log, dimension, [value], { from, to, outcomes }, MINUTES_PER_HOUR);
    return series.reduce((sum, points) => sum + sizeOf(points), 0);
  };
  const [all, apart, lumped] = await Promise.all([
    count('source', 'internal'),
    count('internal', internalValue('none', '')),
    count('internal', null),
  ]);
  return { isExact: lumped === 0, internalLeft: Math.max(0, all - apart) };
}

/** Every count is already split by decision. */
function byDecision(total: Point[], topN: number): Split {
  const series = decisions
    .map((value, outcome) => ({
      value,
      points: total
        .map((point): Point => [point[0], ...onlyOutcome(point, outcome)])
        .filter((point) => point[1] + point[2] + point[3] > 0),
    }))
    .filter(({ points }) => points.length > 0)
    .sort((a, b) => sizeOf(b.points) - sizeOf(a.points));
  const rest = series.slice(topN);
  return {
    total,
    series: series.slice(0, topN),
    other: { values: rest.length, points: addSeries(rest.map(({ points }) => points)) },
    ...exact,
  };
}

function onlyOutcome(point: Point, outcome: number): [number, number, number] {
  return [0, 1, 2].map((at) => (at === outcome ? (point[at + 1] as number) : 0)) as [number, number, number];
}

function sizeOf(points: readonly Point[]): number {
  return points.reduce((sum, point) => sum + point[1] + point[2] + point[3], 0);
}

function described(points: readonly Point[]): object {
  return { ...outcomeCounts(sumCounts(points.map(pointCounts))), points: points.map(seriesPoint) };
}
