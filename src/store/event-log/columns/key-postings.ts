/**
 * The keys of a sealed segment as bytes, each with the rows that have it. Keys are sorted and share their common
 * beginnings; row numbers are stored as differences. Because keys are sorted, a prefix is a range of keys and a key has
 * a place. Because every row is listed, counting by key reads no row.
 */
import { textHash } from '../../text-hash.ts';

/** Longer texts are cut here and told apart by a hash: rows found by a cut key must be compared in full. */
const KEY_MAX_CHARS = 128;
/** Follows a cut text. No uncut key is long enough to have a character at this position. */
const CUT_MARK = '\uFFFF';
/**
 * A row of `segment_keys` then fits a quarter of a page; SQLite would move the rest of a longer row to another page.
 */
const CHUNK_MAX_BYTES = 900;

export function isCut(text: string): boolean {
  return text.length > KEY_MAX_CHARS;
}

/** The text that a key is stored under. */
export function keyText(text: string): string {
  if (!isCut(text)) return text;
  const hash = textHash(text);
  return `${cutPrefix(text)}${String.fromCharCode(hash >>> 16, hash & 0xffff)}`;
}

/** The common beginning of all cut texts that start with this text. */
export function cutPrefix(text: string): string {
  return `${text.slice(0, KEY_MAX_CHARS)}${CUT_MARK}`;
}

/**
 * Encodes UTF-16 units one by one, as UTF-8 encodes a character of that number. Bytes then sort as JavaScript sorts
 * texts, a prefix stays a prefix, and half of a surrogate pair is kept as it is.
 */
export function keyBytes(key: string): Uint8Array {
  const bytes = new Uint8Array(key.length * 3);
  let at = 0;
  for (let index = 0; index < key.length; index++) {
    const unit = key.charCodeAt(index);
    if (unit < 0x80) bytes[at++] = unit;
    else if (unit < 0x800) {
      bytes[at++] = 0xc0 | (unit >> 6);
      bytes[at++] = 0x80 | (unit & 0x3f);
    } else {
      bytes[at++] = 0xe0 | (unit >> 12);
      bytes[at++] = 0x80 | ((unit >> 6) & 0x3f);
      bytes[at++] = 0x80 | (unit & 0x3f);
    }
  }
  return bytes.subarray(0, at);
}

export interface KeyChunk {
  first: Uint8Array;
  data: Uint8Array;
}

/** Keys in the order of their places, each with its rows in rising order. */
export function packKeyChunks(keys: readonly (readonly [key: string, rows: readonly number[]])[]): KeyChunk[] {
  const chunks: KeyChunk[] = [];
  let parts: number[] = [];
  let first = new Uint8Array(0);
  let previous = new Uint8Array(0);
  const close = (): void => {
    if (parts.length > 0) chunks.push({ first, data: Uint8Array.from(parts) });
    parts = [];
  };
  for (const [place, [key, held]] of keys.entries()) {
    const bytes = keyBytes(key);
    const rows = packRows(held);
    if (parts.length + bytes.length + rows.length > CHUNK_MAX_BYTES) close();
    if (parts.length === 0) {
      first = Uint8Array.from(bytes);
      previous = new Uint8Array(0);
      writeNumber(parts, place);
    }
    const shared = sharedBytes(previous, bytes);
    writeNumber(parts, shared);
    writeNumber(parts, bytes.length - shared);
    for (let at = shared; at < bytes.length; at++) parts.push(bytes[at] as number);
    writeNumber(parts, rows.length);
    for (const byte of rows) parts.push(byte);
    previous = Uint8Array.from(bytes);
  }
  close();
  return chunks;
}

/**
 * Visits the keys of a chunk in order. `key` holds the key in its first `length` bytes and is overwritten by the next
 * key; `rows()` reads its row numbers. Stops when `visit` returns `false`. Returns the place of the key it stopped at,
 * or the place after the chunk.
 */
export function visitKeys(
  data: Uint8Array,
  visit: (key: Uint8Array, length: number, rows: () => number[]) => boolean,
): number {
  const reader = new NumberReader(data);
  let place = reader.next();
  let key = new Uint8Array(512);
  while (reader.at < data.length) {
    const shared = reader.next();
    const added = reader.next();
    if (shared + added > key.length) {
      const longer = new Uint8Array((shared + added) * 2);
      longer.set(key.subarray(0, shared));
      key = longer;
    }
    for (let index = 0; index < added; index++) key[shared + index] = data[reader.at + index] as number;
    reader.at += added;
    const size = reader.next();
    const from = reader.at;
    reader.at += size;
    if (!visit(key, shared + added, () => unpackRows(data.subarray(from, from + size)))) return place;
    place++;
  }
  return place;
}

/** Negative when the key sorts before `wanted`. */
export function compareKey(key: Uint8Array, length: number, wanted: Uint8Array): number {
  const both = Math.min(length, wanted.length);
  for (let at = 0; at < both; at++) {
    const difference = (key[at] as number) - (wanted[at] as number);
    if (difference !== 0) return difference;
  }
  return length - wanted.length;
}

/** Rising numbers as differences. */
export function packRows(rows: readonly number[]): number[] {
  const bytes: number[] = [];
  let previous = 0;
  for (const row of rows) {
    writeNumber(bytes, row - previous);
    previous = row;
  }
  return bytes;
}

export function unpackRows(data: Uint8Array): number[] {
  const reader = new NumberReader(data);
  const rows: number[] = [];
  let row = 0;
  while (reader.at < data.length) {
    row += reader.next();
    rows.push(row);
  }
  return rows;
}

function sharedBytes(one: Uint8Array, other: Uint8Array): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at++;
  return at;
}

function writeNumber(bytes: number[], value: number): void {
  let rest = value;
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80);
    rest = Math.floor(rest / 0x80);
  }
  bytes.push(rest);
}

/** LEB128; numbers below 2^53. */
class NumberReader {
  readonly #data: Uint8Array;
  at = 0;

  constructor(data: Uint8Array) {
    this.#data = data;
  }

  next(): number {
    let byte = this.#data[this.at++] as number;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 0x80;
    for (;;) {
      byte = this.#data[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }
}
