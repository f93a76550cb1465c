/**
 * Reads what a segment says of itself in its footer. A rebuild takes nothing on trust: any file can lie in the bucket,
 * and a file of this log can be cut off.
 */
import { type FileMetaData, parquetMetadata } from 'hyparquet';
import * as z from 'zod/mini';
import { UnreadableSegmentError } from './byte-cursor.ts';
import type { RowGroup } from './row-group-reader.ts';
import { readableVersions, type SegmentExtras, type SegmentSource } from './segment-metadata.ts';

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
