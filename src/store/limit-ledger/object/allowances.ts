/** What is left of a limit for a key: the times of its uses, or the level of its bucket. One row for each key. */
import type { LimitTake, LimitTakings } from '../../../contract/edge/limits.ts';
import { type Bucket, emptyBucket, filled, takeBucket } from '../../../limits/bucket.ts';
import { type Meter, type SlidingLog, takeSliding, type Taking } from '../../../limits/sliding-log.ts';

export function createAllowances(sql: SqlStorage): void {
  sql.exec(
    `CREATE TABLE IF NOT EXISTS allowances
       (key TEXT NOT NULL PRIMARY KEY, ends_at INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID`,
  );
}

export class Allowances {
  readonly #sql: SqlStorage;
  rows: number;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.rows = this.#count();
  }

  /** `null`: a new key that there is no room for. What is refused writes nothing. */
  take(take: LimitTake, nowMs: number, mayGrow: boolean): LimitTakings[number] {
    const { key, algorithm, asked, windowMs } = take;
    const known = this.#read(key);
    if (known === null && !mayGrow) return null;
    const { granted, remaining, retryAfterMs, state, isAhead } =
      algorithm === 'bucket' ? bucketTaking(known, take, asked, nowMs) : slidingTaking(known, take, asked, nowMs);
    if (granted > 0 || isAhead) this.#write(key, nowMs + windowMs, state, known === null);
    return [granted, remaining, retryAfterMs];
  }

  /** Adds uses that an isolate has let through, and returns the bucket's level. */
  fill(key: string, meter: Meter, uses: number, nowMs: number, mayGrow: boolean): number {
    const known = this.#read(key);
    const bucket = filled(bucketOf(known), meter, uses, nowMs);
    const endsAt = nowMs + Math.ceil(bucket.level / meter.count);
    if (known !== null || mayGrow) this.#write(key, endsAt, encodeBucket(bucket), known === null);
    return bucket.level;
  }

  clean(nowMs: number): void {
    this.#sql.exec('DELETE FROM allowances WHERE ends_at <= ?', nowMs);
    this.rows = this.#count();
  }

  #read(key: string): number[] | null {
    const row = this.#sql.exec<{ state: string }>('SELECT state FROM allowances WHERE key = ?', key).toArray()[0];
    return row === undefined ? null : row.state.split(' ').map(Number);
  }

  #write(key: string, endsAt: number, state: string, isNew: boolean): void {
    if (isNew) this.rows++;
    this.#sql.exec('INSERT OR REPLACE INTO allowances (key, ends_at, state) VALUES (?, ?, ?)', key, endsAt, state);
  }

  #count(): number {
    return this.#sql.exec<{ n: number }>('SELECT COUNT(*) AS n FROM allowances').one().n;
  }
}

interface StatedTaking extends Taking {
  state: string;
  /** The clock was set back: what is known is of a time to come. Written again, so that it ends in time. */
  isAhead: boolean;
}

function slidingTaking(known: number[] | null, meter: Meter, asked: number, nowMs: number): StatedTaking {
  const log = known === null ? [] : decodeLog(known);
  const taking = takeSliding(log, meter, asked, nowMs);
  return { ...taking, state: encodeLog(taking.log), isAhead: (log.at(-2) ?? nowMs) > nowMs };
}

function bucketTaking(known: number[] | null, meter: Meter, asked: number, nowMs: number): StatedTaking {
  const bucket = bucketOf(known);
  const taking = takeBucket(bucket, meter, asked, nowMs);
  return { ...taking, state: encodeBucket(taking.bucket), isAhead: bucket.atMs > nowMs };
}

/** Each time but the first as its distance from the one before: most are then one to five digits long. */
function encodeLog(log: SlidingLog): string {
  return log.map((value, at) => (at % 2 === 0 && at > 0 ? value - log[at - 2]! : value)).join(' ');
}

function decodeLog(state: readonly number[]): SlidingLog {
  let timeMs = 0;
  return state.map((value, at) => (at % 2 === 0 ? (timeMs += value) : value));
}

function encodeBucket({ level, atMs }: Bucket): string {
  return `${level} ${atMs}`;
}

function bucketOf(state: readonly number[] | null): Bucket {
  return state === null ? emptyBucket : { level: state[0]!, atMs: state[1]! };
}
