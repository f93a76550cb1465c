/**
 * One field of successive rows as a column: a dictionary of its texts, how many rows have each, and for each row the
 * place of its text. A condition is tested once per distinct text, not once per row. Texts contain no line feed: they
 * are JSON.
 */

/** With more distinct texts, a place takes two bytes. */
const NARROW_TEXTS_MAX = 256;
/** Texts from one known start to the next. */
const TEXTS_PER_BLOCK = 64;
const NUMBER_BYTES = 4;
const LINE_FEED = 0x0a;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface PackedColumn {
  /** Number of texts, rows per text, start of each 64th text (32 bits each), then the texts, in UTF-8. */
  keys: Uint8Array;
  /** One byte for each row, or two. */
  places: Uint8Array;
}

export class ColumnBuilder {
  readonly #known = new Map<string, number>();
  readonly #counts: number[] = [];
  /** By row. */
  readonly #places: number[] = [];

  add(text: string): void {
    let place = this.#known.get(text);
    if (place === undefined) {
      place = this.#known.size;
      this.#known.set(text, place);
      this.#counts.push(0);
    }
    this.#counts[place] = (this.#counts[place] as number) + 1;
    this.#places.push(place);
  }

  places(): Uint16Array {
    return Uint16Array.from(this.#places);
  }

  packed(): PackedColumn {
    const texts = [...this.#known.keys()];
    const starts: number[] = [];
    const blocks: Uint8Array[] = [];
    let length = 0;
    for (let first = 0; first < texts.length; first += TEXTS_PER_BLOCK) {
      const isLast = first + TEXTS_PER_BLOCK >= texts.length;
      const block = encoder.encode(texts.slice(first, first + TEXTS_PER_BLOCK).join('\n') + (isLast ? '' : '\n'));
      starts.push(length);
      blocks.push(block);
      length += block.length;
    }
    const head = Uint32Array.of(texts.length, ...this.#counts, ...starts);
    const keys = new Uint8Array(head.byteLength + length);
    keys.set(new Uint8Array(head.buffer));
    for (const [no, block] of blocks.entries()) keys.set(block, head.byteLength + (starts[no] as number));
    const isNarrow = texts.length <= NARROW_TEXTS_MAX;
    return { keys, places: isNarrow ? Uint8Array.from(this.#places) : new Uint8Array(this.places().buffer) };
  }
}

export type Places = Uint8Array | Uint16Array;

export function openPlaces(data: ArrayBuffer, rows: number): Places {
  return data.byteLength === rows ? new Uint8Array(data) : new Uint16Array(data);
}

/** The distinct texts of a column, and how many rows have each. */
export class ColumnKeys {
  /** By place. */
  readonly counts: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #bytes: Uint8Array;

  constructor(data: ArrayBuffer) {
    const [texts = 0] = new Uint32Array(data, 0, 1);
    const blocks = Math.ceil(texts / TEXTS_PER_BLOCK);
    this.counts = new Uint32Array(data, NUMBER_BYTES, texts);
    this.#starts = new Uint32Array(data, NUMBER_BYTES * (1 + texts), blocks);
    this.#bytes = new Uint8Array(data, NUMBER_BYTES * (1 + texts + blocks));
  }

  /** All texts, separated by line feeds. */
  get text(): string {
    return decoder.decode(this.#bytes);
  }

  /** One text, without decoding the others. */
  textAt(place: number): string {
    let start = this.#starts[Math.floor(place / TEXTS_PER_BLOCK)] as number;
    for (let left = place % TEXTS_PER_BLOCK; left > 0; left--) start = this.#bytes.indexOf(LINE_FEED, start) + 1;
    const end = this.#bytes.indexOf(LINE_FEED, start);
    return decoder.decode(this.#bytes.subarray(start, end === -1 ? undefined : end));
  }
}
