/**
 * Gives back rows of one row group of a segment as the JSON that was sealed. The lengths of its column chunks come from
 * the shard's index, so that no footer is read for a page of the log.
 */
import { UnreadableSegmentError } from './byte-cursor.ts';
import { readChunk } from './column-chunk.ts';
import { type Cell, type ParquetColumn, EXACT_COLUMN, type StreamSchema, text } from './stream-schema.ts';

export interface RowGroup {
  rows: number;
  /** Bytes of each column chunk, in the order of the columns; the chunks follow each other. */
  chunks: readonly number[];
}

const exact = text({ nullable: true });

/** The columns as they lie in a file of this version. */
export function fileColumns<Flat>({ columns }: StreamSchema<Flat>): [name: string, column: ParquetColumn][] {
  return [...Object.entries<ParquetColumn>(columns), [EXACT_COLUMN, exact]];
}

/** `rows` are numbers in the group, in rising order; `null`: every row. */
export function readRowGroup<Flat>(
  schema: StreamSchema<Flat>,
  bytes: Uint8Array,
  group: RowGroup,
  rows: readonly number[] | null,
): string[] {
  try {
    return jsonOfRows(schema, bytes, group, rows ?? Array.from({ length: group.rows }, (_, row) => row));
  } catch (error) {
    // Damaged bytes can name places that do not exist.
    if (error instanceof UnreadableSegmentError) throw error;
    throw new UnreadableSegmentError('The segment is damaged', { cause: error });
  }
}

function jsonOfRows<Flat>(
  schema: StreamSchema<Flat>,
  bytes: Uint8Array,
  group: RowGroup,
  wanted: readonly number[],
): string[] {
  const newest = fileColumns(schema);
  const columns = group.chunks.length === newest.length ? newest : newest.filter(([, { isAdded }]) => !isAdded);
  if (group.chunks.length !== columns.length) throw new UnreadableSegmentError('The segment has other columns');
  // Copies of one object keep its shape, which makes them several times as fast as objects that grow.
  const blank: Record<string, Cell> = Object.fromEntries(newest.map(([name]) => [name, null]));
  const flat = wanted.map(() => ({ ...blank }));
  let start = 0;
  for (const [at, [name, column]] of columns.entries()) {
    const end = start + (group.chunks[at] as number);
    if (end > bytes.length) throw new UnreadableSegmentError('The segment ends too early');
    const cells = readChunk(bytes.subarray(start, end), column, group.rows, wanted);
    for (const [row, cell] of cells.entries()) (flat[row] as Record<string, Cell>)[name] = cell;
    start = end;
  }
  return flat.map((cells) => (cells[EXACT_COLUMN] as string | null) ?? schema.json(cells as Flat));
}
