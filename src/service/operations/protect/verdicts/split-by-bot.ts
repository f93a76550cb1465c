/**
 * Traffic by bot, or by what proves the bots. The log counts a bot, its proof and whether it was charged as one value;
 * here those values are sums. What is left of all traffic is no bot's.
 */
import { type CountedBot, readBotValue } from '../../../../store/event-log/bot-counts.ts';
import { countSeries, countValues, type CountWindow } from '../../../../store/event-log/client/verdict-log.ts';
import type { LogName } from '../../../../store/event-log/client/shards.ts';
import type { Point } from '../../../../store/event-log/shard-rpc.ts';
import type { ServiceStore } from '../../../environment.ts';
import { addSeries, outcomeCounts, pointCounts, sumCounts } from './outcome-counts.ts';

/** The catalogue has some hundred bots with a few proofs each; agents that it does not know come on top. */
export const BOT_VALUES_MAX = 20_000;

interface BotSeries {
  value: string | null;
  points: Point[];
}

interface BotSplit {
  total: Point[];
  series: BotSeries[];
  other: { values: number; points: Point[] };
  isExact: boolean;
}

export async function splitByBot(
  store: ServiceStore,
  log: LogName,
  groupBy: 'bot' | 'bot_proof',
  window: CountWindow,
  bucketMinutes: number,
  topN: number,
  total: Point[],
): Promise<BotSplit> {
  const { values, more, lumped } = await countValues(store, log, 'bot', window, BOT_VALUES_MAX);
  const groups = new Map<string, { size: number; values: string[] }>();
  for (const { value, counts } of values) {
    const bot = value === null ? null : readBotValue(value);
    if (value === null || bot === null) continue;
    const name = nameOf(bot, groupBy);
    const group = groups.get(name) ?? { size: 0, values: [] };
    groups.set(name, group);
    group.size += outcomeCounts(counts).total;
    group.values.push(value);
  }
  const largest = [...groups].sort(([a, one], [b, other]) => other.size - one.size || (a < b ? -1 : 1)).slice(0, topN);
  const sought = largest.flatMap(([, group]) => group.values);
  const { series, other } = await countSeries(store, log, 'bot', sought, window, bucketMinutes);
  const pointsOf = new Map(sought.map((value, index) => [value, series[index] ?? []]));
  const named: BotSeries[] = largest.map(([value, group]) => ({
    value,
    points: addSeries(group.values.map((one) => pointsOf.get(one) ?? [])),
  }));
  const none = { value: null, points: without(total, addSeries([...series, other])) };
  const listed = (none.points.length === 0 ? named : [...named, none]).sort((a, b) => sizeOf(b) - sizeOf(a));
  const rest = listed.slice(topN);
  return {
    total,
    series: listed.slice(0, topN),
    other: {
      values: groups.size - largest.length + rest.length,
      points: addSeries([other, ...rest.map(({ points }) => points)]),
    },
    isExact: !lumped && more === 0,
  };
}

function nameOf({ id, proof }: CountedBot, groupBy: 'bot' | 'bot_proof'): string {
  return groupBy === 'bot' ? id : proof;
}

function sizeOf({ points }: BotSeries): number {
  return outcomeCounts(sumCounts(points.map(pointCounts))).total;
}

/** Rows that arrive between two reads are in one of them only. */
function without(all: readonly Point[], part: readonly Point[]): Point[] {
  const parts = new Map(part.map((point) => [point[0], point]));
  return all
    .map((point): Point => {
      const taken = parts.get(point[0]);
      const left = (at: 1 | 2 | 3): number => Math.max(0, point[at] - (taken?.[at] ?? 0));
      return [point[0], left(1), left(2), left(3)];
    })
    .filter(([, allow, challenge, block]) => allow + challenge + block > 0);
}
