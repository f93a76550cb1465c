/**
 * What a segment says of itself in the footer of its Parquet file: whose it is, and what its shard knows beside the rows.
 * With the rows this is all that a shard needs to be built again from the bucket. A rebuild takes nothing on trust: any
 * file can lie in the bucket, and a file of this log can be cut off.
 */
import { parquetMetadata, type FileMetaData } from 'hyparquet';
import * as z from 'zod/mini';
import { UnreadableSegmentError } from './byte-cursor.ts';
import type { RowGroup } from './row-group-reader.ts';
import type { Counts } from '../shard-rpc.ts';

/**
 * Version 1 had deltas for ids, times and numbers, no `request_id` that was the `id`, and a list that could be null.
 * Version 2 had no `inputs` of a verdict, and an explanation in every one. All are read. Files of any other version are
 * refused.
 */
export const SEGMENT_VERSION = '3';
const readableVersions: ReadonlySet<string> = new Set(['1', '2', SEGMENT_VERSION]);

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

const count = z.int();
const source = z.object({
  stream: z.string(),
  owner: z.string(),
  shard: z.string(),
  no: z.int().check(z.positive()),
  birth: z.string(),
});
const extras = z.object({
  unkept: z.array(z.tuple([count, count, z.string(), count, count, count])),
  // One more than the largest number of a record is no safe integer.
  isolates: z.array(z.object({ isolate: z.string(), numbered: z.number(), covered: z.array(count) })),
  counters: z.record(z.string(), z.number()),
});

export interface SegmentFooter {
  source: SegmentSource;
  extras: SegmentExtras;
  groups: (RowGroup & { start: number; length: number })[];
}

/** Throws an `UnreadableSegmentError` for bytes that are no segment of this log. */
export function readSegmentFooter(bytes: Uint8Array): SegmentFooter {
  const metadata = parsed(bytes);
  const values = new Map(metadata.key_value_metadata?.map(({ key, value }) => [key, value]));
  const version = values.get('gatehouse.version');
  if (version === undefined) throw new UnreadableSegmentError('It is a Parquet file of another program');
  if (!readableVersions.has(version)) throw new UnreadableSegmentError(`It has the unknown version ${version}`);
  try {
    return {
      source: source.parse(JSON.parse(values.get('gatehouse.source') ?? '')),
      extras: extras.parse(JSON.parse(values.get('gatehouse.extras') ?? '')),
      groups: metadata.row_groups.map(placeOf),
    };
  } catch (error) {
    throw new UnreadableSegmentError('Its footer is damaged', { cause: error });
  }
}

function parsed(bytes: Uint8Array): FileMetaData {
  try {
    return parquetMetadata(bytes.slice().buffer);
  } catch (error) {
    throw new UnreadableSegmentError('It is cut off, or no Parquet file', { cause: error });
  }
}

function placeOf({ num_rows: rows, columns }: FileMetaData['row_groups'][number]): SegmentFooter['groups'][number] {
  const chunks = columns.map(({ meta_data: facts }) => Number(facts?.total_compressed_size));
  const start = Number(columns[0]?.file_offset);
  const length = chunks.reduce((sum, bytes) => sum + bytes, 0);
  if (![start, length, ...chunks].every((number) => Number.isSafeInteger(number) && number >= 0)) {
    throw new UnreadableSegmentError('A row group has no place');
  }
  return { rows: Number(rows), start, length, chunks };
}
