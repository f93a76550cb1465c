/**
 * Growing typed columns and a stable radix sort over them. The compiler keeps rules in columns instead of objects, so
 * that a million rules fit into the 128 MB of a Durable Object. It gives memory back at once and not when garbage is
 * collected, which may be too late there.
 */

const FIRST_CAPACITY = 256;

abstract class Column<Data extends Uint8Array | Uint16Array | Uint32Array> {
  length = 0;
  protected abstract data: Data;
  protected abstract widen(buffer: ArrayBufferLike): Data;

  protected reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.data.length) return;
    const capacity = Math.max(needed, this.data.length * 2);
    // `transfer` avoids a second copy where the platform supports it.
    const buffer = this.data.buffer as ArrayBuffer;
    this.data = this.widen(buffer.transfer(capacity * this.data.BYTES_PER_ELEMENT));
  }

  push(value: number): void {
    if (this.length === this.data.length) this.reserve(1);
    this.data[this.length++] = value;
  }

  at(index: number): number {
    return this.data[index] ?? 0;
  }

  /** Gives back the room that was reserved for more. Earlier views become empty. */
  trim(): void {
    const buffer = this.data.buffer as ArrayBuffer;
    this.data = this.widen(buffer.transfer(this.length * this.data.BYTES_PER_ELEMENT));
  }

  /** Gives back all memory. Earlier views become empty. */
  free(): void {
    this.length = 0;
    this.trim();
  }

  /** The values pushed so far, as a view. */
  view(): Data {
    return this.data.subarray(0, this.length) as Data;
  }
}

export class ByteColumn extends Column<Uint8Array> {
  protected data = new Uint8Array(FIRST_CAPACITY);
  protected widen(buffer: ArrayBufferLike): Uint8Array<ArrayBuffer> {
    return new Uint8Array(buffer as ArrayBuffer);
  }
  /** Adds zeros up to this length. */
  fillTo(length: number): void {
    if (length <= this.length) return;
    this.reserve(length - this.length);
    this.data.fill(0, this.length, length);
    this.length = length;
  }

  /** The bytes, with room for `bytes` more after `length`. The caller writes there and increases `length`. */
  room(bytes: number): Uint8Array {
    this.reserve(bytes);
    return this.data;
  }
}

export class ShortColumn extends Column<Uint16Array> {
  protected data = new Uint16Array(FIRST_CAPACITY);
  protected widen(buffer: ArrayBufferLike): Uint16Array<ArrayBuffer> {
    return new Uint16Array(buffer as ArrayBuffer);
  }
}

export class WordColumn extends Column<Uint32Array> {
  protected data = new Uint32Array(FIRST_CAPACITY);
  protected widen(buffer: ArrayBufferLike): Uint32Array<ArrayBuffer> {
    return new Uint32Array(buffer as ArrayBuffer);
  }
}

export interface RadixKey {
  /** `values[at * stride + offset]` is the key of item `at`. */
  values: Uint8Array | Uint16Array | Uint32Array;
  stride: number;
  offset: number;
  bits: 8 | 16 | 32;
}

/** For fewer items, clearing the 65,536 counters of a wide digit costs more than a second pass. */
const WIDE_DIGITS_FROM = 4096;

/**
 * The order of `count` items by `keys`, least significant key first. The sort is stable: equal items stay in the order
 * in which they were added, so the last of them replaces the others.
 */
export function radixOrder(count: number, keys: readonly RadixKey[]): Uint32Array<ArrayBuffer> {
  let order = new Uint32Array(count);
  let spare = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  const wide = count >= WIDE_DIGITS_FROM ? 16 : 8;
  const counts = new Uint32Array(1 << wide);
  for (const { values, stride, offset, bits } of keys) {
    const digitBits = Math.min(bits, wide);
    const mask = (1 << digitBits) - 1;
    for (let shift = 0; shift < bits; shift += digitBits) {
      counts.fill(0);
      for (let i = 0, at = offset; i < count; i++, at += stride) {
        const digit = ((values[at] ?? 0) >>> shift) & mask;
        counts[digit] = (counts[digit] ?? 0) + 1;
      }
      if (counts[((values[offset] ?? 0) >>> shift) & mask] === count) continue;
      let sum = 0;
      for (let digit = 0; digit <= mask; digit++) {
        const here = counts[digit] ?? 0;
        counts[digit] = sum;
        sum += here;
      }
      for (let i = 0; i < count; i++) {
        const item = order[i] ?? 0;
        const digit = ((values[item * stride + offset] ?? 0) >>> shift) & mask;
        const at = counts[digit] ?? 0;
        counts[digit] = at + 1;
        spare[at] = item;
      }
      [order, spare] = [spare, order];
    }
  }
  spare.buffer.transfer(0);
  return order;
}

/** Removes from `order` every item that equals its successor. Returns a view of the same buffer. */
export function lastOfEach(
  order: Uint32Array<ArrayBuffer>,
  same: (a: number, b: number) => boolean,
): Uint32Array<ArrayBuffer> {
  let kept = 0;
  for (let i = 0; i < order.length; i++) {
    const item = order[i] ?? 0;
    if (i + 1 < order.length && same(item, order[i + 1] ?? 0)) continue;
    order[kept++] = item;
  }
  return order.subarray(0, kept);
}
