/**
 * Columns of sealed segments in the table `segment_columns`. Field, segment and part are one number, the row id: an
 * index over three columns would be another written row for each. The columns of one field lie side by side, so a
 * condition is read for all segments in one pass.
 */
import { ColumnKeys, openPlaces, type PackedColumn, type Places } from './column.ts';
import { packRising, unpackRising } from '../packed-numbers.ts';

/** The number of the times of a segment's rows. The fields of a stream have numbers from 1 on, never reused. */
const TIMES = 0;
/** More than any stream has. */
const FIELDS_MAX = 48;
const SEGMENTS_MAX = 2 ** 25;
/** A column whose texts are longer than one value may be has several parts. */
const PARTS_MAX = 64;
const PART_MAX_BYTES = 1_000_000;

function rowId(field: number, segment: number): number {
  return (field * SEGMENTS_MAX + segment) * PARTS_MAX;
}

function rowIds(field: number, segments: readonly number[]): string {
  return JSON.stringify(segments.map((segment) => rowId(field, segment)));
}

export function segmentOf(at: number): number {
  return Math.floor(at / PARTS_MAX) % SEGMENTS_MAX;
}

/** `columns`: number of the field → its column. */
export function writeColumns(
  sql: SqlStorage,
  segment: number,
  columns: ReadonlyMap<number, PackedColumn>,
  times: readonly number[],
): void {
  const put = (field: number, keys: Uint8Array, places: Uint8Array): void => {
    for (let part = 0; part === 0 || part * PART_MAX_BYTES < keys.length; part++) {
      sql.exec(
        'INSERT INTO segment_columns (at, keys, places) VALUES (?, ?, ?)',
        rowId(field, segment) + part,
        keys.slice(part * PART_MAX_BYTES, (part + 1) * PART_MAX_BYTES),
        part === 0 ? places : new Uint8Array(0),
      );
    }
  };
  put(TIMES, new Uint8Array(0), packRising(times));
  for (const [field, { keys, places }] of columns) put(field, keys, places);
}

/** `false`: the segment had none. */
export function dropColumns(sql: SqlStorage, segment: number): boolean {
  const isThere = sql.exec('SELECT 1 FROM segment_columns WHERE at = ?', rowId(TIMES, segment)).toArray().length > 0;
  if (!isThere) return false;
  for (let field = TIMES; field < FIELDS_MAX; field++) {
    const at = rowId(field, segment);
    sql.exec('DELETE FROM segment_columns WHERE at BETWEEN ? AND ?', at, at + PARTS_MAX - 1);
  }
  return true;
}

/** Visits the dictionary of a field in each of these segments that has one. */
export function eachKeys(
  sql: SqlStorage,
  field: number,
  segments: readonly number[],
  visit: (segment: number, keys: ColumnKeys) => void,
): void {
  let parts: ArrayBuffer[] = [];
  let open = -1;
  const close = (): void => {
    if (parts.length > 0) visit(open, new ColumnKeys(joined(parts)));
    parts = [];
  };
  for (const { at, keys } of keysIn(sql, field, segments)) {
    if (segmentOf(at) !== open) close();
    open = segmentOf(at);
    parts.push(keys);
  }
  close();
}

/** Neighbouring segments are read in one pass. */
function keysIn(
  sql: SqlStorage,
  field: number,
  segments: readonly number[],
): Iterable<{ at: number; keys: ArrayBuffer }> {
  const [first, last] = [Math.min(...segments), Math.max(...segments)];
  if (segments.length > 0 && last - first + 1 === segments.length) {
    return sql.exec<{ at: number; keys: ArrayBuffer }>(
      'SELECT at, keys FROM segment_columns WHERE at >= ? AND at < ?',
      rowId(field, first),
      rowId(field, last + 1),
    );
  }
  return sql.exec<{ at: number; keys: ArrayBuffer }>(
    `SELECT at, keys FROM json_each(?) AS wanted JOIN segment_columns ON at BETWEEN value AND value + ${PARTS_MAX - 1}`,
    rowIds(field, segments),
  );
}

function joined(parts: readonly ArrayBuffer[]): ArrayBuffer {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const data = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    data.set(new Uint8Array(part), at);
    at += part.byteLength;
  }
  return data.buffer;
}

/** Visits the places of a field's rows in each of these segments; `rows`: how many rows a segment has. */
export function eachPlaces(
  sql: SqlStorage,
  field: number,
  segments: ReadonlyMap<number, { rows: number }>,
  visit: (segment: number, places: Places) => void,
): void {
  if (segments.size === 0) return;
  for (const { at, places } of sql.exec<{ at: number; places: ArrayBuffer }>(
    'SELECT at, places FROM json_each(?) AS wanted JOIN segment_columns ON at = value',
    rowIds(field, [...segments.keys()]),
  )) {
    const segment = segmentOf(at);
    visit(segment, openPlaces(places, segments.get(segment)?.rows ?? 0));
  }
}

export function placesOf(sql: SqlStorage, field: number, { no, rows }: { no: number; rows: number }): Places {
  let found: Places = new Uint8Array(rows);
  eachPlaces(sql, field, new Map([[no, { rows }]]), (_, places) => (found = places));
  return found;
}

/** Columns 1 to `fields` of a segment, in this order. */
export function wholeColumns(
  sql: SqlStorage,
  { no, rows }: { no: number; rows: number },
  fields: number,
): { keys: ColumnKeys; places: Places }[] {
  const parts = Array.from({ length: fields }, (): { keys: ArrayBuffer[]; places: ArrayBuffer } => ({
    keys: [],
    places: new ArrayBuffer(0),
  }));
  for (const { at, keys, places } of sql.exec<{ at: number; keys: ArrayBuffer; places: ArrayBuffer }>(
    `SELECT at, keys, places FROM json_each(?) AS wanted
     JOIN segment_columns ON at BETWEEN value AND value + ${PARTS_MAX - 1}`,
    JSON.stringify(parts.map((_, index) => rowId(index + 1, no))),
  )) {
    const column = parts[Math.floor(at / PARTS_MAX / SEGMENTS_MAX) - 1];
    if (at % PARTS_MAX === 0 && column) column.places = places;
    column?.keys.push(keys);
  }
  return parts.map(({ keys, places }) => ({ keys: new ColumnKeys(joined(keys)), places: openPlaces(places, rows) }));
}

/** The times of a segment's rows, oldest first. */
export function timesOf(sql: SqlStorage, segment: number): number[] {
  const { places } = sql
    .exec<{ places: ArrayBuffer }>('SELECT places FROM segment_columns WHERE at = ?', rowId(TIMES, segment))
    .one();
  return unpackRising(new Uint8Array(places));
}

/** How many of these times are before the moment. */
export function timesBefore(times: readonly number[], moment: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) < moment) low = middle + 1;
    else high = middle;
  }
  return low;
}
