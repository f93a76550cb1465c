/**
 * What a `VerdictShard` can be asked, and what it returns: one method is one call over RPC. Callers
 * (`client/`) and the object (`shard/`) share this file and no other code of each other.
 */
import type { CaptchaCondition } from './captcha-condition.ts';
import type { CaptchaEvent } from './captcha-record.ts';
import type { StoredDimension } from './count-dimensions.ts';
import type { RowKey, StoredRow } from './log-row.ts';
import type { BatchAnswer, PackedBatch } from './packed-batch.ts';
import type { RowGroup } from './parquet/row-group-reader.ts';
import type { RowFilter } from './row-filter.ts';

export interface ShardRpc {
  /** Stores batches of verdicts, each one or not at all; idempotent by isolate and number. */
  append(batches: PackedBatch[], settings: ShardSettings): Promise<BatchAnswer[]>;
  /** Merges captcha events into their records; idempotent and in any order. */
  appendCaptchas(events: CaptchaEvent[], settings: ShardSettings): Promise<AppendCounts>;
  /** Adds the counters of a batch, once per batch id. */
  count(batchId: string, counters: Record<string, number>): Promise<void>;
  edgeSums(): Promise<EdgeSums>;
  plan(request: PlanRequest): Promise<ReadPlan>;
  /** Rows that were stored after one row, in the order of storing. */
  tailRows(request: TailRequest): Promise<ShardTail>;
  /** One bounded step of an audit search. */
  scanCaptchas(scan: CaptchaScan): Promise<CaptchaScanStep>;
  /** The `limit` largest values of a dimension and how many more there are. Minutes since the epoch, `to` exclusive. */
  values(
    dimension: StoredDimension,
    from: number,
    to: number,
    outcomes: number[] | null,
    limit: number,
    excludeInternal?: boolean,
  ): Promise<LargestValues>;
  /** Counts of each of the given values in requests of visitors. `null`: of those that are not counted separately. */
  totals(dimension: StoredDimension, values: (string | null)[], from: number, to: number): Promise<ValueTotal[]>;
  /** Counts per bucket of the given values, and of all others together. Minutes since the epoch, `to` exclusive. */
  series(
    dimension: StoredDimension,
    values: (string | null)[],
    from: number,
    to: number,
    bucketMinutes: number,
    outcomes: number[] | null,
    excludeInternal?: boolean,
  ): Promise<ValueSeries>;
  /** Captchas of one site, counted per bucket and per address. */
  liveCaptchas(siteKey: string, window: LiveWindow): Promise<LiveCounts>;
  /** Captchas of these sites, or with `null` of all sites: one series for each entry of `captchaTrafficGroups`. */
  captchaTraffic(siteKeys: readonly string[] | null, window: TrafficWindow): Promise<Point[][]>;
  /** Removes every row of one session, sealed rows included; returns how many rows it removed. */
  erase(jti: string): Promise<number>;
  /** Erases the whole shard a minute after `nowMs`: its instance was deleted. */
  retire(nowMs: number): Promise<void>;
  /** Drops what is derived from sealed segments, so that `rebuild` reads their objects again. */
  beginRebuild(settings: ShardSettings): Promise<void>;
  /** Reads these objects of the bucket again. Those that the shard has already change nothing. */
  rebuild(objects: string[]): Promise<RebuiltSegments>;
  /** Ends a rebuild: every object was read. */
  endRebuild(): Promise<void>;
  /** What this shard holds, for operators and benchmarks. */
  statistics(): Promise<ShardStatistics>;
  /** Sets smaller bounds than the defaults, so that the shard seals sooner. */
  tune(bounds: { hotRowsMax: number; segmentRows: number; hotBytesMax?: number }): Promise<void>;
  /** Seals one segment now, whatever the bounds are; returns how many rows are left unsealed. */
  seal(): Promise<number>;
}

export interface ShardSettings {
  /** Retention of the instance; older rows are deleted. */
  retentionDays: number;
}

export interface AppendCounts {
  accepted: number;
  duplicates: number;
  /** Duplicates whose body differs from the stored one. The stored one stays. */
  conflicting: number;
}

/** Of this shard: sums of what edges counted and of the stored verdicts, and what each isolate numbered. */
export interface EdgeSums {
  counters: Record<string, number>;
  gaps: IsolateGap[];
  room: ShardRoom;
}

/** How full a shard is. At `unsealedMax` rows that could not be sealed it takes no more. */
export interface ShardRoom {
  unsealed: number;
  unsealedMax: number;
  databaseBytes: number;
}

export interface IsolateGap {
  isolate: string;
  /** Highest sequence number seen, plus one. */
  numbered: number;
  /** The same with what the isolate said that it still holds. */
  announced: number;
  /** When a batch of it last arrived; epoch milliseconds. */
  heardAt: number;
  /** Rows of this isolate in this shard. */
  stored: number;
}

export interface PlanRequest {
  filter: RowFilter;
  before: RowKey | null;
  /** How many rows are wanted from this shard at most. */
  limit: number;
  wantTotal: boolean;
}

/** What a reader needs to build its page: unsealed rows, and the sealed row groups to open. */
export interface ReadPlan {
  hot: StoredRow[];
  /** Newest first; some of their rows may not match the filter. At most `PAGE_ROW_GROUPS_MAX` lie wholly before the cursor. */
  rowGroups: RowGroupReference[];
  /** More row groups may be needed than are listed. */
  rowGroupsCut: boolean;
  total: PlannedTotal | null;
}

/** `counted` rows are known to match; the matching rows of the `open` row groups still have to be counted. */
export interface PlannedTotal {
  counted: number;
  open: RowGroupReference[];
  openCut: boolean;
}

/** R2 reads for one page before it ends with a cursor. A Worker has 1,000 subrequests for everything it does. */
export const PAGE_ROW_GROUPS_MAX = 200;

/** What a reader needs to fetch one row group of a sealed segment. */
export interface RowGroupReference extends RowGroup {
  object: string;
  /** Bytes in the object. */
  start: number;
  length: number;
  minTs: number;
  maxTs: number;
  maxId: string;
  /** How many of its rows can match. */
  matching: number;
  /** Lines of these rows, rising: their numbers in the row group. `null`: any row can match. */
  lines: number[] | null;
}

export interface TailRequest {
  filter: RowFilter;
  /** Number of the last row that the reader knows; `null`: only the newest rows are wanted. */
  after: number | null;
  limit: number;
}

export interface TailRow extends StoredRow {
  /** Of its insertion. */
  seq: number;
  /** Rows between `after` and this row that were sealed or erased. */
  missed: number;
}

export interface ShardTail {
  rows: TailRow[];
  /** Every row up to this number was examined. */
  through: number;
  /** Rows between `after` and `through` that were sealed or erased. */
  missed: number;
  /** There are rows after `through` that were not examined. */
  more: boolean;
}

/** Counts by outcome: allow, challenge, block; of captchas approved, pending, disapproved. */
export type Counts = [number, number, number];

export interface ValueCounts {
  /** `null`: the values that are not counted separately. */
  value: string | null;
  counts: Counts;
}

export interface LargestValues {
  values: ValueCounts[];
  /** How many values there are beyond `limit`. */
  more: number;
  /** Some values are not counted separately; their sum is under `null`. */
  lumped: boolean;
}

export interface ValueTotal {
  counts: Counts;
  /** The newest minute since the epoch with a count; `null`: none. */
  lastMinute: number | null;
}

/** `[bucket start in minutes, allow, challenge, block]`. A series is oldest first. */
export type Point = [number, number, number, number];

export interface ValueSeries {
  /** In the order of the requested values. */
  series: Point[][];
  /** All other values together. */
  other: Point[];
}

export interface LiveWindow {
  /** Epoch milliseconds, `until` exclusive. */
  since: number;
  until: number;
  bucketMs: number;
}

export interface LiveAddress {
  ip: string;
  count: number;
  /** Epoch milliseconds of its newest captcha; the fields below are from that captcha. */
  seenAt: number;
  country: string | null;
  asn: number | null;
  categories: readonly string[];
}

export interface LiveCounts {
  /** Start of the bucket in epoch milliseconds → captchas. */
  buckets: Map<number, number>;
  addresses: Map<string, LiveAddress>;
  /** `false`: there are more captchas than the limit; only the newest are counted. */
  isExact: boolean;
}

/** Minutes since the epoch, `to` exclusive. */
export interface TrafficWindow {
  from: number;
  to: number;
  bucketMinutes: number;
}

export interface CaptchaScan {
  conditions: readonly CaptchaCondition[];
  /** Epoch milliseconds, `until` exclusive. */
  since: number;
  until: number;
  /** Only rows older than this are returned; all rows are counted. */
  before: RowKey | null;
  limit: number;
  /** `false`: rows that are not older than `before` are skipped. */
  counts: boolean;
  /** `null`: the first step. */
  from: ScanPosition | null;
}

export interface ScanPosition {
  /** Newest row of the last segment that was searched; `null`: none yet. */
  after: RowKey | null;
  /** Rows sealed after the first step were among its unsealed rows: later segments are skipped. */
  lastSegment: number;
  /** Revision of the index at the first step. */
  revision: number;
}

export interface CaptchaScanStep {
  /** Newest first. */
  rows: StoredRow[];
  counted: number;
  /** How many rows this step searched. */
  seen: number;
  next: ScanPosition | null;
  /** Rows were erased since the first step: the counts no longer fit, and the search starts again. */
  isStale: boolean;
}

export interface RebuiltSegments {
  segments: number;
  rows: number;
  skipped: SkippedObject[];
}

/** An object in the log's folder that is no readable segment of the log. */
export interface SkippedObject {
  object: string;
  reason: string;
}

export interface ShardStatistics {
  hotRows: number;
  sealedRows: number;
  segments: number;
  /** Compressed, in R2. */
  sealedBytes: number;
  databaseBytes: number;
  /** About what unsealed rows take of the memory now. */
  memoryBytes: number;
}
