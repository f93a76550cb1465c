/**
 * Values by network: all of those whose network contains an address. One look-up for each length of prefix that occurs,
 * so that lists of thousands of networks cost no more than lists of two.
 */
import { type IpPrefix, mask32 } from '../../address/ip.ts';

interface Entry<Value> {
  words: readonly number[];
  values: Value[];
}

interface Length<Value> {
  prefixLength: number;
  masks: readonly number[];
  /** By a hash of the masked words; entries with the same hash are compared. */
  entries: Map<number, Entry<Value>[]>;
}

export class PrefixSets<Value> {
  readonly #lengths: Record<4 | 6, Length<Value>[]> = { 4: [], 6: [] };
  size = 0;

  add({ family, words, prefixLength }: IpPrefix, value: Value): void {
    const lengths = this.#lengths[family];
    let length = lengths.find((one) => one.prefixLength === prefixLength);
    if (!length) {
      const masks = words.map((_, index) => mask32(prefixLength - 32 * index));
      length = { prefixLength, masks, entries: new Map() };
      lengths.push(length);
    }
    const key = hashOf(words, length.masks);
    const entries = length.entries.get(key) ?? [];
    length.entries.set(key, entries);
    const entry = entries.find((one) => one.words.every((word, index) => word === words[index]));
    if (entry) entry.values.push(value);
    else entries.push({ words, values: [value] });
    this.size++;
  }

  /** Calls `visit` with the values of every network that contains the address. */
  visit(family: 0 | 4 | 6, address: Uint32Array, visit: (values: readonly Value[]) => void): void {
    if (family === 0) return;
    const lengths = this.#lengths[family];
    for (let at = 0; at < lengths.length; at++) {
      const { masks, entries } = lengths[at]!;
      const found = entries.get(hashOf(address, masks));
      if (found === undefined) continue;
      for (const { words, values } of found) {
        if (masks.every((mask, index) => ((address[index]! & mask) ^ words[index]!) === 0)) visit(values);
      }
    }
  }

  has(family: 0 | 4 | 6, address: Uint32Array): boolean {
    let found = false;
    this.visit(family, address, () => (found = true));
    return found;
  }
}

function hashOf(words: ArrayLike<number>, masks: readonly number[]): number {
  let hash = 0;
  for (let index = 0; index < masks.length; index++) {
    hash = Math.imul(hash ^ (words[index]! & masks[index]!), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  // Engines keep numbers of 30 bits without an object.
  return hash >>> 2;
}
