/**
 * Longest-prefix match in a compiled table (see `prefix-build.ts`). A binary search within one bucket finds the last
 * entry that is not greater than the address. Following its parents finds every prefix that contains the address,
 * longest first. All of them are needed, because an expired or monitored rule leaves the decision to the next one.
 * There are two classes instead of one, so that the words of an address stay in registers.
 */
import { BucketIndex } from './bucket-index.ts';
import { type Hits, RANK_PREFIX } from './hits.ts';

/**
 * Masks by prefix length. 33 is a single address; longer lengths, which only a damaged table has, are treated alike.
 */
const masks = Int32Array.from({ length: 64 }, (_, bits) => (bits === 0 ? 0 : bits >= 32 ? -1 : -1 << (32 - bits)));

export class V4Table {
  readonly count: number;
  readonly #firstRule: number;
  readonly #keys: Uint32Array;
  readonly #meta: Uint8Array;
  readonly #parents: Uint32Array;
  readonly #index: BucketIndex;

  private constructor(
    keys: Uint32Array,
    meta: Uint8Array,
    parents: Uint32Array,
    index: BucketIndex,
    firstRule: number,
  ) {
    this.count = keys.length;
    this.#keys = keys;
    this.#meta = meta;
    this.#parents = parents;
    this.#index = index;
    this.#firstRule = firstRule;
  }

  static open(
    keys: Uint32Array,
    meta: Uint8Array,
    parents: Uint32Array,
    indexSection: Uint32Array,
    firstRule: number,
  ): V4Table | null {
    const index = BucketIndex.open(indexSection, keys.length);
    if (!index || meta.length !== keys.length || parents.length !== keys.length) return null;
    return new V4Table(keys, meta, parents, index, firstRule);
  }

  /** The last entry that is not greater than `address`, or -1. */
  #floor(address: number): number {
    const { least, shift, buckets, starts } = this.#index;
    if (address < least || buckets === 0) return -1;
    const bucket = (address - least) >>> shift;
    if (bucket >= buckets) return this.count - 1;
    const keys = this.#keys;
    let low = starts[bucket]!;
    let high = starts[bucket + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (keys[middle]! <= address) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Adds every entry that contains `address` to `hits`, longest first. */
  find(address: number, hits: Hits): void {
    const keys = this.#keys;
    const meta = this.#meta;
    const parents = this.#parents;
    let entry = this.#floor(address);
    while (entry >= 0) {
      const length = meta[entry]! >>> 2;
      if (((keys[entry]! ^ address) & masks[length]!) === 0) hits.push(this.#firstRule + entry, RANK_PREFIX + length);
      const parent = parents[entry]!;
      // Parents come before their children. The check also ends the loop in a damaged table.
      if (parent >= entry) return;
      entry = parent;
    }
  }

  /** Number of the entry that is exactly this prefix, or -1. */
  entryOf(address: number, length: number): number {
    let entry = this.#floor(address);
    while (entry >= 0 && this.#keys[entry] === address) {
      if (this.length(entry) === length) return entry;
      entry--;
    }
    return -1;
  }

  /** Calls `found` with the number of each entry that `other` has too. */
  shared(other: V4Table, found: (entry: number) => void): void {
    for (let i = 0; i < other.count; i++) {
      const entry = this.entryOf(other.key(i), other.length(i));
      if (entry >= 0) found(entry);
    }
  }

  code(entry: number): number {
    return this.#meta[entry]! & 3;
  }

  length(entry: number): number {
    return this.#meta[entry]! >>> 2;
  }

  key(entry: number): number {
    return this.#keys[entry]!;
  }
}

export class V6Table {
  readonly count: number;
  readonly #firstRule: number;
  /** Four words for each entry. */
  readonly keys: Uint32Array;
  readonly #meta: Uint16Array;
  readonly #parents: Uint32Array;
  readonly #index: BucketIndex;

  private constructor(
    keys: Uint32Array,
    meta: Uint16Array,
    parents: Uint32Array,
    index: BucketIndex,
    firstRule: number,
  ) {
    this.count = meta.length;
    this.keys = keys;
    this.#meta = meta;
    this.#parents = parents;
    this.#index = index;
    this.#firstRule = firstRule;
  }

  static open(
    keys: Uint32Array,
    meta: Uint16Array,
    parents: Uint32Array,
    indexSection: Uint32Array,
    firstRule: number,
  ): V6Table | null {
    const index = BucketIndex.open(indexSection, meta.length);
    if (!index || keys.length !== meta.length * 4 || parents.length !== meta.length) return null;
    return new V6Table(keys, meta, parents, index, firstRule);
  }

  #floor(w0: number, w1: number, w2: number, w3: number): number {
    const { least, shift, buckets, starts } = this.#index;
    if (w0 < least || buckets === 0) return -1;
    const bucket = (w0 - least) >>> shift;
    if (bucket >= buckets) return this.count - 1;
    const keys = this.keys;
    let low = starts[bucket]!;
    let high = starts[bucket + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const at = middle * 4;
      const k0 = keys[at]!;
      const k1 = keys[at + 1]!;
      const above =
        k0 !== w0 ? k0 > w0 : k1 !== w1 ? k1 > w1 : keys[at + 2]! !== w2 ? keys[at + 2]! > w2 : keys[at + 3]! > w3;
      if (above) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  /** Adds every entry that contains the address to `hits`, longest first. */
  find(words: Uint32Array, hits: Hits): void {
    const w0 = words[0]!;
    const w1 = words[1]!;
    const w2 = words[2]!;
    const w3 = words[3]!;
    const keys = this.keys;
    let entry = this.#floor(w0, w1, w2, w3);
    while (entry >= 0) {
      const length = this.#meta[entry]! >>> 2;
      const at = entry * 4;
      const contains =
        length <= 32
          ? ((keys[at]! ^ w0) & masks[length]!) === 0
          : keys[at] === w0 &&
            (length <= 64
              ? ((keys[at + 1]! ^ w1) & masks[length - 32]!) === 0
              : keys[at + 1] === w1 &&
                (length <= 96
                  ? ((keys[at + 2]! ^ w2) & masks[length - 64]!) === 0
                  : keys[at + 2] === w2 && ((keys[at + 3]! ^ w3) & masks[(length - 96) & 63]!) === 0));
      if (contains) hits.push(this.#firstRule + entry, RANK_PREFIX + length);
      const parent = this.#parents[entry]!;
      if (parent >= entry) return;
      entry = parent;
    }
  }

  /** Calls `found` with the number of each entry that `other` has too. */
  shared(other: V6Table, found: (entry: number) => void): void {
    const { keys } = other;
    for (let i = 0; i < other.count; i++) {
      const at = i * 4;
      const entry = this.#entryOf(keys[at]!, keys[at + 1]!, keys[at + 2]!, keys[at + 3]!, other.length(i));
      if (entry >= 0) found(entry);
    }
  }

  /** Number of the entry that is exactly this prefix, or -1. */
  entryOf(words: ArrayLike<number>, length: number): number {
    return this.#entryOf(words[0]!, words[1]!, words[2]!, words[3]!, length);
  }

  #entryOf(w0: number, w1: number, w2: number, w3: number, length: number): number {
    const keys = this.keys;
    let entry = this.#floor(w0, w1, w2, w3);
    while (
      entry >= 0 &&
      keys[entry * 4] === w0 &&
      keys[entry * 4 + 1] === w1 &&
      keys[entry * 4 + 2] === w2 &&
      keys[entry * 4 + 3] === w3
    ) {
      if (this.length(entry) === length) return entry;
      entry--;
    }
    return -1;
  }

  code(entry: number): number {
    return this.#meta[entry]! & 3;
  }

  length(entry: number): number {
    return this.#meta[entry]! >>> 2;
  }
}
