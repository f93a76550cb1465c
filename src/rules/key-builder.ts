/**
 * Compiles rules whose values are numbers of a few words into sorted tables: addresses and prefixes, AS numbers,
 * countries, fingerprints. Of rules with the same words and length, the last one stays.
 */
import { linkPrefixes, type PrefixColumns } from '../address/prefix-table.ts';
import { bucketIndexLength, writeBucketIndex } from '../address/sorted-keys.ts';
import { ByteColumn, lastOfEach, radixOrder, type RadixKey, ShortColumn, WordColumn } from './columns.ts';
import { type ExtraRows, MetaColumn } from './rule-meta.ts';
import type { RuleContent } from './types.ts';

interface KeySections {
  keys: Uint16Array | Uint32Array;
  /** `length << 2 | verdict code`. */
  meta: Uint8Array | Uint16Array;
}

export class KeyBuilder {
  readonly #stride: number;
  readonly #bits: 16 | 32;
  readonly #keys: ShortColumn | WordColumn;
  readonly #lengths = new ByteColumn();
  readonly #meta = new MetaColumn();
  #order = new Uint32Array(0);

  /** `stride`: words of a key, each of `bits`. */
  constructor(stride: number, bits: 16 | 32 = 32) {
    this.#stride = stride;
    this.#bits = bits;
    this.#keys = bits === 16 ? new ShortColumn() : new WordColumn();
  }

  /** `length`: bits of a prefix, and one more than the family's width for a single address. Host bits must be clear. */
  add(words: ArrayLike<number>, rule: RuleContent, length = 0): void {
    for (let w = 0; w < this.#stride; w++) this.#keys.push(words[w] ?? 0);
    this.#lengths.push(length);
    this.#meta.add(rule);
  }

  /** Ends adding. Returns how many rules there are, and what their sections need. */
  sort(): { count: number; extras: number; indexLength: number } {
    this.#keys.trim();
    this.#lengths.trim();
    this.#meta.trim();
    const stride = this.#stride;
    const added = this.#keys.view();
    const lengths = this.#lengths.view();
    const sortKeys: RadixKey[] = [{ values: lengths, stride: 1, offset: 0, bits: 8 }];
    for (let w = stride - 1; w >= 0; w--) sortKeys.push({ values: added, stride, offset: w, bits: this.#bits });
    const order = lastOfEach(radixOrder(lengths.length, sortKeys), (a, b) => {
      if (lengths[a] !== lengths[b]) return false;
      for (let w = 0; w < stride; w++) if (added[a * stride + w] !== added[b * stride + w]) return false;
      return true;
    });
    this.#order = order;
    const count = order.length;
    const firstWord = (i: number): number => added[(order[i] ?? 0) * stride] ?? 0;
    const indexLength = bucketIndexLength(count, firstWord(0), firstWord(count - 1));
    return { count, extras: this.#meta.extrasIn(order), indexLength };
  }

  /** Fills the sections and gives back all memory. */
  move({ keys, meta }: KeySections, firstRule: number, extras: ExtraRows): void {
    const stride = this.#stride;
    const order = this.#order;
    const added = this.#keys.view();
    const lengths = this.#lengths.view();
    const codes = this.#meta.codes();
    for (let i = 0; i < order.length; i++) {
      const item = order[i] ?? 0;
      for (let w = 0; w < stride; w++) keys[i * stride + w] = added[item * stride + w] ?? 0;
      meta[i] = ((lengths[item] ?? 0) << 2) | (codes[item] ?? 0);
    }
    this.#keys.free();
    this.#lengths.free();
    this.#meta.moveExtras(order, firstRule, extras);
    order.buffer.transfer(0);
  }

  /** The same with an index of the keys. */
  moveIndexed(
    sections: KeySections & { keys: Uint32Array; index: Uint32Array },
    first: number,
    extras: ExtraRows,
  ): void {
    this.move(sections, first, extras);
    writeBucketIndex(sections.index, sections.keys, this.#stride);
  }

  /** The same with the parents of prefixes. */
  movePrefixes(columns: PrefixColumns, firstRule: number, extras: ExtraRows): void {
    this.move(columns, firstRule, extras);
    linkPrefixes(columns);
  }
}
