/**
 * Reads counts: merged buckets and pending counts together. Hour buckets serve whole hours and minute buckets the rest,
 * so a month by the day reads 720 small rows.
 */
import { internalValue, type StoredDimension, storedDimensions } from '../count-dimensions.ts';
import type { Counts, LargestValues, Point, ValueCounts, ValueSeries, ValueTotal } from '../shard-rpc.ts';
import type { HotRows } from './hot-rows.ts';
import { addCounts } from '../rollup-aggregate.ts';
import { ValueTotals } from './rollup-value-totals.ts';
import { MINUTES_PER_HOUR, SURPLUS_ID, type VisitBucket } from './rollup-store.ts';

/** Texts per response: as many as any reader requests. */
const NAMED_VALUES_MAX = 100_000;

export class RollupReader {
  readonly #hot: HotRows;

  constructor(hot: HotRows) {
    this.#hot = hot;
  }

  /** The `limit` largest values of a dimension, largest first. Minutes since the epoch, `to` exclusive. */
  values(
    dimension: StoredDimension,
    from: number,
    to: number,
    outcomes: readonly number[] | null,
    limit: number,
    excludeInternal: boolean,
  ): LargestValues {
    const totals = new ValueTotals();
    const [a, c, b] = weights(outcomes);
    const fresh = this.#visit(dimension, from, to, MINUTES_PER_HOUR, (_, id, allow, challenge, block) =>
      totals.add(id, allow * a, challenge * c, block * b),
    );
    if (excludeInternal) {
      const index = storedDimensions.indexOf(dimension);
      const freshIds = new Map([...fresh].map(([id, value]) => [value, id]));
      this.#visitInternal(dimension, from, to, MINUTES_PER_HOUR, (_, value, [allow, challenge, block]) => {
        const id = this.#hot.rollups.texts.idOf(index, value) ?? freshIds.get(value) ?? SURPLUS_ID;
        // What was not counted under its value was counted with the surplus.
        totals.subtract(SURPLUS_ID, totals.subtract(id, [allow * a, challenge * c, block * b]));
      });
    }
    const sums: number[] = [];
    let lumped = false;
    totals.forEach((id, allow, challenge, block) => {
      sums.push(allow + challenge + block);
      if (id === SURPLUS_ID) lumped = true;
    });
    const least = Float64Array.from(sums).sort().at(-limit) ?? 0;
    const larger = new Map<number, Counts>();
    const tied = new Map<number, Counts>();
    totals.forEach((id, allow, challenge, block) => {
      const total = allow + challenge + block;
      if (total < least) return;
      (total === least ? tied : larger).set(id, [allow, challenge, block]);
    });
    const values = [...this.#named(dimension, larger, fresh), ...this.#named(dimension, tied, fresh)].slice(0, limit);
    return { values, more: sums.length - values.length, lumped };
  }

  /** Largest first, then by text. It reads only as many texts as a response can hold. */
  #named(
    dimension: StoredDimension,
    counts: ReadonlyMap<number, Counts>,
    fresh: ReadonlyMap<number, string>,
  ): ValueCounts[] {
    const merged = [...counts.keys()].filter((id) => id !== SURPLUS_ID && !fresh.has(id));
    const named: ValueCounts[] = this.#hot.rollups.texts
      .ofIds(storedDimensions.indexOf(dimension), merged, NAMED_VALUES_MAX)
      .map(({ id, value }) => ({ value, counts: counts.get(id) as Counts }));
    for (const [id, value] of fresh) {
      const own = counts.get(id);
      if (own) named.push({ value, counts: own });
    }
    const surplus = counts.get(SURPLUS_ID);
    if (surplus) named.push({ value: null, counts: surplus });
    return named.sort((a, b) => sum(b.counts) - sum(a.counts) || compareText(a.value, b.value));
  }

  /**
   * The count of each of the given values in requests of visitors, and its newest minute: one pass, however many values
   * there are.
   */
  totals(dimension: StoredDimension, values: readonly (string | null)[], from: number, to: number): ValueTotal[] {
    const { rollups } = this.#hot;
    const index = storedDimensions.indexOf(dimension);
    const rows = values.map((): ValueTotal => ({ counts: [0, 0, 0], lastMinute: null }));
    const rowById = new Map<number, ValueTotal>();
    values.forEach((value, row) => {
      const id = value === null ? SURPLUS_ID : rollups.texts.idOf(index, value);
      if (id !== null) rowById.set(id, rows[row] as ValueTotal);
    });
    this.#visitMerged(dimension, from, to, MINUTES_PER_HOUR, (minute, id, allow, challenge, block) => {
      const row = rowById.get(id);
      if (row) addCount(row, minute, [allow, challenge, block]);
    });
    // Whole hours are counted as one, so the minute is looked up in the last hour of each value.
    const lastHours = new Set(rows.flatMap(({ lastMinute }) => (lastMinute === null ? [] : [hourOf(lastMinute)])));
    for (const hour of lastHours) {
      const first = Math.max(from, hour * MINUTES_PER_HOUR);
      const end = Math.min(to, (hour + 1) * MINUTES_PER_HOUR);
      rollups.scanMinutes(index, first, end, (minute, id) => {
        const row = rowById.get(id);
        if (row) raiseLast(row, minute);
      });
    }
    const rowOf = new Map(values.map((value, row) => [value, rows[row] as ValueTotal] as const));
    this.#visitPending(dimension, from, to, (minute, value, counts) => {
      const row = rowOf.get(value);
      if (row) addCount(row, minute, counts);
    });
    this.#leaveVisitors(dimension, values, rows, from, to);
    return rows;
  }

  /** Counts the values that the gate's own calls have again, without these, and finds the newest minute of a visitor. */
  #leaveVisitors(
    dimension: StoredDimension,
    values: readonly (string | null)[],
    rows: readonly ValueTotal[],
    from: number,
    to: number,
  ): void {
    const touched = new Set<string | null>();
    this.#visitInternal(dimension, from, to, MINUTES_PER_HOUR, (_, value) => touched.add(value));
    const indexes = values.flatMap((value, index) => (touched.has(value) ? [index] : []));
    const points = (of: readonly number[], start: number, end: number, bucketMinutes: number): Point[][] => {
      const wanted = of.map((index) => values[index] ?? null);
      return this.series(dimension, wanted, start, end, bucketMinutes, null, true).series;
    };
    const lastHours = new Map<number, number>();
    points(indexes, from, to, MINUTES_PER_HOUR).forEach((hours, at) => {
      const row = rows[indexes[at]!]!;
      row.counts = [0, 0, 0];
      for (const [, ...counts] of hours) addCounts(row.counts, counts);
      row.lastMinute = null;
      const last = hours.at(-1);
      if (last !== undefined) lastHours.set(indexes[at]!, last[0]);
    });
    for (const [hour, entries] of Map.groupBy(lastHours, ([, start]) => start)) {
      const of = entries.map(([index]) => index);
      const minutes = points(of, Math.max(from, hour), Math.min(to, hour + MINUTES_PER_HOUR), 1);
      of.forEach((index, at) => (rows[index]!.lastMinute = minutes[at]?.at(-1)?.[0] ?? null));
    }
  }

  /** Counts per bucket of the given values, and of all others together. */
  series(
    dimension: StoredDimension,
    values: readonly (string | null)[],
    from: number,
    to: number,
    bucketMinutes: number,
    outcomes: readonly number[] | null,
    excludeInternal: boolean,
  ): ValueSeries {
    const index = storedDimensions.indexOf(dimension);
    const rows = values.map(() => new Map<number, Counts>());
    const others = new Map<number, Counts>();
    const rowById = new Map<number, number>();
    values.forEach((value, row) => {
      const id = value === null ? SURPLUS_ID : this.#hot.rollups.texts.idOf(index, value);
      if (id !== null) rowById.set(id, row);
    });
    const [a, c, b] = weights(outcomes);
    // Nearly every count belongs to the others of the same bucket as the count before.
    let lastBucket = -1;
    let lastOther: Counts = [0, 0, 0];
    this.#visitMerged(dimension, from, to, bucketMinutes, (minute, id, allow, challenge, block) => {
      const bucket = minute - (minute % bucketMinutes);
      const row = rowById.get(id);
      if (row === undefined && bucket !== lastBucket) {
        lastOther = countsAt(others, bucket);
        lastBucket = bucket;
      }
      const counts = row === undefined ? lastOther : countsAt(rows[row] as Map<number, Counts>, bucket);
      counts[0] += allow * a;
      counts[1] += challenge * c;
      counts[2] += block * b;
    });
    const rowOf = new Map(values.map((value, row) => [value, row]));
    this.#visitPending(dimension, from, to, (minute, value, [allow, challenge, block]) => {
      const row = rowOf.get(value);
      const counts = countsAt(
        row === undefined ? others : (rows[row] as Map<number, Counts>),
        minute - (minute % bucketMinutes),
      );
      counts[0] += allow * a;
      counts[1] += challenge * c;
      counts[2] += block * b;
    });
    if (excludeInternal) {
      this.#visitInternal(dimension, from, to, bucketMinutes, (minute, value, [allow, challenge, block]) => {
        const row = rowOf.get(value);
        const bucket = minute - (minute % bucketMinutes);
        const left: Counts = [allow * a, challenge * c, block * b];
        if (row !== undefined) subtract(rows[row]?.get(bucket), left);
        subtract(others.get(bucket), left);
      });
    }
    return { series: rows.map(pointsOf), other: pointsOf(others) };
  }

  /** Counts per bucket of groups of values. `groupOf` returns the group of a value, or `null` for none. */
  groupedSeries(
    dimension: StoredDimension,
    groupOf: (value: string) => number | null,
    groups: number,
    from: number,
    to: number,
    bucketMinutes: number,
  ): Point[][] {
    const rows = Array.from({ length: groups }, () => new Map<number, Counts>());
    const add = (group: number, minute: number, allow: number, challenge: number, block: number): void => {
      const counts = countsAt(rows[group] as Map<number, Counts>, minute - (minute % bucketMinutes));
      counts[0] += allow;
      counts[1] += challenge;
      counts[2] += block;
    };
    const texts = this.#hot.rollups.texts.ofDimension(storedDimensions.indexOf(dimension));
    const groupById = new Map<number, number | null>();
    this.#visitMerged(dimension, from, to, bucketMinutes, (minute, id, allow, challenge, block) => {
      let group = groupById.get(id);
      if (group === undefined) {
        const text = texts.get(id);
        group = text === undefined ? null : groupOf(text);
        groupById.set(id, group);
      }
      if (group !== null) add(group, minute, allow, challenge, block);
    });
    this.#visitPending(dimension, from, to, (minute, value, counts) => {
      const group = groupOf(value);
      if (group !== null) add(group, minute, ...counts);
    });
    return rows.map(pointsOf);
  }

  /** Visits merged and pending counts. Returns the texts of the ids that only pending counts have. */
  #visit(
    dimension: StoredDimension,
    from: number,
    to: number,
    bucketMinutes: number,
    visit: VisitBucket,
  ): Map<number, string> {
    this.#visitMerged(dimension, from, to, bucketMinutes, visit);
    // Values that were never merged have no id. They get a negative one for this response.
    const fresh = new Map<number, string>();
    const freshIds = new Map<string, number>();
    const index = storedDimensions.indexOf(dimension);
    this.#visitPending(dimension, from, to, (minute, value, [allow, challenge, block]) => {
      let id = this.#hot.rollups.texts.idOf(index, value) ?? freshIds.get(value);
      if (id === undefined) {
        id = -1 - fresh.size;
        fresh.set(id, value);
        freshIds.set(value, id);
      }
      visit(minute, id, allow, challenge, block);
    });
    return fresh;
  }

  #visitMerged(dimension: StoredDimension, from: number, to: number, bucketMinutes: number, visit: VisitBucket): void {
    const index = storedDimensions.indexOf(dimension);
    const { rollups } = this.#hot;
    const firstHour = Math.ceil(from / MINUTES_PER_HOUR);
    const lastHour = Math.floor(to / MINUTES_PER_HOUR);
    if (bucketMinutes % MINUTES_PER_HOUR !== 0 || firstHour >= lastHour) {
      rollups.scanMinutes(index, from, to, visit);
      return;
    }
    rollups.scanMinutes(index, from, firstHour * MINUTES_PER_HOUR, visit);
    rollups.scanHours(index, firstHour, lastHour, (hour, id, allow, challenge, block) =>
      visit(hour * MINUTES_PER_HOUR, id, allow, challenge, block),
    );
    rollups.scanMinutes(index, lastHour * MINUTES_PER_HOUR, to, visit);
  }

  /**
   * Visits the counts of the gate's own calls in a dimension. Those of too many different values are left out. How many
   * there are at all is what their source says, whenever they were recorded.
   */
  #visitInternal(
    dimension: StoredDimension,
    from: number,
    to: number,
    bucketMinutes: number,
    visit: (minute: number, value: string, counts: Readonly<Counts>) => void,
  ): void {
    const isOfAll = dimension === 'none' || dimension === 'source';
    const counted = isOfAll ? 'source' : 'internal';
    const merged: [minute: number, id: number, counts: Counts][] = [];
    this.#visitMerged(counted, from, to, bucketMinutes, (minute, id, ...counts) => merged.push([minute, id, counts]));
    const ids = [...new Set(merged.map(([, id]) => id))];
    const texts = this.#hot.rollups.texts.ofIds(storedDimensions.indexOf(counted), ids, ids.length);
    const textOf = new Map(texts.map(({ id, value }) => [id, value]));
    const prefix = internalValue(dimension, '');
    const visitText = (minute: number, text: string, counts: Readonly<Counts>): void => {
      if (isOfAll && text === 'internal') visit(minute, dimension === 'none' ? '' : text, counts);
      else if (!isOfAll && text.startsWith(prefix)) visit(minute, text.slice(prefix.length), counts);
    };
    for (const [minute, id, counts] of merged) visitText(minute, textOf.get(id) ?? '', counts);
    this.#visitPending(counted, from, to, visitText);
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

/** 1 for each requested outcome, 0 for the others. */
function weights(outcomes: readonly number[] | null): Counts {
  return [0, 1, 2].map((outcome) => (outcomes === null || outcomes.includes(outcome) ? 1 : 0)) as Counts;
}

/** Moves as much as it can from `left` out of `counts`. */
function subtract(counts: Counts | undefined, left: Counts): void {
  if (counts === undefined) return;
  for (const outcome of [0, 1, 2] as const) {
    const taken = Math.min(left[outcome], counts[outcome]);
    counts[outcome] -= taken;
    left[outcome] -= taken;
  }
}

function countsAt(counts: Map<number, Counts>, bucket: number): Counts {
  const known = counts.get(bucket);
  if (known) return known;
  const made: Counts = [0, 0, 0];
  counts.set(bucket, made);
  return made;
}

function sum(counts: Readonly<Counts>): number {
  return counts[0] + counts[1] + counts[2];
}

function hourOf(minute: number): number {
  return Math.floor(minute / MINUTES_PER_HOUR);
}

function addCount(row: ValueTotal, minute: number, counts: Readonly<Counts>): void {
  if (sum(counts) === 0) return;
  addCounts(row.counts, counts);
  raiseLast(row, minute);
}

function raiseLast(row: ValueTotal, minute: number): void {
  row.lastMinute = Math.max(row.lastMinute ?? minute, minute);
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
