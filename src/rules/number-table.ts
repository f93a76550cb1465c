/**
 * A hash table from number to entry, for AS numbers, countries and the beginnings of user agent patterns. It is built
 * when a file is opened: the numbers are too uneven for a bucket index, and a binary search mispredicts a branch at
 * every step.
 *
 * The hash is public, and a list from outside can have numbers that all collide. So an entry is at most `PROBES_MAX`
 * places from where it belongs. One that finds no free place there has none, and a look-up that meets no free place
 * either searches the sorted keys instead.
 */

/** A table at most half full needs more than this for one number in some thousands. */
const PROBES_MAX = 8;

/** Whether the values ascend, as a binary search requires. */
export function rises(values: Uint16Array | Uint32Array): boolean {
  for (let i = 1; i < values.length; i++) if (values[i - 1]! >= values[i]!) return false;
  return true;
}

/** Index of `key` in ascending `values`, or -1. */
export function searchExact(values: Uint32Array | Uint16Array, key: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return values[low] === key ? low : -1;
}

export class NumberTable {
  readonly #keys: Uint32Array;
  readonly #slots: Uint32Array;
  readonly #shift: number;

  /** `keys` ascend. */
  constructor(keys: Uint32Array) {
    const log2 = Math.max(1, Math.ceil(Math.log2(Math.max(1, keys.length) * 2)));
    this.#keys = keys;
    this.#shift = 32 - log2;
    this.#slots = new Uint32Array(2 ** log2);
    const mask = this.#slots.length - 1;
    for (let entry = 0; entry < keys.length; entry++) {
      let slot = Math.imul(keys[entry]!, 0x9e3779b1) >>> this.#shift;
      for (let probe = 0; probe < PROBES_MAX; probe++, slot = (slot + 1) & mask) {
        if (this.#slots[slot] !== 0) continue;
        this.#slots[slot] = entry + 1;
        break;
      }
    }
  }

  /** Entry of `key`, or -1. */
  entryOf(key: number): number {
    const slots = this.#slots;
    let slot = Math.imul(key, 0x9e3779b1) >>> this.#shift;
    for (let probe = 0; probe < PROBES_MAX; probe++, slot = (slot + 1) & (slots.length - 1)) {
      const entry = slots[slot]! - 1;
      if (entry < 0 || this.#keys[entry] === key) return entry;
    }
    return searchExact(this.#keys, key);
  }
}
