/**
 * Compiles addresses and prefixes of one family into a sorted table in which each entry has a parent: the longest
 * shorter prefix that contains it. All prefixes that contain an address are then on one chain, which starts at the last
 * entry that is not greater than the address. A single address has one bit more than the longest prefix, so that an
 * `ip` rule and an `ipMask` rule with /32 are two rules.
 */
import { ByteColumn, type RadixKey, WordColumn, lastOfEach, radixOrder } from './columns.ts';
import { bucketIndexLength, writeBucketIndex } from './bucket-index.ts';
import { mask32 } from '../address/ip.ts';
import { type ExtraRows, MetaColumn } from './rule-meta.ts';
import type { RuleContent } from './types.ts';

/** No parent. */
export const NO_PARENT = 0xffff_ffff;

export interface PrefixSections {
  keys: Uint32Array;
  /** `length << 2 | verdict code`. */
  meta: Uint8Array | Uint16Array;
  parents: Uint32Array;
  index: Uint32Array;
}

export class PrefixBuilder {
  readonly #words: 1 | 4;
  readonly #keys = new WordColumn();
  readonly #lengths = new ByteColumn();
  readonly #meta = new MetaColumn();
  #order = new Uint32Array(0);

  constructor(words: 1 | 4) {
    this.#words = words;
  }

  /** `length` is in bits, and one more than the family's width for a single address. Host bits must be clear. */
  add(words: readonly number[] | Uint32Array, length: number, rule: RuleContent): void {
    for (let w = 0; w < this.#words; w++) this.#keys.push(words[w] ?? 0);
    this.#lengths.push(length);
    this.#meta.add(rule);
  }

  /** Ends adding. Returns how many rules there are and what their sections need. */
  sort(): { count: number; extras: number; indexLength: number } {
    this.#keys.trim();
    this.#lengths.trim();
    this.#meta.trim();
    const words = this.#words;
    const added = this.#keys.view();
    const lengths = this.#lengths.view();
    const sortKeys: RadixKey[] = [{ values: lengths, stride: 1, offset: 0, bits: 8 }];
    for (let w = words - 1; w >= 0; w--) sortKeys.push({ values: added, stride: words, offset: w, bits: 32 });
    const order = lastOfEach(radixOrder(lengths.length, sortKeys), (a, b) => {
      if (lengths[a] !== lengths[b]) return false;
      for (let w = 0; w < words; w++) if (added[a * words + w] !== added[b * words + w]) return false;
      return true;
    });
    this.#order = order;
    const count = order.length;
    const firstWord = (i: number): number => added[(order[i] ?? 0) * words] ?? 0;
    return {
      count,
      extras: this.#meta.extrasIn(order),
      indexLength: bucketIndexLength(count, firstWord(0), firstWord(count - 1)),
    };
  }

  /** Fills the sections and gives back all memory. */
  move({ keys, meta, parents, index }: PrefixSections, firstRule: number, extras: ExtraRows): void {
    const words = this.#words;
    const order = this.#order;
    const added = this.#keys.view();
    const lengths = this.#lengths.view();
    const codes = this.#meta.codes();
    for (let i = 0; i < order.length; i++) {
      const item = order[i] ?? 0;
      for (let w = 0; w < words; w++) keys[i * words + w] = added[item * words + w] ?? 0;
      meta[i] = ((lengths[item] ?? 0) << 2) | (codes[item] ?? 0);
    }
    this.#keys.free();
    this.#lengths.free();
    this.#meta.moveExtras(order, firstRule, extras);
    order.buffer.transfer(0);
    writeParents(parents, keys, meta, words);
    writeBucketIndex(index, keys, words);
  }
}

type Meta = PrefixSections['meta'];

function writeParents(parents: Uint32Array, keys: Uint32Array, meta: Meta, words: number): void {
  // The prefixes around the current entry, shortest first: at most one for each length.
  const open: number[] = [];
  for (let i = 0; i < meta.length; i++) {
    while (open.length > 0 && !contains(keys, meta, words, open[open.length - 1] ?? 0, i)) open.pop();
    parents[i] = open[open.length - 1] ?? NO_PARENT;
    open.push(i);
  }
}

/** Whether entry `outer` contains the first address of entry `inner`. */
function contains(keys: Uint32Array, meta: Meta, words: number, outer: number, inner: number): boolean {
  const length = (meta[outer] ?? 0) >>> 2;
  for (let w = 0; w < words; w++) {
    const differing = (keys[outer * words + w] ?? 0) ^ (keys[inner * words + w] ?? 0);
    if ((differing & mask32(length - 32 * w)) !== 0) return false;
  }
  return true;
}
