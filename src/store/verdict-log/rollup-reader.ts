/**
 * Counts as readers ask for them: merged buckets and what is still in memory, as one. Hour buckets
 * serve whole hours, minute buckets the rest, so a month by the day reads 720 small rows.
 */
import { addCounts } from './aggregate.ts';
import type { Counts } from './aggregate.ts';
import { storedDimensions } from './dimensions.ts';
import type { StoredDimension } from './dimensions.ts';
import type { HotRows } from './hot-rows.ts';
import { LEVEL_HOUR, LEVEL_MINUTE, MINUTES_PER_HOUR, SURPLUS_ID } from './rollup-store.ts';

export interface ValueCounts {
  /** `null`: the surplus of values that are not kept apart. */
  value: string | null;
  counts: Counts;
}

/** `[bucket start in minutes, allow, challenge, block]`, oldest first. */
export type Point = [number, number, number, number];

export interface SeriesAnswer {
  /** In the order of the values asked for. */
  series: Point[][];
  /** Everything else together. */
  other: Point[];
}

export class RollupReader {
  readonly #hot: HotRows;
  readonly #sql: SqlStorage;

  constructor(hot: HotRows, sql: SqlStorage) {
    this.#hot = hot;
    this.#sql = sql;
  }

  /** Values of a dimension with their counts, largest first. Minutes since the epoch, `to` exclusive. */
  values(dimension: StoredDimension, from: number, to: number, outcomes: readonly number[] | null): ValueCounts[] {
    const totals = new Map<number, Counts>();
    const names = this.#visit(dimension, from, to, MINUTES_PER_HOUR, (_, id, counts) => {
      const kept = only(counts, outcomes);
      const existing = totals.get(id);
      if (existing) addCounts(existing, kept);
      else totals.set(id, [...kept]);
    });
    return [...totals]
      .filter(([, counts]) => sum(counts) > 0)
      .map(([id, counts]) => ({ value: names(id), counts }))
      .sort((a, b) => sum(b.counts) - sum(a.counts) || compareText(a.value, b.value));
  }

  /** How often these values were counted, or `null` when some may be hidden in the surplus. */
  countOf(
    dimension: StoredDimension,
    values: readonly string[],
    from: number,
    to: number,
    outcomes: readonly number[] | null,
  ): number | null {
    const wanted = new Set<number>();
    for (const value of values) {
      const id = this.#hot.rollups.idOf(storedDimensions.indexOf(dimension), value);
      if (id !== null) wanted.add(id);
    }
    let total = 0;
    let surplus = false;
    this.#visitMerged(dimension, from, to, MINUTES_PER_HOUR, (_, id, counts) => {
      if (id === SURPLUS_ID) surplus = true;
      if (wanted.has(id)) total += sum(only(counts, outcomes));
    });
    this.#visitPending(dimension, from, to, (_, value, counts) => {
      if (values.includes(value)) total += sum(only(counts, outcomes));
    });
    return surplus ? null : total;
  }

  /** Counts per bucket of the values asked for, and of all others together. */
  series(
    dimension: StoredDimension,
    values: readonly (string | null)[],
    from: number,
    to: number,
    bucketMinutes: number,
    outcomes: readonly number[] | null,
  ): SeriesAnswer {
    const rowOf = new Map(values.map((value, index) => [value, index]));
    const rows = Array.from({ length: values.length + 1 }, () => new Map<number, Counts>());
    const rowById = new Map<number, number>();
    const cells: [number, number, Counts][] = [];
    const names = this.#visit(dimension, from, to, bucketMinutes, (minute, id, counts) => {
      cells.push([minute, id, only(counts, outcomes)]);
    });
    for (const [minute, id, counts] of cells) {
      let row = rowById.get(id);
      if (row === undefined) {
        row = rowOf.get(names(id)) ?? values.length;
        rowById.set(id, row);
      }
      const bucket = minute - (minute % bucketMinutes);
      const existing = rows[row]?.get(bucket);
      if (existing) addCounts(existing, counts);
      else rows[row]?.set(bucket, [...counts]);
    }
    const points = rows.map(pointsOf);
    return { series: points.slice(0, values.length), other: points[values.length] ?? [] };
  }

  /** Some counted rows are not shown (`allowVerdicts: counts`), so rollups cannot stand for rows. */
  hidesRows(from: number, to: number): boolean {
    const [hidden] = this.#sql.exec<{ value: string }>("SELECT value FROM meta WHERE key = 'hidden_minutes'");
    if (!hidden) return false;
    const [first, last] = JSON.parse(hidden.value) as [number, number];
    return from <= last && to > first;
  }

  /** Visits merged and pending counts alike; returns how to name an id that was visited. */
  #visit(
    dimension: StoredDimension,
    from: number,
    to: number,
    bucketMinutes: number,
    visit: (minute: number, id: number, counts: Readonly<Counts>) => void,
  ): (id: number) => string | null {
    this.#visitMerged(dimension, from, to, bucketMinutes, visit);
    // Values that were never merged have no id yet: they get one below zero for this answer.
    const fresh: string[] = [];
    const freshIds = new Map<string, number>();
    const index = storedDimensions.indexOf(dimension);
    this.#visitPending(dimension, from, to, (minute, value, counts) => {
      let id = this.#hot.rollups.idOf(index, value) ?? freshIds.get(value);
      if (id === undefined) {
        fresh.push(value);
        id = -fresh.length;
        freshIds.set(value, id);
      }
      visit(minute, id, counts);
    });
    return (id) => {
      if (id === SURPLUS_ID) return null;
      return id < 0 ? (fresh[-id - 1] as string) : this.#hot.rollups.valueOf(id);
    };
  }

  #visitMerged(
    dimension: StoredDimension,
    from: number,
    to: number,
    bucketMinutes: number,
    visit: (minute: number, id: number, counts: Counts) => void,
  ): void {
    const index = storedDimensions.indexOf(dimension);
    const { rollups } = this.#hot;
    const firstHour = Math.ceil(from / MINUTES_PER_HOUR);
    const lastHour = Math.floor(to / MINUTES_PER_HOUR);
    if (bucketMinutes % MINUTES_PER_HOUR !== 0 || firstHour >= lastHour) {
      rollups.scan(index, LEVEL_MINUTE, from, to, visit);
      return;
    }
    rollups.scan(index, LEVEL_MINUTE, from, firstHour * MINUTES_PER_HOUR, visit);
    rollups.scan(index, LEVEL_HOUR, firstHour, lastHour, (hour, id, counts) =>
      visit(hour * MINUTES_PER_HOUR, id, counts),
    );
    rollups.scan(index, LEVEL_MINUTE, lastHour * MINUTES_PER_HOUR, to, visit);
  }

  #visitPending(
    dimension: StoredDimension,
    from: number,
    to: number,
    visit: (minute: number, value: string, counts: Readonly<Counts>) => void,
  ): void {
    const minutes = this.#hot.pending.dimensions[storedDimensions.indexOf(dimension)];
    for (const [minute, values] of minutes ?? []) {
      if (minute < from || minute >= to) continue;
      for (const [value, counts] of values) visit(minute, value, counts);
    }
  }
}

function only(counts: Readonly<Counts>, outcomes: readonly number[] | null): Counts {
  if (outcomes === null) return [...counts];
  return [0, 1, 2].map((outcome) => (outcomes.includes(outcome) ? counts[outcome as 0 | 1 | 2] : 0)) as Counts;
}

function sum(counts: Readonly<Counts>): number {
  return counts[0] + counts[1] + counts[2];
}

function compareText(a: string | null, b: string | null): number {
  return (a ?? '') < (b ?? '') ? -1 : 1;
}

function pointsOf(buckets: ReadonlyMap<number, Counts>): Point[] {
  return [...buckets]
    .filter(([, counts]) => sum(counts) > 0)
    .map(([minute, counts]): Point => [minute, ...counts])
    .sort((a, b) => a[0] - b[0]);
}
