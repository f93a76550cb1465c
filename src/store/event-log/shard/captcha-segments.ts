/**
 * Rows of sealed captchas, put together from their columns. The rows of a segment are sorted by time and id, so a cursor
 * is the number of a row.
 */
import { type CaptchaField, captchaFields } from '../captcha-fields.ts';
import type { CaptchaRecord } from '../captcha-record.ts';
import { columnNo } from '../columns/captcha-columns.ts';
import type { ColumnKeys, Places } from '../columns/column.ts';
import { dropColumns, eachKeys, placesOf, timesBefore, timesOf, wholeColumns } from '../columns/segment-columns.ts';
import type { SealedSegment } from '../columns/segment-search.ts';
import { compareNewestFirst, newestOf, type RowKey, type StoredRow } from '../log-row.ts';
import { readMeta, writeMeta } from './schema.ts';

/** How many rows of the segment are older than this key. They come first in it. */
export function rowsBefore(sql: SqlStorage, segment: SealedSegment, key: RowKey): number {
  if (segment.minTs > key.timestamp) return 0;
  if (compareNewestFirst(key, newestOf(segment)) < 0) return segment.rows;
  const times = timesOf(sql, segment.no);
  const [first, behind] = [timesBefore(times, key.timestamp), timesBefore(times, key.timestamp + 1)];
  if (first === behind || key.id === '') return first;
  const ids = new CaptchaColumn(sql, segment, 'id');
  let row = first;
  while (row < behind && (JSON.parse(ids.textOf(row)) as string) < key.id) row++;
  return row;
}

/** The texts of one field. */
export class CaptchaColumn {
  #keys: ColumnKeys | null = null;
  readonly #places: Places;

  constructor(sql: SqlStorage, segment: SealedSegment, field: CaptchaField) {
    eachKeys(sql, columnNo(field), [segment.no], (_, keys) => (this.#keys = keys));
    this.#places = placesOf(sql, columnNo(field), segment);
  }

  textOf(row: number): string {
    return this.#keys?.textAt(this.#places[row] as number) ?? 'null';
  }
}

/** Whole rows of one segment. */
export class CaptchaRows {
  readonly #columns: { keys: ColumnKeys; places: Places }[];

  constructor(sql: SqlStorage, segment: SealedSegment) {
    this.#columns = wholeColumns(sql, segment, captchaFields.length);
  }

  /** The row as it was before it was sealed. */
  row(row: number): StoredRow {
    const members = this.#columns.map(({ keys, places }, no) => {
      return `"${captchaFields[no]}":${keys.textAt(places[row] as number)}`;
    });
    const body = `{${members.join(',')}}`;
    const { id, timestamp } = JSON.parse(body) as CaptchaRecord;
    return { id, timestamp, body };
  }
}

/** Older segments have no columns any more; epoch milliseconds. */
export function searchedSince(sql: SqlStorage): number {
  return Number(readMeta(sql, 'searched_since') ?? 0);
}

/** Columns serve searches only, which look back less far than captchas are kept. Keys stay, to erase sessions by. */
export function dropCaptchaColumns(sql: SqlStorage, before: number): void {
  if (!readMeta(sql, 'name')?.startsWith('captcha/')) return;
  const old = sql.exec<{ no: number }>(
    "SELECT no FROM segments WHERE state = 'sealed' AND max_ts >= ? AND max_ts < ?",
    searchedSince(sql),
    before,
  );
  const segments = old.toArray();
  for (const { no } of segments) dropColumns(sql, no);
  if (segments.length > 0) writeMeta(sql, 'searched_since', String(before));
}
