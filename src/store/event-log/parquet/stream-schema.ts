/**
 * What the Parquet files of one stream look like: a flat list of columns, and how a record becomes one value per column
 * and back. Every engine reads the types that are used here. The tables are in docs/verdict-log.md.
 */

/** Values of one column in one row; `texts` is a list. Integers and moments are safe integers. */
export type Cell = string | number | boolean | readonly string[] | null;

/** `moment`: epoch milliseconds, TIMESTAMP_MILLIS in the file. */
export type ColumnKind = 'text' | 'texts' | 'integer' | 'double' | 'boolean' | 'moment';

/**
 * `dictionary`: each distinct value once and a place per row. `prefixes`: texts that begin like the one before them
 * (DELTA_BYTE_ARRAY). `deltas`: integers that grow slowly (DELTA_BINARY_PACKED). `runs`: booleans.
 */
export type ColumnEncoding = 'dictionary' | 'prefixes' | 'deltas' | 'runs';

export interface Column {
  kind: ColumnKind;
  nullable: boolean;
  encoding: ColumnEncoding;
  /** Compressed with Snappy. A dictionary of a few short texts is smaller without. */
  isPacked: boolean;
  /** Smallest and largest value per row group, so that engines skip row groups. */
  hasStatistics: boolean;
}

export interface StreamSchema<Flat = Record<string, Cell>> {
  /** In the order of the file. A new column goes to the end. */
  columns: { readonly [Name in keyof Flat]: Column };
  flatten(record: never): Flat;
  /** The record's JSON, as long as each column took its value. */
  json(flat: Flat): string;
}

/** The column that every stream ends with: the JSON of a record that its columns cannot give back exactly. */
export const EXACT_COLUMN = 'record';

type Options = Partial<Pick<Column, 'nullable' | 'encoding' | 'isPacked' | 'hasStatistics'>>;

function column(kind: ColumnKind, encoding: ColumnEncoding, options: Options): Column {
  return { kind, nullable: false, encoding, isPacked: false, hasStatistics: false, ...options };
}

export const text = (options: Options = {}): Column => column('text', 'dictionary', options);
export const texts = (options: Options = {}): Column => column('texts', 'dictionary', options);
export const integer = (options: Options = {}): Column => column('integer', 'dictionary', options);
export const double = (options: Options = {}): Column => column('double', 'dictionary', options);
export const truth = (options: Options = {}): Column => column('boolean', 'runs', options);
export const moment = (options: Options = {}): Column => column('moment', 'deltas', options);
