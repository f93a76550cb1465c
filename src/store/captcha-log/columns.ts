/**
 * The fields of a captcha, and one of them as a column: a dictionary of JSON texts and an index per row, so
 * that a criterion is decided once per distinct value. What an audit search reads of sealed captchas.
 */
import type { CaptchaRecord } from './captcha-record.ts';

/** The place of a field here is its number in the tables and never reused. */
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

/** Criteria of a search: each is a column of its own over a whole run of rows. */
export const searchedFields = [
  'site_key',
  'captcha_type',
  'ip',
  'country',
  'ja4',
  'user_agent',
  'device_type',
  'ip_category',
  'user_account',
  'web_view',
  'iframe',
  'detectors',
  'selection_reason',
  'access_rule',
  'policy_type',
  'status',
  'result_reason',
] as const satisfies readonly CaptchaField[];

const searched: ReadonlySet<CaptchaField> = new Set(searchedFields);

export function isSearched(field: CaptchaField): boolean {
  return searched.has(field);
}

const HEADER_BYTES = 8;
/** With more distinct values an index takes two bytes. */
const NARROW_VALUES_MAX = 256;

/** Length of the dictionary, rows, dictionary (JSON texts hold no line feed), indexes of one or two bytes. */
export function packColumn(texts: readonly string[], indexes: Uint16Array): Uint8Array {
  const dictionary = new TextEncoder().encode(texts.join('\n'));
  const isNarrow = texts.length <= NARROW_VALUES_MAX;
  const tail = isNarrow ? Uint8Array.from(indexes) : new Uint8Array(indexes.slice().buffer);
  const data = new Uint8Array(HEADER_BYTES + dictionary.length + tail.length);
  new Uint32Array(data.buffer, 0, 2).set([dictionary.length, indexes.length]);
  data.set(dictionary, HEADER_BYTES);
  data.set(tail, HEADER_BYTES + dictionary.length);
  return data;
}

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

  /** Place of this text in the dictionary, or -1; found without parting the others. */
  placeOf(text: string): number {
    for (let at = this.text.indexOf(text); at !== -1; at = this.text.indexOf(text, at + 1)) {
      const end = at + text.length;
      const isWhole = (at === 0 || this.text[at - 1] === '\n') && (end === this.text.length || this.text[end] === '\n');
      if (isWhole) return lineFeedsBefore(this.text, at);
    }
    return -1;
  }
}

function lineFeedsBefore(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
