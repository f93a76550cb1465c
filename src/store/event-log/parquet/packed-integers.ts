/**
 * Two ways in which Parquet packs integers: runs of equal or bit-packed small numbers (levels and places in a
 * dictionary), and deltas in blocks of minimal width (times and sequence numbers).
 */
import { UnreadableSegmentError } from './byte-cursor.ts';
import type { ByteCursor } from './byte-cursor.ts';

/** A block is larger than anything a segment holds: the bytes are damaged. */
const VALUES_MAX = 1_048_576;
const RUN_WIDTH_MAX = 24;
const DELTA_WIDTH_MAX = 53;

/** All of `count` numbers of `width` bits. */
export function readRuns(cursor: ByteCursor, width: number, count: number): Uint32Array {
  const values = new Uint32Array(checkedCount(count));
  eachRun(cursor, width, count, (at, length, value, packed) => {
    if (packed === null) values.fill(value, at, at + length);
    else unpack(packed, width, values, at, length);
  });
  return values;
}

function unpack(packed: Uint8Array, width: number, values: Uint32Array, start: number, length: number): void {
  const mask = 2 ** width - 1;
  let buffer = 0;
  let bits = 0;
  let next = 0;
  for (let at = start; at < start + length; at++) {
    for (; bits < width; bits += 8) buffer |= (packed[next++] as number) << bits;
    values[at] = buffer & mask;
    buffer >>>= width;
    bits -= width;
  }
}

/** Those of `count` numbers at `places`, which are in rising order. */
export function readRunsAt(cursor: ByteCursor, width: number, count: number, places: readonly number[]): number[] {
  const values: number[] = [];
  eachRun(cursor, width, checkedCount(count), (at, length, value, packed) => {
    for (let place = places[values.length]; place !== undefined && place < at + length; place = places[values.length]) {
      values.push(packed === null ? value : bitsAt(packed, (place - at) * width, width));
    }
  });
  if (values.length < places.length) throw new UnreadableSegmentError('A column has too few values');
  return values;
}

/** `packed` holds the bits of the run, or the run repeats `value`. */
type OnRun = (at: number, length: number, value: number, packed: Uint8Array | null) => void;

function eachRun(cursor: ByteCursor, width: number, count: number, onRun: OnRun): void {
  if (width > RUN_WIDTH_MAX) throw new UnreadableSegmentError('A run has an unknown form');
  for (let at = 0; at < count;) {
    const head = cursor.varint();
    const isPacked = head % 2 === 1;
    const length = isPacked ? Math.floor(head / 2) * 8 : head / 2;
    if (length === 0) throw new UnreadableSegmentError('A run is empty');
    let value = 0;
    if (!isPacked) for (let shift = 0; shift < width; shift += 8) value |= cursor.byte() << shift;
    onRun(at, Math.min(length, count - at), value, isPacked ? cursor.take((length * width) / 8) : null);
    at += length;
  }
}

function checkedCount(count: number): number {
  if (count > VALUES_MAX) throw new UnreadableSegmentError('A column has too many values');
  return count;
}

/** Integers as DELTA_BINARY_PACKED writes them. */
export function readDeltas(cursor: ByteCursor): Float64Array {
  const blockSize = cursor.varint();
  const parts = cursor.varint();
  const count = checkedCount(cursor.varint());
  const partSize = blockSize / parts;
  if (!(partSize > 0 && partSize % 8 === 0))
    throw new UnreadableSegmentError('A block of integers has an unknown form');
  const values = new Float64Array(count);
  let value = cursor.zigzag();
  values[0] = value;
  for (let filled = 1; filled < count;) {
    const least = cursor.zigzag();
    for (const width of cursor.take(parts)) {
      if (width > DELTA_WIDTH_MAX) throw new UnreadableSegmentError('A delta is too wide');
      const bytes = cursor.take((width * partSize) / 8);
      const end = Math.min(filled + partSize, count);
      for (let first = 0; filled < end; filled++, first += width) {
        value += width === 0 ? least : least + bitsAt(bytes, first, width);
        values[filled] = value;
      }
    }
  }
  return values;
}

/** The number of `width` bits from bit `first` on. Numbers below 2 ** 53 are exact. */
function bitsAt(bytes: Uint8Array, first: number, width: number): number {
  const at = first >> 3;
  const skipped = first & 7;
  if (width + skipped <= 16) {
    return (((bytes[at] as number) | ((bytes[at + 1] ?? 0) << 8)) >> skipped) & ((1 << width) - 1);
  }
  let value = (bytes[at] as number) >> skipped;
  let scale = 2 ** (8 - skipped);
  let left = width - 8 + skipped;
  for (let next = at + 1; left > 0; next++, left -= 8, scale *= 256) {
    value += ((bytes[next] as number) & (left < 8 ? (1 << left) - 1 : 255)) * scale;
  }
  return value;
}
