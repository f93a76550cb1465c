/**
 * Longest-prefix match. A table has the prefixes of one family as sorted keys, and for each its parent: the longest
 * shorter prefix that contains it. All prefixes that contain an address are then on one chain, which starts at the last
 * entry that is not greater than the address. All of them are needed, because an expired or monitored rule leaves the
 * decision to the next one. A single address is one bit longer than the longest prefix, so that an `ip` rule and an
 * `ipMask` rule with /32 are two entries.
 */
import { type IpPrefix, mask32, parseIpInto } from './ip.ts';
import { bucketIndexLength, SortedKeys, writeBucketIndex } from './sorted-keys.ts';

/** No parent. */
const NO_PARENT = 0xffff_ffff;

/** The parts of a table, as a file has them. */
export interface PrefixColumns {
  /** One word for each IPv4 entry, four for each IPv6 entry. Host bits are clear. */
  keys: Uint32Array;
  /** `length << 2`, with two bits for the owner of the table. */
  meta: Uint8Array | Uint16Array;
  parents: Uint32Array;
  index: Uint32Array;
}

const masks = Int32Array.from({ length: 33 }, (_, bits) => mask32(bits));

/**
 * Whether the prefix at `at` of `keys` contains the address at `from` of `address`. Only a damaged table has lengths
 * above 33 and 129 (single addresses): they compare every bit too.
 */
function contains(
  keys: Uint32Array,
  at: number,
  length: number,
  address: Uint32Array,
  from: number,
  stride: number,
): boolean {
  for (let w = 0, bits = length; w < stride && bits > 0; w++, bits -= 32) {
    if (((keys[at + w]! ^ address[from + w]!) & masks[bits < 32 ? bits : 32]!) !== 0) return false;
  }
  return true;
}

/** Fills `parents` and `index` from the sorted keys and their lengths. */
export function linkPrefixes({ keys, meta, parents, index }: PrefixColumns): void {
  const stride = meta.length === 0 ? 1 : keys.length / meta.length;
  // The prefixes around the current entry, shortest first: at most one for each length.
  const open: number[] = [];
  for (let i = 0; i < meta.length; i++) {
    for (let outer = open.at(-1); outer !== undefined; outer = open.at(-1)) {
      if (contains(keys, outer * stride, meta[outer]! >>> 2, keys, i * stride, stride)) break;
      open.pop();
    }
    parents[i] = open.at(-1) ?? NO_PARENT;
    open.push(i);
  }
  writeBucketIndex(index, keys, stride);
}

export class PrefixTable {
  readonly count: number;
  readonly #keys: SortedKeys;
  readonly #meta: PrefixColumns['meta'];
  readonly #parents: Uint32Array;

  private constructor(keys: SortedKeys, { meta, parents }: PrefixColumns) {
    this.count = keys.count;
    this.#keys = keys;
    this.#meta = meta;
    this.#parents = parents;
  }

  /** `null` when the columns do not fit each other. */
  static open(columns: PrefixColumns, stride: 1 | 4): PrefixTable | null {
    const { keys, meta, parents, index } = columns;
    const sorted = SortedKeys.open(meta.length, keys, stride, index);
    return sorted && parents.length === meta.length ? new PrefixTable(sorted, columns) : null;
  }

  /** The longest entry that contains the address, or -1. */
  longest(address: Uint32Array): number {
    return this.#containing(this.#keys.floor(address), address);
  }

  /** The longest entry around `entry` that contains the address, or -1. */
  around(entry: number, address: Uint32Array): number {
    return this.#containing(this.#parent(entry), address);
  }

  #containing(from: number, address: Uint32Array): number {
    const { words, stride } = this.#keys;
    let entry = from;
    while (entry >= 0 && !contains(words, entry * stride, this.length(entry), address, 0, stride)) {
      entry = this.#parent(entry);
    }
    return entry;
  }

  /** Parents come before their children. The check also ends the walk in a damaged table. */
  #parent(entry: number): number {
    const parent = this.#parents[entry]!;
    return parent < entry ? parent : -1;
  }

  /** Number of the entry that is exactly this prefix, or -1. */
  entryOf(words: Uint32Array, length: number): number {
    let entry = this.#keys.floor(words);
    while (entry >= 0 && this.#keys.isEqual(entry, words)) {
      if (this.length(entry) === length) return entry;
      entry--;
    }
    return -1;
  }

  /** The two bits of the owner. */
  code(entry: number): number {
    return this.#meta[entry]! & 3;
  }

  length(entry: number): number {
    return this.#meta[entry]! >>> 2;
  }

  words(entry: number): Uint32Array {
    return this.#keys.at(entry);
  }
}

const address = new Uint32Array(4);

/** Values by prefix: for the lists of an operator, whose tables are made when they are read. */
export class PrefixMap<Value> {
  readonly #tables: Readonly<Record<4 | 6, { table: PrefixTable; values: readonly Value[][] }>>;
  readonly size: number;

  constructor(entries: readonly (readonly [prefix: IpPrefix, value: Value])[]) {
    this.size = entries.length;
    this.#tables = { 4: tableOf(entries, 4), 6: tableOf(entries, 6) };
  }

  /** The value of the longest prefix that contains the address, the first of several; `null` when none does. */
  longest(ip: string): Value | null {
    return this.all(ip)[0] ?? null;
  }

  /** The values of all prefixes that contain the address, the longest prefix first. Empty for a text that is not an address. */
  all(ip: string): Value[] {
    return this.around(parseIpInto(ip, address), address);
  }

  /** The same for the words of an address, whose family is 0 when it is unknown. */
  around(family: 0 | 4 | 6, words: Uint32Array): Value[] {
    const found: Value[] = [];
    if (family === 0 || this.size === 0) return found;
    const { table, values } = this.#tables[family];
    for (let entry = table.longest(words); entry >= 0; entry = table.around(entry, words))
      found.push(...values[entry]!);
    return found;
  }
}

function tableOf<Value>(
  entries: readonly (readonly [IpPrefix, Value])[],
  family: 4 | 6,
): { table: PrefixTable; values: Value[][] } {
  const stride = family === 4 ? 1 : 4;
  const prefixes: IpPrefix[] = [];
  const values: Value[][] = [];
  // Sorting is stable: of two values for one prefix the first stays first.
  for (const [prefix, value] of entries
    .filter(([one]) => one.family === family)
    .toSorted(([a], [b]) => compare(a, b))) {
    const last = prefixes.at(-1);
    if (last !== undefined && compare(last, prefix) === 0) values.at(-1)!.push(value);
    else {
      prefixes.push(prefix);
      values.push([value]);
    }
  }
  const keys = Uint32Array.from(prefixes.flatMap(({ words }) => words));
  const indexLength = bucketIndexLength(prefixes.length, keys[0] ?? 0, keys[keys.length - stride] ?? 0);
  const columns = {
    keys,
    meta: Uint16Array.from(prefixes, ({ prefixLength }) => prefixLength << 2),
    parents: new Uint32Array(prefixes.length),
    index: new Uint32Array(indexLength),
  };
  linkPrefixes(columns);
  return { table: PrefixTable.open(columns, stride)!, values };
}

function compare(a: IpPrefix, b: IpPrefix): number {
  const differing = a.words.findIndex((word, index) => word !== b.words[index]);
  return differing < 0 ? a.prefixLength - b.prefixLength : a.words[differing]! - b.words[differing]!;
}
