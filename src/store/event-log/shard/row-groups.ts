/**
 * Where the row groups of a sealed segment lie in its object, so that a reader fetches one by its byte range and needs
 * no footer. All row groups of a segment are one row of the table, because each row that is written is paid for.
 */
import type { RowGroup } from '../parquet/row-group-reader.ts';

export interface StoredRowGroup extends RowGroup {
  /** Bytes in the object. */
  start: number;
  length: number;
  minTs: number;
  maxTs: number;
  maxId: string;
}

type Packed = [rows: number, start: number, length: number, minTs: number, maxTs: number, maxId: string, ...number[]];

/** Runs inside the caller's transaction and replaces what an earlier revision of the segment stored. */
export function writeRowGroups(sql: SqlStorage, segment: number, groups: readonly StoredRowGroup[]): void {
  const packed = groups.map(({ rows, start, length, minTs, maxTs, maxId, chunks }): Packed => {
    return [rows, start, length, minTs, maxTs, maxId, ...chunks];
  });
  sql.exec(
    `INSERT INTO row_groups (segment, data) VALUES (?, ?) ON CONFLICT (segment) DO UPDATE SET data = excluded.data`,
    segment,
    JSON.stringify(packed),
  );
}

/** Oldest rows first. */
export function readRowGroups(sql: SqlStorage, segment: number): StoredRowGroup[] {
  const [row] = sql.exec<{ data: string }>('SELECT data FROM row_groups WHERE segment = ?', segment);
  const packed = JSON.parse(row?.data ?? '[]') as Packed[];
  return packed.map(([rows, start, length, minTs, maxTs, maxId, ...chunks]) => {
    return { rows, start, length, minTs, maxTs, maxId, chunks };
  });
}

export function dropRowGroups(sql: SqlStorage, segment: number): void {
  sql.exec('DELETE FROM row_groups WHERE segment = ?', segment);
}
