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

/** A column with the type of its cells. */
export interface ColumnOf<Value extends Cell> extends ParquetColumn {
  readonly cell?: Value;
}

type NullableColumnOf<Value extends Cell, Given extends Options> = ColumnOf<
  Given extends { nullable: true } ? Value | null : Value
>;

/** What a row has in these columns. */
export type FlatOf<Columns extends Readonly<Record<string, ColumnOf<Cell>>>> = {
  -readonly [Name in keyof Columns]: Columns[Name] extends ColumnOf<infer Value> ? Value : never;
};

function kindOf<Value extends Cell>(kind: ColumnKind, ofKind: Options = {}) {
  return <Given extends Options = object>(options?: Given): NullableColumnOf<Value, Given> => ({
    kind,
    nullable: false,
    isPacked: false,
    hadPackedDeltas: false,
    hasStatistics: false,
    isAdded: false,
    ...ofKind,
    ...options,
  });
}

export const text = kindOf<string>('text');
/** Never `null`: see `nullable`. */
export const texts = (options?: Options): ColumnOf<readonly string[]> => kindOf<readonly string[]>('texts')(options);
export const integer = kindOf<number>('integer');
export const double = kindOf<number>('double');
export const truth = kindOf<boolean>('boolean');
export const moment = kindOf<number>('moment', { isPacked: true });
