/**
 * Up to 250 whole sealed captchas in one value: for each field its distinct JSON texts and one byte per row. A page
 * reads a few groups. A search for a text in any field tests a group before its rows.
 */
import type { StoredRow } from '../log-row.ts';
import type { CaptchaRecord } from '../captcha-record.ts';
import { captchaFields } from '../captcha-fields.ts';
import type { CaptchaField } from '../captcha-fields.ts';

/** One byte is enough for the places of 250 values. A page whose rows are far apart reads 50 kB for each. */
export const GROUP_ROWS = 250;
/** Characters of text, at most three bytes each: a value in SQLite holds at most 2 MB. */
const GROUP_TEXT_MAX = 250_000;
const HEADER_BYTES = 8;
/** Separates fields; JSON texts contain no control character. */
const FIELD_END = '\u001E';

interface OpenField {
  /** Value (of lists their JSON) → place in the dictionary. */
  places: Map<unknown, number>;
  texts: string[];
  indexes: Uint8Array;
}

export class CaptchaGroupBuilder {
  /** In the order of `captchaFields`. */
  readonly fields: OpenField[] = captchaFields.map(() => ({
    places: new Map(),
    texts: [],
    indexes: new Uint8Array(GROUP_ROWS),
  }));
  rows = 0;
  #textLength = 0;

  get isFull(): boolean {
    return this.rows === GROUP_ROWS || this.#textLength >= GROUP_TEXT_MAX;
  }

  add(record: CaptchaRecord): void {
    for (const [no, name] of captchaFields.entries()) {
      const field = this.fields[no] as OpenField;
      const value = record[name];
      const key = typeof value === 'object' ? JSON.stringify(value) : value;
      let place = field.places.get(key);
      if (place === undefined) {
        const text = JSON.stringify(value);
        place = field.texts.push(text) - 1;
        field.places.set(key, place);
        this.#textLength += text.length;
      }
      field.indexes[this.rows] = place;
    }
    this.rows += 1;
  }

  /** Length of the text, number of rows, text, then one byte per row for each field. */
  packed(): Uint8Array {
    const text = new TextEncoder().encode(this.fields.map(({ texts }) => texts.join('\n')).join(FIELD_END));
    const data = new Uint8Array(HEADER_BYTES + text.length + this.rows * this.fields.length);
    new Uint32Array(data.buffer, 0, 2).set([text.length, this.rows]);
    data.set(text, HEADER_BYTES);
    for (const [no, { indexes }] of this.fields.entries()) {
      data.set(indexes.subarray(0, this.rows), HEADER_BYTES + text.length + no * this.rows);
    }
    return data;
  }
}

export class CaptchaGroup {
  /** The texts of all fields. */
  readonly text: string;
  readonly rows: number;
  readonly #indexes: Uint8Array;
  #fields: string[] | null = null;
  readonly #texts = new Map<number, string[]>();

  constructor(data: ArrayBuffer) {
    const [textBytes = 0, rows = 0] = new Uint32Array(data, 0, 2);
    this.rows = rows;
    this.text = new TextDecoder().decode(new Uint8Array(data, HEADER_BYTES, textBytes));
    this.#indexes = new Uint8Array(data, HEADER_BYTES + textBytes);
  }

  /** The field's texts, separated by line feeds. */
  fieldText(field: CaptchaField): string {
    return this.#textOfField(captchaFields.indexOf(field));
  }

  textsOf(field: CaptchaField): readonly string[] {
    return this.#textsOfField(captchaFields.indexOf(field));
  }

  /** Places in `textsOf(field)`, one per row. */
  indexesOf(field: CaptchaField): Uint8Array {
    const at = captchaFields.indexOf(field) * this.rows;
    return this.#indexes.subarray(at, at + this.rows);
  }

  /** The row as it was before it was sealed. */
  row(row: number): StoredRow {
    const members = captchaFields.map((name, no) => {
      const place = this.#indexes[no * this.rows + row] as number;
      return `"${name}":${this.#textsOfField(no)[place]}`;
    });
    const body = `{${members.join(',')}}`;
    const { id, timestamp } = JSON.parse(body) as CaptchaRecord;
    return { id, timestamp, body };
  }

  #textOfField(no: number): string {
    this.#fields ??= this.text.split(FIELD_END);
    return this.#fields[no] as string;
  }

  #textsOfField(no: number): string[] {
    const known = this.#texts.get(no);
    if (known) return known;
    const texts = this.#textOfField(no).split('\n');
    this.#texts.set(no, texts);
    return texts;
  }
}
