/**
 * Sets that are searched for an equal value: AS numbers, countries and JA4 fingerprints. They are sorted arrays with
 * one word, half a word or five words for each entry. Fingerprints have a bucket index, because their hashes are spread
 * evenly.
 */
import { BucketIndex, bucketIndexLength, writeBucketIndex } from './bucket-index.ts';
import { ShortColumn, WordColumn, lastOfEach, radixOrder } from './columns.ts';
import { JA4_WORDS, packJa4 } from '../address/ja4.ts';
import { type ExtraRows, MetaColumn } from './rule-meta.ts';
import type { EdgeRule } from './types.ts';

/** `XX` → `0x5858`. */
export function countryKey(code: string): number {
  return (code.charCodeAt(0) << 8) | code.charCodeAt(1);
}

export class NumberSetBuilder {
  readonly #keys: WordColumn | ShortColumn;
  readonly #bits: 16 | 32;
  readonly #meta = new MetaColumn();
  #order = new Uint32Array(0);

  constructor(bits: 16 | 32) {
    this.#bits = bits;
    this.#keys = bits === 16 ? new ShortColumn() : new WordColumn();
  }

  add(key: number, rule: EdgeRule): void {
    this.#keys.push(key);
    this.#meta.add(rule);
  }

  /** Ends adding. Returns how many rules there are, and how many of them have a side row. */
  sort(): { count: number; extras: number } {
    this.#keys.trim();
    this.#meta.trim();
    const added = this.#keys.view();
    const sorted = radixOrder(added.length, [{ values: added, stride: 1, offset: 0, bits: this.#bits }]);
    this.#order = lastOfEach(sorted, (a, b) => added[a] === added[b]);
    return { count: this.#order.length, extras: this.#meta.extrasIn(this.#order) };
  }

  /** Fills the sections and gives back all memory. */
  move(keys: Uint16Array | Uint32Array, meta: Uint8Array, firstRule: number, extras: ExtraRows): void {
    const order = this.#order;
    const added = this.#keys.view();
    const codes = this.#meta.codes();
    for (let i = 0; i < order.length; i++) {
      keys[i] = added[order[i] ?? 0] ?? 0;
      meta[i] = codes[order[i] ?? 0] ?? 0;
    }
    this.#keys.free();
    this.#meta.moveExtras(order, firstRule, extras);
    order.buffer.transfer(0);
  }
}

export class Ja4SetBuilder {
  readonly #keys = new WordColumn();
  readonly #meta = new MetaColumn();
  readonly #words = new Uint32Array(JA4_WORDS);
  #order = new Uint32Array(0);

  /** `rule.value` must be canonical. @throws TypeError when it cannot be parsed. */
  add(rule: EdgeRule): void {
    if (!packJa4(rule.value, this.#words)) throw new TypeError('ja4Hash value is not canonical');
    for (const word of this.#words) this.#keys.push(word);
    this.#meta.add(rule);
  }

  /** Ends adding. Returns how many rules there are and what their sections need. */
  sort(): { count: number; extras: number; indexLength: number } {
    this.#keys.trim();
    this.#meta.trim();
    const added = this.#keys.view();
    const sorted = radixOrder(
      added.length / JA4_WORDS,
      [4, 3, 2, 1, 0].map((offset) => ({ values: added, stride: JA4_WORDS, offset, bits: 32 as const })),
    );
    const order = lastOfEach(sorted, (a, b) => {
      for (let w = 0; w < JA4_WORDS; w++) if (added[a * JA4_WORDS + w] !== added[b * JA4_WORDS + w]) return false;
      return true;
    });
    this.#order = order;
    const count = order.length;
    const firstWord = (i: number): number => added[(order[i] ?? 0) * JA4_WORDS] ?? 0;
    return {
      count,
      extras: this.#meta.extrasIn(order),
      indexLength: bucketIndexLength(count, firstWord(0), firstWord(count - 1)),
    };
  }

  /** Fills the sections and gives back all memory. */
  move(keys: Uint32Array, meta: Uint8Array, index: Uint32Array, firstRule: number, extras: ExtraRows): void {
    const order = this.#order;
    const added = this.#keys.view();
    const codes = this.#meta.codes();
    for (let i = 0; i < order.length; i++) {
      const item = order[i] ?? 0;
      for (let w = 0; w < JA4_WORDS; w++) keys[i * JA4_WORDS + w] = added[item * JA4_WORDS + w] ?? 0;
      meta[i] = codes[item] ?? 0;
    }
    this.#keys.free();
    this.#meta.moveExtras(order, firstRule, extras);
    order.buffer.transfer(0);
    writeBucketIndex(index, keys, JA4_WORDS);
  }
}

/** Above it the bitmap rules out too few. */
const FILTERED_MAX = 1 << 15;

export class Ja4Set {
  readonly count: number;
  readonly keys: Uint32Array;
  readonly #index: BucketIndex;
  /**
   * One bit for each value of the first 16 bits of the hash of a fingerprint's ciphers: 8 KB that stay in the CPU's cache,
   * where index and keys do not. `null` for a large set.
   */
  readonly #beginnings: Uint32Array | null;

  private constructor(keys: Uint32Array, index: BucketIndex) {
    this.keys = keys;
    this.count = keys.length / JA4_WORDS;
    this.#index = index;
    this.#beginnings = this.count === 0 || this.count > FILTERED_MAX ? null : new Uint32Array(1 << 11);
    if (this.#beginnings) {
      for (let at = 0; at < keys.length; at += JA4_WORDS) {
        const first = keys[at]!;
        this.#beginnings[first >>> 21]! |= 1 << (first >>> 16);
      }
    }
  }

  static open(keys: Uint32Array, meta: Uint8Array, indexSection: Uint32Array): Ja4Set | null {
    if (keys.length !== meta.length * JA4_WORDS) return null;
    const index = BucketIndex.open(indexSection, meta.length);
    return index && new Ja4Set(keys, index);
  }

  /** Whether an entry begins with this word. It rules out nearly every fingerprint that is in no rule. */
  mayHold(first: number): boolean {
    if (this.#beginnings && ((this.#beginnings[first >>> 21]! >>> (first >>> 16)) & 1) === 0) return false;
    const { least, shift, buckets, starts } = this.#index;
    const bucket = first < least ? buckets : (first - least) >>> shift;
    if (bucket >= buckets) return false;
    let low = starts[bucket]!;
    let high = starts[bucket + 1]!;
    // Fingerprints of one TLS library share their first word, so a bucket can hold all of them.
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keys[middle * JA4_WORDS]! < first) low = middle + 1;
      else high = middle;
    }
    return this.keys[low * JA4_WORDS] === first;
  }

  /** Number of the entry with these five words, or -1. */
  entryOf(words: Uint32Array): number {
    const { least, shift, buckets, starts } = this.#index;
    const first = words[0] ?? 0;
    const bucket = first < least ? buckets : (first - least) >>> shift;
    if (bucket >= buckets) return -1;
    let low = starts[bucket] ?? 0;
    let high = starts[bucket + 1] ?? 0;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = this.#compare(middle, words);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  #compare(entry: number, words: Uint32Array): number {
    for (let w = 0; w < JA4_WORDS; w++) {
      const difference = (this.keys[entry * JA4_WORDS + w] ?? 0) - (words[w] ?? 0);
      if (difference !== 0) return difference;
    }
    return 0;
  }
}
