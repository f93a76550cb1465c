/** Reads Parquet files with readers of others, which have values of their own for lists, times and integers. */
import { readFileSync } from 'node:fs';
import { DuckDBInstance } from '@duckdb/node-api';
import { ParquetReader } from '@dsnp/parquetjs';
import { Vector, tableFromIPC } from 'apache-arrow';
import { parquetReadObjects } from 'hyparquet';
import { readParquet } from 'parquet-wasm/node';

/** Times are epoch milliseconds. */
export type Row = Record<string, unknown>;

export const engines: Record<string, (file: string) => Promise<Row[]>> = {
  async DuckDB(file) {
    const duckdb = await (await DuckDBInstance.create(':memory:')).connect();
    const found = await duckdb.runAndReadAll(`FROM read_parquet('${file}', hive_partitioning = false)`);
    duckdb.closeSync();
    return found.getRowObjectsJS().map(plainRow);
  },

  async hyparquet(file) {
    return (await parquetReadObjects({ file: new Uint8Array(readFileSync(file)).buffer })).map(plainRow);
  },

  async 'parquet-wasm and Arrow'(file) {
    const table = tableFromIPC(readParquet(new Uint8Array(readFileSync(file))).intoIPCStream());
    return table.toArray().map((row) => plainRow(row.toJSON() as Row));
  },

  async parquetjs(file) {
    const reader = await ParquetReader.openFile(file);
    const cursor = reader.getCursor();
    const rows: Row[] = [];
    for (let row = await cursor.next(); row; row = await cursor.next()) rows.push(plainRow(row as Row));
    await reader.close();
    return rows;
  },
};

const plainRow = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)]));

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.getTime();
  if (value instanceof Vector) return [...value];
  // The three levels of a list in the file, as parquetjs returns them.
  if (value !== null && typeof value === 'object' && 'list' in value) {
    return ((value.list ?? []) as { element: unknown }[]).map(({ element }) => element);
  }
  return value;
}
