/**
 * What a segment says of itself in the footer of its Parquet file: whose it is, and what its shard knows beside the rows.
 * With the rows this is all that a shard needs to be built again from the bucket.
 */
import type { Counts } from '../shard-rpc.ts';

/**
 * Version 1 had deltas for ids, times and numbers, no `request_id` that was the `id`, and a list that could be null.
 * Version 2 had no `inputs` of a verdict, and an explanation in every one. All are read. Files of any other version are
 * refused.
 */
export const SEGMENT_VERSION = '3';
export const readableVersions: ReadonlySet<string> = new Set(['1', '2', SEGMENT_VERSION]);

export interface SegmentSource {
  stream: string;
  owner: string;
  /** Name of the shard's object. */
  shard: string;
  /** Number of the segment in its shard, from 1. */
  no: number;
  /** Tells the shard's object from one that was lost before it: the sums of counters begin anew with each. */
  birth: string;
}

export interface SegmentExtras {
  /** Counts of rows that were counted and not kept (`allowVerdicts: counts`). */
  unkept: UnkeptCount[];
  /** Isolates of its records. A list, because senders choose the names. */
  isolates: SealedIsolate[];
  /** Name of a counter → its sum in this shard when the segment was sealed. */
  counters: Record<string, number>;
}

export interface SealedIsolate {
  isolate: string;
  /** How many records it is known to have numbered. */
  numbered: number;
  /** Numbers of its records in this segment, as pairs of first and last. */
  covered: number[];
}

/** `dimension` is the place in `storedDimensions`; minutes since the epoch. */
export type UnkeptCount = [dimension: number, minute: number, value: string, ...counts: Counts];

/** The key-value pairs of the footer. */
export function segmentMetadata(source: SegmentSource, extras: SegmentExtras): Record<string, string> {
  return {
    'gatehouse.version': SEGMENT_VERSION,
    'gatehouse.source': JSON.stringify(source),
    'gatehouse.extras': JSON.stringify(extras),
  };
}

export const noExtras: SegmentExtras = { unkept: [], isolates: [], counters: {} };
