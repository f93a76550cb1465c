/**
 * Two ways in which Parquet packs integers: runs of equal or bit-packed small numbers (levels and places in a
 * dictionary), and deltas in blocks of minimal width (times and sequence numbers).
 */
import { type ByteCursor, UnreadableSegmentError } from './byte-cursor.ts';

/** A block is larger than anything a segment holds: the bytes are damaged. */
const VALUES_MAX = 1_048_576;
const RUN_WIDTH_MAX = 24;
const DELTA_WIDTH_MAX = 53;

/** All of `count` levels, which have one or two bits. */
export function readLevelRuns(cursor: ByteCursor, width: 1 | 2, count: number): Uint8Array {
  const values = new Uint8Array(checkedCount(count));
  const mask = width === 1 ? 1 : 3;
  eachRun(cursor, width, count, (at, length, value, packed) => {
    if (packed === null) values.fill(value, at, at + length);
    else {
      for (let no = 0, bit = 0; no < length; no++, bit += width) {
        values[at + no] = ((packed[bit >> 3] as number) >> (bit & 7)) & mask;
      }
    }
  });
  return values;
}

/** Those of `count` numbers at `ordinals`, which are in rising order. */
export function readRunsAt(cursor: ByteCursor, width: number, count: number, ordinals: readonly number[]): number[] {
  const values: number[] = [];
  eachRun(cursor, width, checkedCount(count), (at, length, value, packed) => {
    for (
      let ordinal = ordinals[values.length];
      ordinal !== undefined && ordinal < at + length;
      ordinal = ordinals[values.length]
    ) {
      values.push(packed === null ? value : bitsAt(packed, (ordinal - at) * width, width));
    }
  });
  if (values.length < ordinals.length) throw new UnreadableSegmentError('A column has too few values');
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

/** The first of the integers that DELTA_BINARY_PACKED wrote: `wanted` of them. The cursor moves behind all. */
export function readDeltas(cursor: ByteCursor, wanted: number): Float64Array {
  const blockSize = cursor.varint();
  const parts = cursor.varint();
  const count = checkedCount(cursor.varint());
  const partSize = blockSize / parts;
  if (!(partSize > 0 && partSize % 8 === 0))
    throw new UnreadableSegmentError('A block of integers has an unknown form');
  const values = new Float64Array(Math.min(count, wanted));
  let value = cursor.zigzag();
  values[0] = value;
  for (let filled = 1; filled < count;) {
    const least = cursor.zigzag();
    for (const width of cursor.take(parts)) {
      if (width > DELTA_WIDTH_MAX) throw new UnreadableSegmentError('A delta is too wide');
      const bytes = cursor.take((width * partSize) / 8);
      const end = Math.min(filled + partSize, count);
      const read = Math.min(end, values.length);
      for (let at = filled, first = 0; at < read; at++, first += width) {
        value += width === 0 ? least : least + bitsAt(bytes, first, width);
        values[at] = value;
      }
      filled = end;
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
