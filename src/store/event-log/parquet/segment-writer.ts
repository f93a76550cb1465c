/**
 * Writes records of one stream as a Parquet file, one row group after another. The same rows give the same bytes. A
 * record that its columns do not give back exactly (half of a surrogate pair, a field that no column has) is kept as
 * JSON beside them.
 */
import { ByteWriter } from 'hyparquet-writer/src/bytewriter.js';
import { ParquetWriter } from 'hyparquet-writer/src/parquet-writer.js';
import type { SchemaElement } from 'hyparquet';
import { fileColumns } from './row-group-reader.ts';
import { type Cell, type ParquetColumn, type ColumnKind, EXACT_COLUMN, type StreamSchema } from './stream-schema.ts';

/** Longer texts are cut in the statistics, which engines allow for. */
const STATISTICS_TEXT_BYTES = 64;

/** Iceberg knows a column by its number. The columns after these two have the next numbers, in the order of the file. */
const EXACT_COLUMN_ID = 1;
const FIRST_COLUMN_ID = 2;
/** The entries of a list have a number of their own, which is this much above that of the list. */
const LIST_ENTRY_IDS = 1000;

export class SegmentWriter<Flat> {
  readonly #schema: StreamSchema<Flat>;
  readonly #columns: [name: string, column: ParquetColumn][];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  #cells: Cell[][];

  constructor(schema: StreamSchema<Flat>) {
    this.#schema = schema;
    this.#columns = fileColumns(schema);
    this.#writer = new ParquetWriter({
      writer: this.#bytes,
      schema: elementsOf(this.#columns),
      codec: 'UNCOMPRESSED',
      createdBy: 'gatehouse',
      statisticsTruncateLength: STATISTICS_TEXT_BYTES,
    });
    this.#cells = this.#columns.map(() => []);
  }

  /** `record` is the parsed `body`. */
  add(record: object, body: string): void {
    const flat = this.#flattened(record);
    let fits = true;
    for (const [at, [name, column]] of this.#columns.entries()) {
      const cell = fitting(column, flat[name] ?? null);
      fits &&= name === EXACT_COLUMN || cell === (flat[name] ?? null);
      (this.#cells[at] as Cell[]).push(cell);
    }
    // UTF-8 cannot hold half of a surrogate pair, which JSON writes as an escape.
    if (fits && !body.includes('\\ud') && this.#schema.json(flat as Flat) === body) return;
    (this.#cells.at(-1) as Cell[])[this.rows - 1] = body;
  }

  /** A record of another form is kept as JSON only, so that one such record does not stop the log from sealing. */
  #flattened(record: object): Record<string, Cell> {
    try {
      return this.#schema.flatten(record as never) as Record<string, Cell>;
    } catch {
      return {};
    }
  }

  /** Rows of the open row group. */
  get rows(): number {
    return this.#cells[0]?.length ?? 0;
  }

  /** Writes the open rows as a row group and returns where it begins and the lengths of its column chunks. */
  endRowGroup(): { start: number; length: number; chunks: number[] } {
    const { rows } = this;
    const start = this.#bytes.offset;
    void this.#writer.write({
      columnData: this.#columns.map(([name, { isPacked, hasStatistics, kind }], at) => ({
        name,
        data: physical(kind, this.#cells[at] as Cell[]),
        encoding: kind === 'boolean' ? ('RLE' as const) : ('RLE_DICTIONARY' as const),
        codec: isPacked ? ('SNAPPY' as const) : ('UNCOMPRESSED' as const),
        statistics: hasStatistics,
      })),
      rowGroupSize: rows,
      // One page per column.
      pageSize: 0,
    });
    this.#cells = this.#columns.map(() => []);
    const chunks = this.#writer.row_groups.at(-1)?.columns ?? [];
    return {
      start,
      length: this.#bytes.offset - start,
      chunks: chunks.map(({ meta_data: facts }) => Number(facts?.total_compressed_size ?? 0)),
    };
  }

  /** Ends the file. `metadata` goes into its footer. */
  end(metadata: Readonly<Record<string, string>>): void {
    this.#writer.kvMetadata = Object.entries(metadata).map(([key, value]) => ({ key, value }));
    void this.#writer.finish();
  }

  /** What was written since the last call. The writer keeps only what the footer needs. */
  take(): Uint8Array {
    const taken = this.#bytes.getBytes().slice();
    // Its `offset`, from which the footer gets its positions, continues to count.
    this.#bytes.index = 0;
    return taken;
  }
}

/** The value, or what stands in its place when the column cannot hold it. */
function fitting({ kind, nullable }: ParquetColumn, cell: Cell): Cell {
  const substitute = nullable && kind !== 'texts' ? null : substitutes[kind];
  if (cell === null) return substitute;
  const isRight =
    kind === 'text'
      ? typeof cell === 'string'
      : kind === 'texts'
        ? Array.isArray(cell) && cell.every((entry) => typeof entry === 'string')
        : kind === 'boolean'
          ? typeof cell === 'boolean'
          : kind === 'double'
            ? typeof cell === 'number'
            : Number.isSafeInteger(cell);
  return isRight ? cell : substitute;
}

const substitutes: Record<ColumnKind, Cell> = {
  text: '',
  texts: [],
  integer: 0,
  moment: 0,
  double: 0,
  boolean: false,
};

function physical(kind: ColumnKind, cells: Cell[]): Cell[] | (bigint | null)[] {
  if (kind !== 'integer' && kind !== 'moment') return cells;
  return cells.map((cell) => (cell === null ? null : BigInt(cell as number)));
}

function elementsOf(columns: readonly [string, ParquetColumn][]): SchemaElement[] {
  const elements: SchemaElement[] = [{ name: 'root', num_children: columns.length }];
  for (const [at, [name, { kind, nullable }]] of columns.entries()) {
    const field_id = name === EXACT_COLUMN ? EXACT_COLUMN_ID : FIRST_COLUMN_ID + at;
    const repetition_type = nullable ? 'OPTIONAL' : 'REQUIRED';
    if (kind !== 'texts') elements.push({ name, repetition_type, field_id, ...types[kind] });
    else
      elements.push(
        { name, repetition_type: 'REQUIRED', field_id, num_children: 1, ...types.list },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        { name: 'element', repetition_type, field_id: LIST_ENTRY_IDS + field_id, ...types.text },
      );
  }
  return elements;
}

const types = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  list: { converted_type: 'LIST', logical_type: { type: 'LIST' } },
  integer: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  moment: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
} as const;
