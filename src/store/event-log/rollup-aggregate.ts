/**
 * Counts in memory: dimension → minute → value → counts by outcome. The Worker counts the records of a batch with one
 * of these and packs it beside the batch. The shard holds another for the pending part of the rollups (what was stored
 * since the last merge), which is rebuilt from the batches after a restart, so that it always agrees with them. A count
 * can be negative: a captcha that changed after it was merged.
 */
import { type CountedRecord, dimensionValues, storedDimensions } from './count-dimensions.ts';
import type { Counts } from './shard-rpc.ts';

export type MinuteCounts = Map<number, Map<string, Counts>>;

export const MINUTE_MS = 60_000;

export class Aggregate {
  /** In the order of `storedDimensions`; minutes since the epoch. */
  readonly dimensions: MinuteCounts[] = storedDimensions.map(() => new Map());
  rows = 0;
  /** Distinct values, by dimension and minute: what the memory of this grows with. */
  values = 0;

  /** With `sign` -1 a record is subtracted. */
  add(record: CountedRecord, timestamp: number, outcome: number, sign: 1 | -1 = 1): void {
    const minute = Math.floor(timestamp / MINUTE_MS);
    const values = dimensionValues(record);
    for (let dimension = 0; dimension < values.length; dimension++) {
      const counted = values[dimension] as readonly string[];
      for (const value of counted) this.#countsOf(dimension, minute, value)[outcome as 0 | 1 | 2] += sign;
    }
    this.rows++;
  }

  #countsOf(dimension: number, minute: number, value: string): Counts {
    const minutes = this.dimensions[dimension] as MinuteCounts;
    let values = minutes.get(minute);
    if (values === undefined) {
      values = new Map();
      minutes.set(minute, values);
    }
    let counts = values.get(value);
    if (counts === undefined) {
      counts = [0, 0, 0];
      values.set(value, counts);
      this.values++;
    }
    return counts;
  }

  /** JSON: per dimension a flat list of minute, value and three counts. */
  packed(): string {
    return JSON.stringify(
      this.dimensions.map((minutes) =>
        [...minutes].flatMap(([minute, values]) =>
          [...values].flatMap(([value, counts]) => [minute, value, ...counts]),
        ),
      ),
    );
  }

  /** Every count, as dimension, minute, value and counts by outcome. */
  entries(): [dimension: number, minute: number, value: string, ...counts: Counts][] {
    return this.dimensions.flatMap((minutes, dimension) =>
      [...minutes].flatMap(([minute, values]) =>
        [...values].map(([value, counts]): [number, number, string, ...Counts] => [
          dimension,
          minute,
          value,
          ...counts,
        ]),
      ),
    );
  }

  /** Adds one of `entries`. */
  addEntry([dimension, minute, value, ...added]: [number, number, string, ...Counts]): void {
    if (dimension in this.dimensions) addCounts(this.#countsOf(dimension, minute, value), added);
  }

  /** Adds what `packed` wrote of this many records. */
  addPacked(text: string, records: number): void {
    const lists = JSON.parse(text) as (number | string)[][];
    for (let dimension = 0; dimension < lists.length; dimension++) {
      const list = lists[dimension] as (number | string)[];
      for (let at = 0; at < list.length; at += 5) {
        const counts = this.#countsOf(dimension, list[at] as number, list[at + 1] as string);
        counts[0] += list[at + 2] as number;
        counts[1] += list[at + 3] as number;
        counts[2] += list[at + 4] as number;
      }
    }
    this.rows += records;
  }
}

export function addCounts(into: Counts, other: Readonly<Counts>): void {
  into[0] += other[0];
  into[1] += other[1];
  into[2] += other[2];
}
