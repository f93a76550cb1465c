/** Counts of verdicts in the form that the API returns. */
import type { Counts, Point } from '../../../../store/event-log/shard-rpc.ts';

const MINUTE_MS = 60_000;

interface OutcomeCounts {
  total: number;
  allow: number;
  challenge: number;
  block: number;
}

export function outcomeCounts([allow, challenge, block]: Readonly<Counts>): OutcomeCounts {
  return { total: allow + challenge + block, allow, challenge, block };
}

export function sumCounts(all: readonly Readonly<Counts>[]): Counts {
  return all.reduce<Counts>((sum, counts) => [sum[0] + counts[0], sum[1] + counts[1], sum[2] + counts[2]], [0, 0, 0]);
}

export function pointCounts([, allow, challenge, block]: Point): Counts {
  return [allow, challenge, block];
}

export function seriesPoint(point: Point): { timestamp: number } & OutcomeCounts {
  return { timestamp: point[0] * MINUTE_MS, ...outcomeCounts(pointCounts(point)) };
}

/** The sum of several series, bucket by bucket. */
export function addSeries(all: readonly (readonly Point[])[]): Point[] {
  const sums = new Map<number, Point>();
  for (const point of all.flat()) {
    const known = sums.get(point[0]);
    if (known) for (const at of [1, 2, 3] as const) known[at] += point[at];
    else sums.set(point[0], [...point]);
  }
  return [...sums.values()].sort((a, b) => a[0] - b[0]);
}
