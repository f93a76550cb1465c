/**
 * Rollups in the database: per dimension a packed bucket for every minute and every hour. `mergeAggregate` adds the
 * counts from memory; the caller moves the watermark in the same transaction. Visitors choose paths and user agents, so
 * an hour keeps a bounded number of distinct values. Further values are counted together under id 0: totals stay exact,
 * and the response says that values were lumped.
 */
import { addCounts } from './rollup-aggregate.ts';
import type { Aggregate, MinuteCounts } from './rollup-aggregate.ts';
import type { Counts } from '../shard-rpc.ts';
import { decodeCounts, encodeCounts } from './rollup-codec.ts';

export const LEVEL_MINUTE = 0;
export const LEVEL_HOUR = 1;
export const MINUTES_PER_HOUR = 60;
/** The id of the values that are not kept apart. */
export const SURPLUS_ID = 0;
/** An hour's bucket stays near 100 kB, far below the 2 MB that a row can hold. */
const HOUR_VALUES_MAX = 20_000;
/** Ids kept in memory; further ones are read from the table. */
const CACHED_VALUES_MAX = 50_000;

export class RollupStore {
  readonly #sql: SqlStorage;
  readonly #ids = new Map<string, number>();
  /** Dimension → id → text, of dimensions that were read as a whole. */
  readonly #texts = new Map<number, Map<number, string>>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Runs inside the caller's transaction. */
  mergeAggregate(aggregate: Aggregate): void {
    aggregate.dimensions.forEach((minutes, dimension) => {
      for (const [hour, members] of groupByHour(minutes)) this.#mergeHour(dimension, hour, members);
    });
  }

  /** Clears the cache; called when a transaction failed. */
  forgetCache(): void {
    this.#ids.clear();
    this.#texts.clear();
  }

  #mergeHour(dimension: number, hour: number, minutes: readonly [number, Map<string, Counts>][]): void {
    const hourCounts = this.#read(dimension, LEVEL_HOUR, hour);
    for (const [minute, values] of minutes) {
      const minuteCounts = this.#read(dimension, LEVEL_MINUTE, minute);
      for (const [value, counts] of values) {
        const id = isAway(counts)
          ? this.#idForAway(dimension, value, minuteCounts)
          : this.#idForMerge(dimension, value, hourCounts);
        raise(minuteCounts, id, counts);
        raise(hourCounts, id, counts);
      }
      this.#write(dimension, LEVEL_MINUTE, minute, minuteCounts);
    }
    this.#write(dimension, LEVEL_HOUR, hour, hourCounts);
  }

  #idForMerge(dimension: number, value: string, hourCounts: ReadonlyMap<number, Counts>): number {
    const known = this.idOf(dimension, value);
    if (known !== null && hourCounts.has(known)) return known;
    if (hourCounts.size >= HOUR_VALUES_MAX) return SURPLUS_ID;
    if (known !== null) return known;
    const { id } = this.#sql
      .exec<{ id: number }>('INSERT INTO rollup_values (dimension, value) VALUES (?, ?) RETURNING id', dimension, value)
      .one();
    this.#remember(dimension, value, id);
    this.#texts.get(dimension)?.set(id, value);
    return id;
  }

  /** Subtracts from the id that the value was counted under, whatever room the hour has now. */
  #idForAway(dimension: number, value: string, minuteCounts: ReadonlyMap<number, Counts>): number {
    const known = this.idOf(dimension, value);
    return known !== null && minuteCounts.has(known) ? known : SURPLUS_ID;
  }

  /** The id of a value that was ever counted, or `null`. */
  idOf(dimension: number, value: string): number | null {
    const cached = this.#ids.get(`${dimension} ${value}`);
    if (cached !== undefined) return cached;
    const [row] = this.#sql.exec<{ id: number }>(
      'SELECT id FROM rollup_values WHERE dimension = ? AND value = ?',
      dimension,
      value,
    );
    if (row) this.#remember(dimension, value, row.id);
    return row?.id ?? null;
  }

  /** The texts of every id of a dimension; for dimensions with few values. */
  textsOf(dimension: number): ReadonlyMap<number, string> {
    let texts = this.#texts.get(dimension);
    if (texts === undefined) {
      const rows = this.#sql.exec<{ id: number; value: string }>(
        'SELECT id, value FROM rollup_values WHERE dimension = ?',
        dimension,
      );
      texts = new Map([...rows].map(({ id, value }) => [id, value]));
      this.#texts.set(dimension, texts);
    }
    return texts;
  }

  /** The texts of these ids: the first `limit`, sorted by text. */
  valuesOf(ids: readonly number[], limit: number): { id: number; value: string }[] {
    return this.#sql
      .exec<{ id: number; value: string }>(
        `SELECT v.id, v.value FROM json_each(?) AS wanted JOIN rollup_values AS v ON v.id = wanted.value
         ORDER BY v.value LIMIT ?`,
        JSON.stringify(ids),
        limit,
      )
      .toArray();
  }

  #remember(dimension: number, value: string, id: number): void {
    if (this.#ids.size >= CACHED_VALUES_MAX) this.#ids.clear();
    this.#ids.set(`${dimension} ${value}`, id);
  }

  #read(dimension: number, level: number, bucket: number): Map<number, Counts> {
    const counts = new Map<number, Counts>();
    for (const { data } of this.#sql.exec<{ data: ArrayBuffer }>(
      'SELECT data FROM rollups WHERE dimension = ? AND level = ? AND bucket = ?',
      dimension,
      level,
      bucket,
    )) {
      decodeCounts(data, (id, ...value) => counts.set(id, value));
    }
    return counts;
  }

  #write(dimension: number, level: number, bucket: number, counts: ReadonlyMap<number, Counts>): void {
    this.#sql.exec(
      `INSERT INTO rollups (dimension, level, bucket, data) VALUES (?, ?, ?, ?)
       ON CONFLICT (dimension, level, bucket) DO UPDATE SET data = excluded.data`,
      dimension,
      level,
      bucket,
      encodeCounts(counts),
    );
  }

  /** Visits every merged count of a dimension in buckets `from` ≤ bucket < `to` of one level. */
  scan(
    dimension: number,
    level: number,
    from: number,
    to: number,
    visit: (bucket: number, id: number, allow: number, challenge: number, block: number) => void,
  ): void {
    for (const { bucket, data } of this.#sql.exec<{ bucket: number; data: ArrayBuffer }>(
      'SELECT bucket, data FROM rollups WHERE dimension = ? AND level = ? AND bucket >= ? AND bucket < ?',
      dimension,
      level,
      from,
      to,
    )) {
      decodeCounts(data, (id, allow, challenge, block) => visit(bucket, id, allow, challenge, block));
    }
  }

  /** Deletes every bucket that ends before this minute. */
  dropBefore(minute: number): void {
    const hour = Math.floor(minute / MINUTES_PER_HOUR);
    this.#sql.exec('DELETE FROM rollups WHERE level = ? AND bucket < ?', LEVEL_MINUTE, minute);
    this.#sql.exec('DELETE FROM rollups WHERE level = ? AND bucket < ?', LEVEL_HOUR, hour);
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
    const unused = this.#sql
      .exec<{ id: number }>('SELECT id FROM rollup_values')
      .toArray()
      .filter(({ id }) => !live.has(id));
    for (const { id } of unused) this.#sql.exec('DELETE FROM rollup_values WHERE id = ?', id);
    this.forgetCache();
  }
}

function isAway(counts: Readonly<Counts>): boolean {
  return counts.some((count) => count < 0);
}

function raise(counts: Map<number, Counts>, id: number, by: Readonly<Counts>): void {
  const existing = counts.get(id);
  if (existing) addCounts(existing, by);
  else counts.set(id, [...by]);
}

function groupByHour(minutes: MinuteCounts): Map<number, [number, Map<string, Counts>][]> {
  const hours = new Map<number, [number, Map<string, Counts>][]>();
  for (const entry of minutes) {
    const hour = Math.floor(entry[0] / MINUTES_PER_HOUR);
    const members = hours.get(hour);
    if (members) members.push(entry);
    else hours.set(hour, [entry]);
  }
  return hours;
}
