/**
 * Rollups in the database: per dimension a packed bucket for every hour and for every minute, ten minutes to a row.
 * `mergeAggregate` adds the counts from memory; the caller moves the watermark in the same transaction. Visitors choose
 * paths and user agents, so an hour keeps a bounded number of distinct values. Further values are counted together under
 * id 0: totals stay exact, and the response says that values were lumped.
 */
import type { Aggregate } from '../rollup-aggregate.ts';
import type { Counts } from '../shard-rpc.ts';
import {
  decodeCounts,
  encodeCounts,
  encodeMinutes,
  type IdCounts,
  PACKED_MINUTES,
  splitMinutes,
} from './rollup-codec.ts';
import { RollupTexts } from './rollup-texts.ts';

/** The bucket of a row of this level is the number of its ten minutes. */
export const LEVEL_MINUTE = 0;
export const LEVEL_HOUR = 1;
export const MINUTES_PER_HOUR = 60;
/** The id of the values that are not kept apart. */
export const SURPLUS_ID = 0;
/** An hour's bucket stays near 100 kB and a row of ten minutes below 1.5 MB. A row can hold 2 MB. */
const HOUR_VALUES_MAX = 20_000;

type Minute = readonly [minute: number, values: ReadonlyMap<string, Counts>];

export class RollupStore {
  readonly texts: RollupTexts;
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.texts = new RollupTexts(sql);
  }

  /** Runs inside the caller's transaction. A negative count takes away what was merged earlier. */
  mergeAggregate(aggregate: Aggregate): void {
    aggregate.dimensions.forEach((minutes, dimension) => {
      for (const [hour, members] of grouped(minutes, MINUTES_PER_HOUR)) this.#mergeHour(dimension, hour, members);
      this.texts.flush(dimension);
    });
  }

  /** Deletes every count; runs inside the caller's transaction. */
  clear(): void {
    for (const table of ['rollups', 'rollup_values', 'rollup_texts']) this.#sql.exec(`DELETE FROM ${table}`);
    this.forgetCache();
  }

  /** Clears the cache; called when a transaction failed. */
  forgetCache(): void {
    this.texts.forget();
  }

  #mergeHour(dimension: number, hour: number, members: readonly Minute[]): void {
    const hourCounts: IdCounts = new Map();
    for (const data of this.#read(dimension, LEVEL_HOUR, hour)) readInto(hourCounts, data);
    for (const [ten, packed] of grouped(members, PACKED_MINUTES)) {
      const minutes = new Map<number, IdCounts>();
      for (const data of this.#read(dimension, LEVEL_MINUTE, ten)) {
        splitMinutes(ten * PACKED_MINUTES, data, (minute, bucket) => readInto(bucketOf(minutes, minute), bucket));
      }
      for (const [minute, values] of packed) {
        const minuteCounts = bucketOf(minutes, minute);
        for (const [value, counts] of values) this.#merge(dimension, value, counts, minuteCounts, hourCounts);
      }
      this.#write(dimension, LEVEL_MINUTE, ten, encodeMinutes(ten * PACKED_MINUTES, minutes));
    }
    this.#write(dimension, LEVEL_HOUR, hour, encodeCounts(hourCounts));
  }

  #merge(dimension: number, value: string, counts: Counts, minuteCounts: IdCounts, hourCounts: IdCounts): void {
    const raise = (id: number, outcome: number, by: number): void => {
      addOne(minuteCounts, id, outcome, by);
      addOne(hourCounts, id, outcome, by);
    };
    counts.forEach((by, outcome) => {
      if (by > 0) return raise(this.#idForMerge(dimension, value, hourCounts), outcome, by);
      if (by === 0) return;
      // Away from the id that the value was counted under: its own as far as it reaches, and the rest was lumped.
      const id = this.texts.idOf(dimension, value) ?? SURPLUS_ID;
      const own = Math.min(minuteCounts.get(id)?.[outcome] ?? 0, -by);
      if (own > 0) raise(id, outcome, -own);
      if (own < -by) raise(SURPLUS_ID, outcome, by + own);
    });
  }

  #idForMerge(dimension: number, value: string, hourCounts: IdCounts): number {
    const known = this.texts.idOf(dimension, value);
    if (known !== null && hourCounts.has(known)) return known;
    if (hourCounts.size >= HOUR_VALUES_MAX) return SURPLUS_ID;
    return known ?? this.texts.add(dimension, value);
  }

  #read(dimension: number, level: number, bucket: number): ArrayBuffer[] {
    return this.#sql
      .exec<{ data: ArrayBuffer }>(
        'SELECT data FROM rollups WHERE dimension = ? AND level = ? AND bucket = ?',
        dimension,
        level,
        bucket,
      )
      .toArray()
      .map(({ data }) => data);
  }

  #write(dimension: number, level: number, bucket: number, data: Uint8Array): void {
    this.#sql.exec(
      `INSERT INTO rollups (dimension, level, bucket, data) VALUES (?, ?, ?, ?)
       ON CONFLICT (dimension, level, bucket) DO UPDATE SET data = excluded.data`,
      dimension,
      level,
      bucket,
      data,
    );
  }

  /** Visits every merged count of a dimension in the minutes `from` ≤ minute < `to`. */
  scanMinutes(dimension: number, from: number, to: number, visit: VisitBucket): void {
    const first = Math.floor(from / PACKED_MINUTES);
    for (const { bucket, data } of this.#rows(dimension, LEVEL_MINUTE, first, Math.ceil(to / PACKED_MINUTES))) {
      splitMinutes(bucket * PACKED_MINUTES, data, (minute, packed) => {
        if (minute < from || minute >= to) return;
        decodeCounts(packed, (id, allow, challenge, block) => visit(minute, id, allow, challenge, block));
      });
    }
  }

  /** The same for the hours `from` ≤ hour < `to`. */
  scanHours(dimension: number, from: number, to: number, visit: VisitBucket): void {
    for (const { bucket, data } of this.#rows(dimension, LEVEL_HOUR, from, to)) {
      decodeCounts(data, (id, allow, challenge, block) => visit(bucket, id, allow, challenge, block));
    }
  }

  #rows(dimension: number, level: number, from: number, to: number) {
    return this.#sql.exec<{ bucket: number; data: ArrayBuffer }>(
      'SELECT bucket, data FROM rollups WHERE dimension = ? AND level = ? AND bucket >= ? AND bucket < ?',
      dimension,
      level,
      from,
      to,
    );
  }

  /** Deletes every bucket that ends before this minute, which is the first of an hour. */
  dropBefore(minute: number): void {
    const drop = 'DELETE FROM rollups WHERE level = ? AND bucket < ?';
    this.#sql.exec(drop, LEVEL_MINUTE, Math.floor(minute / PACKED_MINUTES));
    this.#sql.exec(drop, LEVEL_HOUR, Math.floor(minute / MINUTES_PER_HOUR));
  }

  /** Deletes the texts that no bucket uses. An hour uses every value that its minutes use. */
  dropUnusedValues(): void {
    const live = new Set<number>();
    for (const { data } of this.#sql.exec<{ data: ArrayBuffer }>(
      'SELECT data FROM rollups WHERE level = ?',
      LEVEL_HOUR,
    )) {
      decodeCounts(data, (id) => live.add(id));
    }
    this.texts.dropUnused(live);
  }
}

/** Receives the counts of one value in one bucket. */
export type VisitBucket = (bucket: number, id: number, allow: number, challenge: number, block: number) => void;

function readInto(counts: IdCounts, data: ArrayBuffer | Uint8Array): void {
  decodeCounts(data, (id, ...value) => counts.set(id, value));
}

function bucketOf(minutes: Map<number, IdCounts>, minute: number): IdCounts {
  const known = minutes.get(minute);
  if (known) return known;
  const made: IdCounts = new Map();
  minutes.set(minute, made);
  return made;
}

function addOne(bucket: IdCounts, id: number, outcome: number, by: number): void {
  const counts = bucket.get(id) ?? [0, 0, 0];
  counts[outcome as 0 | 1 | 2] += by;
  bucket.set(id, counts);
}

/** By the number of `size` minutes that each belongs to. */
function grouped(minutes: Iterable<Minute>, size: number): Map<number, Minute[]> {
  const groups = new Map<number, Minute[]>();
  for (const entry of minutes) {
    const group = Math.floor(entry[0] / size);
    const members = groups.get(group);
    if (members) members.push(entry);
    else groups.set(group, [entry]);
  }
  return groups;
}
