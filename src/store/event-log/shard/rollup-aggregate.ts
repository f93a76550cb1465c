/**
 * Counts in memory: dimension → minute → value → counts by outcome. One of these holds the pending part of the rollups
 * (rows stored since the last merge). It is rebuilt from the rows after a restart, so that it always agrees with them.
 */
import type { CountedRecord } from '../count-dimensions.ts';
import { dimensionValues, storedDimensions } from '../count-dimensions.ts';
import type { Counts } from '../shard-rpc.ts';

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
      if (counted.length === 0) continue;
      const minutes = this.dimensions[dimension] as MinuteCounts;
      let counts = minutes.get(minute);
      if (counts === undefined) {
        counts = new Map();
        minutes.set(minute, counts);
      }
      for (const value of counted) {
        const existing = counts.get(value);
        if (existing) existing[outcome as 0 | 1 | 2] += sign;
        else {
          const fresh: Counts = [0, 0, 0];
          fresh[outcome as 0 | 1 | 2] = sign;
          counts.set(value, fresh);
          this.values++;
        }
      }
    }
    this.rows++;
  }
}

export function addCounts(into: Counts, other: Readonly<Counts>): void {
  into[0] += other[0];
  into[1] += other[1];
  into[2] += other[2];
}
