/**
 * Sealed captchas as columns, 2,000 rows to a part, beside their segment's object: what an audit search
 * reads. A column is a dictionary of JSON texts and an index per row, so a criterion is decided once
 * per distinct value, and a row of the answer is put together without opening a block.
 */
import type { StoredRow } from '../verdict-log/row.ts';
import type { CaptchaRecord } from './captcha-record.ts';

/** The place of a field here is its number in the table and never reused. */
export const captchaFields = [
  'v',
  'id',
  'jti',
  'account_id',
  'site_key',
  'timestamp',
  'captcha_type',
  'ip',
  'asn',
  'country',
  'ja4',
  'user_agent',
  'device_type',
  'ip_category',
  'host',
  'action',
  'lane',
  'user_account',
  'session',
  'web_view',
  'iframe',
  'score',
  'threshold',
  'detectors',
  'selection_reason',
  'access_rule',
  'policy_type',
  'issued',
  'status',
  'result_reason',
  'submitted_at',
  'submitted_correct',
  'verified_at',
  'verified',
] as const satisfies readonly (keyof CaptchaRecord)[];
export type CaptchaField = (typeof captchaFields)[number];

/** About 300 kB in all columns together; an index of two bytes always suffices. */
const PART_ROWS = 2000;
/** Characters of dictionary in one part, three bytes each at most: a value in SQLite ends at 2 MB. */
const PART_TEXT_MAX = 500_000;
const HEADER_BYTES = 8;

interface OpenColumn {
  /** Value, of arrays their JSON → place in the dictionary. */
  places: Map<unknown, number>;
  texts: string[];
  indexes: Uint16Array;
}

/** Collects one segment's captchas, oldest first. */
export class CaptchaColumnsBuilder {
  readonly #parts: { rows: number; minTs: number; maxTs: number; maxId: string; columns: Uint8Array[] }[] = [];
  #columns: OpenColumn[] = openColumns();
  #rows = 0;
  #textLength = 0;
  #minTs = 0;
  #newest: CaptchaRecord | null = null;

  add(record: CaptchaRecord): void {
    if (this.#rows === 0) this.#minTs = record.timestamp;
    for (const [no, field] of captchaFields.entries()) {
      const column = this.#columns[no] as OpenColumn;
      const value = record[field];
      const key = typeof value === 'object' ? JSON.stringify(value) : value;
      let place = column.places.get(key);
      if (place === undefined) {
        const text = JSON.stringify(value);
        place = column.texts.push(text) - 1;
        column.places.set(key, place);
        this.#textLength += text.length;
      }
      column.indexes[this.#rows] = place;
    }
    this.#newest = record;
    this.#rows += 1;
    if (this.#rows === PART_ROWS || this.#textLength >= PART_TEXT_MAX) this.#close();
  }

  #close(): void {
    if (this.#newest === null) return;
    this.#parts.push({
      rows: this.#rows,
      minTs: this.#minTs,
      maxTs: this.#newest.timestamp,
      maxId: this.#newest.id,
      columns: this.#columns.map((column) => packed(column, this.#rows)),
    });
    this.#columns = openColumns();
    this.#rows = 0;
    this.#textLength = 0;
    this.#newest = null;
  }

  /** To be called inside a transaction; replaces what an earlier revision of the segment recorded. */
  write(sql: SqlStorage, segment: number): void {
    this.#close();
    dropColumns(sql, segment);
    for (const [no, part] of this.#parts.entries()) {
      sql.exec(
        'INSERT INTO captcha_parts (segment, no, rows, min_ts, max_ts, max_id) VALUES (?, ?, ?, ?, ?, ?)',
        segment,
        no,
        part.rows,
        part.minTs,
        part.maxTs,
        part.maxId,
      );
      for (const [field, data] of part.columns.entries()) {
        sql.exec(
          'INSERT INTO captcha_columns (segment, part, field, data) VALUES (?, ?, ?, ?)',
          segment,
          no,
          field,
          data,
        );
      }
    }
  }
}

export function dropColumns(sql: SqlStorage, segment: number): void {
  sql.exec('DELETE FROM captcha_parts WHERE segment = ?', segment);
  sql.exec('DELETE FROM captcha_columns WHERE segment = ?', segment);
}

/** Columns are for searching, which ends earlier than the records do. */
export function dropColumnsBefore(sql: SqlStorage, timestamp: number): void {
  sql.exec(
    `DELETE FROM captcha_columns WHERE (segment, part) IN (SELECT segment, no FROM captcha_parts WHERE max_ts < ?)`,
    timestamp,
  );
  sql.exec('DELETE FROM captcha_parts WHERE max_ts < ?', timestamp);
}

function openColumns(): OpenColumn[] {
  return captchaFields.map(() => ({ places: new Map(), texts: [], indexes: new Uint16Array(PART_ROWS) }));
}

/** Length of the dictionary, rows, dictionary (JSON texts hold no line feed), indexes of one or two bytes. */
function packed({ texts, indexes }: OpenColumn, rows: number): Uint8Array {
  const dictionary = new TextEncoder().encode(texts.join('\n'));
  const narrow = texts.length <= 256;
  const tail = narrow ? Uint8Array.from(indexes.subarray(0, rows)) : new Uint8Array(indexes.slice(0, rows).buffer);
  const data = new Uint8Array(HEADER_BYTES + dictionary.length + tail.length);
  new Uint32Array(data.buffer, 0, 2).set([dictionary.length, rows]);
  data.set(dictionary, HEADER_BYTES);
  data.set(tail, HEADER_BYTES + dictionary.length);
  return data;
}

/** One column of one part. */
export class CaptchaColumn {
  /** The dictionary, its texts parted by line feeds. */
  readonly text: string;
  readonly rows: number;
  readonly #data: ArrayBuffer;
  readonly #indexesAt: number;
  #texts: string[] | null = null;
  #indexes: Uint8Array | Uint16Array | null = null;

  constructor(data: ArrayBuffer) {
    const [dictionaryBytes = 0, rows = 0] = new Uint32Array(data, 0, 2);
    this.#data = data;
    this.rows = rows;
    this.#indexesAt = HEADER_BYTES + dictionaryBytes;
    this.text = new TextDecoder().decode(new Uint8Array(data, HEADER_BYTES, dictionaryBytes));
  }

  /** JSON texts of the distinct values. */
  get texts(): readonly string[] {
    this.#texts ??= this.text.split('\n');
    return this.#texts;
  }

  get indexes(): Uint8Array | Uint16Array {
    this.#indexes ??=
      this.#data.byteLength - this.#indexesAt === this.rows
        ? new Uint8Array(this.#data, this.#indexesAt)
        : new Uint16Array(this.#data.slice(this.#indexesAt));
    return this.#indexes;
  }

  textOf(row: number): string {
    return this.texts[this.indexes[row] as number] as string;
  }
}

export interface CaptchaPart {
  segment: number;
  no: number;
  rows: number;
  minTs: number;
  maxTs: number;
  maxId: string;
}

export function columnOf(sql: SqlStorage, part: CaptchaPart, field: CaptchaField): CaptchaColumn {
  const { data } = sql
    .exec<{ data: ArrayBuffer }>(
      'SELECT data FROM captcha_columns WHERE segment = ? AND part = ? AND field = ?',
      part.segment,
      part.no,
      captchaFields.indexOf(field),
    )
    .one();
  return new CaptchaColumn(data);
}

/** These rows as they were before they were sealed. */
export function rowsOf(sql: SqlStorage, part: CaptchaPart, rows: readonly number[]): StoredRow[] {
  if (rows.length === 0) return [];
  const columns = captchaFields.map((field) => columnOf(sql, part, field));
  return rows.map((row) => {
    const texts = columns.map((column) => column.textOf(row));
    const body = `{${captchaFields.map((field, no) => `"${field}":${texts[no]}`).join(',')}}`;
    const { id, timestamp } = JSON.parse(body) as CaptchaRecord;
    return { id, timestamp, body };
  });
}
