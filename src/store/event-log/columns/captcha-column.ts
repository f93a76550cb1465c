/**
 * One field of sealed captchas as a column: a dictionary of JSON texts and the index of each row's text in it.
 * An audit search tests a condition once per distinct text, not once per row.
 */

/** With more distinct values, a place takes two bytes. */
const NARROW_VALUES_MAX = 256;
const COUNT_BYTES = 4;

/** Number of distinct values, rows per value (32 bits each), then the values. JSON texts contain no line feed. */
export function packColumnKeys(texts: readonly string[], counts: Uint32Array): Uint8Array {
  const dictionary = new TextEncoder().encode(texts.join('\n'));
  const head = Uint32Array.of(texts.length, ...counts);
  const data = new Uint8Array(head.byteLength + dictionary.length);
  data.set(new Uint8Array(head.buffer));
  data.set(dictionary, head.byteLength);
  return data;
}

/** For each row the place of its value among the keys, in one byte or two. */
export function packPlaces(places: Uint16Array, values: number): Uint8Array {
  return values <= NARROW_VALUES_MAX ? Uint8Array.from(places) : new Uint8Array(places.slice().buffer);
}

/** For each row its time. Nearly every row has another one, so this column has no keys. */
export function packTimes(times: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(times).buffer);
}

export function openPlaces(data: ArrayBuffer, rows: number): Uint8Array | Uint16Array {
  return data.byteLength === rows ? new Uint8Array(data) : new Uint16Array(data);
}

/** The distinct values of a column, and how many rows have each. */
export class ColumnKeys {
  /** JSON texts, separated by line feeds. */
  readonly text: string;
  /** By place. */
  readonly counts: Uint32Array;

  constructor(data: ArrayBuffer) {
    const [values = 0] = new Uint32Array(data, 0, 1);
    this.counts = new Uint32Array(data, COUNT_BYTES, values);
    this.text = new TextDecoder().decode(new Uint8Array(data, COUNT_BYTES * (values + 1)));
  }

  get texts(): string[] {
    return this.text.split('\n');
  }

  /** The place of this text, or -1; found without splitting the texts. */
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
