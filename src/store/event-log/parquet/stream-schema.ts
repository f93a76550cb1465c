/**
 * What the Parquet files of one stream look like: a flat list of columns, and how a record becomes one value per column
 * and back. Every engine reads the types that are used here, and the two encodings: a dictionary, and runs for booleans.
 * Deltas would be smaller, and stop parquetjs. The tables are in docs/verdict-log.md.
 */

/** Values of one column in one row; `texts` is a list. Integers and moments are safe integers. */
export type Cell = string | number | boolean | readonly string[] | null;

/** `moment`: epoch milliseconds, TIMESTAMP_MILLIS in the file. */
export type ColumnKind = 'text' | 'texts' | 'integer' | 'double' | 'boolean' | 'moment';

export interface ParquetColumn {
  kind: ColumnKind;
  /** Whether a value can be null. ClickHouse reads no list that can be null, so in `texts` only the entries can. */
  nullable: boolean;
  /** Compressed with Snappy. A dictionary of a few short texts is smaller without. */
  isPacked: boolean;
  /** Segments of version 1 have deltas in this column, and these are compressed with Snappy. */
  hadPackedDeltas: boolean;
  /** Smallest and largest value per row group, so that engines skip row groups. */
  hasStatistics: boolean;
  /** Segments of versions 1 and 2 do not have it. */
  isAdded: boolean;
}

export interface StreamSchema<Flat = Record<string, Cell>> {
  /** In the order of the file. A new column goes to the end. */
  columns: { readonly [Name in keyof Flat]: ParquetColumn };
  flatten(record: never): Flat;
  /** The record's JSON, as long as each column took its value. */
  json(flat: Flat): string;
}

/** The column that every stream ends with: the JSON of a record that its columns cannot give back exactly. */
export const EXACT_COLUMN = 'record';

type Options = Partial<Omit<ParquetColumn, 'kind'>>;

function column(kind: ColumnKind, options: Options): ParquetColumn {
  return {
    kind,
    nullable: false,
    isPacked: false,
    hadPackedDeltas: false,
    hasStatistics: false,
    isAdded: false,
    ...options,
  };
}

export const text = (options: Options = {}): ParquetColumn => column('text', options);
export const texts = (options: Options = {}): ParquetColumn => column('texts', options);
export const integer = (options: Options = {}): ParquetColumn => column('integer', options);
export const double = (options: Options = {}): ParquetColumn => column('double', options);
export const truth = (options: Options = {}): ParquetColumn => column('boolean', options);
export const moment = (options: Options = {}): ParquetColumn => column('moment', { isPacked: true, ...options });
