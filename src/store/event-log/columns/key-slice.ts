/**
 * Sorted keys, each with the rows that have it: one value of `segment_keys`. Beside each row number stand the row's
 * places in other columns, so that most combinations of conditions are counted without reading those columns. Keys share
 * their common beginnings within blocks, and a search reads one block.
 */
import { compareKey, KEY_MAX_BYTES } from './key-text.ts';
import { NumberReader, NumberWriter } from '../packed-numbers.ts';

/** A key, its rows in rising order. */
export type KeyRows = readonly [key: Uint8Array, rows: readonly number[]];

const KEYS_PER_BLOCK = 16;
/** Number of postings, of blocks, of columns beside the rows, of classes; keys and postings before this slice. */
const HEADER_NUMBERS = 6;

/** What the segment has before a slice of sorted keys. */
export interface SliceStart {
  places: number;
  postings: number;
  /** Postings by their place in the first column beside the rows, so that a range of keys is counted from its ends. */
  classes: Uint32Array;
}

/** `beside`: by row, the place of each row in other columns. */
export function packSlice(keys: readonly KeyRows[], beside: readonly Uint16Array[], before: SliceStart): Uint8Array {
  const postings = keys.reduce((sum, [, rows]) => sum + rows.length, 0);
  const blocks = Math.ceil(keys.length / KEYS_PER_BLOCK);
  const [blockStarts, blockPostings] = [new Uint32Array(blocks), new Uint32Array(blocks)];
  const columns = Array.from({ length: 1 + beside.length }, () => new Uint16Array(postings));
  const writer = new NumberWriter();
  let at = 0;
  let previous = new Uint8Array(0);
  for (const [place, [key, rows]] of keys.entries()) {
    if (place % KEYS_PER_BLOCK === 0) {
      blockStarts[place / KEYS_PER_BLOCK] = writer.length;
      blockPostings[place / KEYS_PER_BLOCK] = at;
      previous = new Uint8Array(0);
    }
    const shared = sharedBytes(previous, key);
    writer.write(shared);
    writer.write(key.length - shared);
    writer.append(key.subarray(shared));
    writer.write(rows.length);
    for (const row of rows) {
      (columns[0] as Uint16Array)[at] = row;
      for (const [no, column] of beside.entries()) (columns[no + 1] as Uint16Array)[at] = column[row] as number;
      at++;
    }
    previous = Uint8Array.from(key);
  }
  const { classes } = before;
  const header = Uint32Array.of(postings, blocks, beside.length, classes.length, before.places, before.postings);
  return joined([header, classes, blockStarts, blockPostings, ...columns, writer.bytes()]);
}

function joined(parts: readonly (Uint8Array | Uint16Array | Uint32Array)[]): Uint8Array {
  const data = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    data.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
    at += part.byteLength;
  }
  return data;
}

function sharedBytes(one: Uint8Array, other: Uint8Array): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at++;
  return at;
}

/** The first key of a slice that does not sort before the wanted one, or the end of the slice. */
interface SoughtKey {
  isHeld: boolean;
  /** Of the key among the segment's keys. */
  place: number;
  /** Its postings in this slice, `[from, to)`. */
  from: number;
  to: number;
}

const key = new Uint8Array(KEY_MAX_BYTES);

export class KeySlice {
  readonly postings: number;
  /** How many, with that of the row numbers. */
  readonly columns: number;
  readonly before: SliceStart;
  readonly #blocks: number;
  readonly #starts: Uint32Array;
  readonly #firstPostings: Uint32Array;
  readonly #data: ArrayBuffer;
  readonly #columnsAt: number;
  readonly #keys: Uint8Array;

  constructor(data: ArrayBuffer) {
    const numbers = new Uint32Array(data, 0, HEADER_NUMBERS);
    const [postings = 0, blocks = 0, beside = 0, classes = 0, placesBefore = 0, postingsBefore = 0] = numbers;
    const at = 4 * (HEADER_NUMBERS + classes);
    this.postings = postings;
    this.columns = 1 + beside;
    this.before = {
      places: placesBefore,
      postings: postingsBefore,
      classes: new Uint32Array(data, 4 * HEADER_NUMBERS, classes),
    };
    this.#blocks = blocks;
    this.#data = data;
    this.#starts = new Uint32Array(data, at, blocks);
    this.#firstPostings = new Uint32Array(data, at + 4 * blocks, blocks);
    this.#columnsAt = at + 8 * blocks;
    this.#keys = new Uint8Array(data, this.#columnsAt + 2 * (1 + beside) * postings);
  }

  /** Column 0 has the row numbers, the others what stands beside them; by posting. */
  column(no: number): Uint16Array {
    return new Uint16Array(this.#data, this.#columnsAt + 2 * no * this.postings, this.postings);
  }

  seek(wanted: Uint8Array): SoughtKey {
    const block = this.#lastBlockUpTo(wanted);
    if (block < 0) return { isHeld: false, place: this.before.places, from: 0, to: 0 };
    const reader = new NumberReader(this.#keys, this.#starts[block]);
    const end = this.#starts[block + 1] ?? this.#keys.length;
    let place = this.before.places + block * KEYS_PER_BLOCK;
    let from = this.#firstPostings[block] as number;
    while (reader.at < end) {
      const shared = reader.next();
      const added = reader.next();
      for (let at = 0; at < added; at++) key[shared + at] = this.#keys[reader.at + at] as number;
      reader.at += added;
      const rows = reader.next();
      const order = compareKey(key, shared + added, wanted);
      if (order >= 0) return { isHeld: order === 0, place, from, to: order === 0 ? from + rows : from };
      from += rows;
      place++;
    }
    return { isHeld: false, place, from, to: from };
  }

  /** Whether the first key of the slice sorts after the wanted one. */
  startsAfter(wanted: Uint8Array): boolean {
    return this.#blocks === 0 || this.#compareFirst(0, wanted) > 0;
  }

  #lastBlockUpTo(wanted: Uint8Array): number {
    let low = 0;
    let high = this.#blocks;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compareFirst(middle, wanted) <= 0) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #compareFirst(block: number, wanted: Uint8Array): number {
    const reader = new NumberReader(this.#keys, this.#starts[block]);
    reader.next();
    const length = reader.next();
    return compareKey(this.#keys.subarray(reader.at, reader.at + length), length, wanted);
  }
}
