/**
 * Unpacks Snappy only as far as it is read. A dictionary is searched from its beginning, and a page of the log needs one
 * entry of it, so that half of the work is left out on average.
 */
import { UnreadableSegmentError } from './byte-cursor.ts';

const LITERAL = 0;
/** A tag has lengths below this itself. Greater ones are in the bytes after it. */
const TAG_LENGTH_MAX = 60;
/** Shorter runs are copied faster byte by byte than by a call. */
const BYTEWISE_MAX = 12;

export class SnappyBytes {
  /** Complete up to `#filled`. */
  readonly bytes: Uint8Array;
  readonly #packed: Uint8Array;
  #filled = 0;
  #at = 0;

  /** `length`: of the unpacked bytes. */
  constructor(packed: Uint8Array, length: number) {
    this.#packed = packed;
    this.bytes = new Uint8Array(length);
    // It begins with its length, which the page header has too.
    while (((packed[this.#at++] ?? 0) & 128) !== 0);
  }

  /** Unpacks the bytes before `end`, and those that come with them. Throws for an end behind the last. */
  unpackTo(end: number): void {
    if (this.#filled >= end) return;
    const packed = this.#packed;
    const { bytes } = this;
    let at = this.#at;
    let filled = this.#filled;
    while (filled < end && at < packed.length) {
      const tag = packed[at++] as number;
      let length = (tag >> 2) + 1;
      const kind = tag & 3;
      if (kind === LITERAL) {
        if (length > TAG_LENGTH_MAX) {
          const size = length - TAG_LENGTH_MAX;
          length = littleEndian(packed, at, size) + 1;
          at += size;
        }
        if (at + length > packed.length || filled + length > bytes.length) break;
        if (length > BYTEWISE_MAX) bytes.set(packed.subarray(at, at + length), filled);
        else for (let no = 0; no < length; no++) bytes[filled + no] = packed[at + no] as number;
        at += length;
      } else {
        let distance: number;
        if (kind === 1) {
          length = ((tag >> 2) & 7) + 4;
          distance = ((tag >> 5) << 8) | (packed[at++] ?? 0);
        } else {
          const size = kind === 2 ? 2 : 4;
          distance = littleEndian(packed, at, size);
          at += size;
        }
        if (distance === 0 || distance > filled || filled + length > bytes.length) break;
        // A copy that overlaps with its source repeats itself.
        if (length > BYTEWISE_MAX && distance >= length)
          bytes.copyWithin(filled, filled - distance, filled - distance + length);
        else for (let no = filled; no < filled + length; no++) bytes[no] = bytes[no - distance] as number;
      }
      filled += length;
    }
    if (filled < end) throw new UnreadableSegmentError('A page is damaged');
    this.#at = at;
    this.#filled = filled;
  }
}

function littleEndian(bytes: Uint8Array, at: number, count: number): number {
  let value = 0;
  for (let no = 0; no < count; no++) value |= (bytes[at + no] ?? 0) << (8 * no);
  return value >>> 0;
}
