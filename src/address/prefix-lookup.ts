/**
 * A value for each of a few prefixes, longest match first: for an operator's own lists, which fit into an environment
 * variable. Prefixes lie in flat arrays and are compared one after the other: 2,000 of them take a few
 * microseconds. Larger sets are rules, and the rule engine has an index for them.
 */
import { type IpPrefix, mask32, parseIpInto } from './ip.ts';

const V6_WORDS = 4;

interface Table<Value> {
  /** Network and mask of each prefix, word by word. */
  networks: Uint32Array;
  masks: Uint32Array;
  values: readonly Value[];
}

const words = new Uint32Array(V6_WORDS);

export class PrefixLookup<Value> {
  readonly #v4: Table<Value>;
  readonly #v6: Table<Value>;

  constructor(entries: readonly (readonly [prefix: IpPrefix, value: Value])[]) {
    // Sorting is stable: of two values for one prefix the first stays first.
    const sorted = entries.toSorted(([a], [b]) => b.prefixLength - a.prefixLength);
    this.#v4 = tableOf(sorted.filter(([{ family }]) => family === 4));
    this.#v6 = tableOf(sorted.filter(([{ family }]) => family === 6));
  }

  /** The value of the longest prefix that contains the address; `null` when none does or the text is no address. */
  longest(ip: string): Value | null {
    const family = parseIpInto(ip, words);
    if (family === 0) return null;
    const table = family === 4 ? this.#v4 : this.#v6;
    const row = nextRow(table, family, 0);
    return row < 0 ? null : table.values[row]!;
  }

  /** The values of all prefixes that contain the address, the longest prefix first. */
  all(ip: string): Value[] {
    const family = parseIpInto(ip, words);
    const found: Value[] = [];
    if (family === 0) return found;
    const table = family === 4 ? this.#v4 : this.#v6;
    for (let row = nextRow(table, family, 0); row >= 0; row = nextRow(table, family, row + 1)) {
      found.push(table.values[row]!);
    }
    return found;
  }
}

function tableOf<Value>(entries: readonly (readonly [prefix: IpPrefix, value: Value])[]): Table<Value> {
  return {
    networks: Uint32Array.from(entries.flatMap(([prefix]) => prefix.words)),
    masks: Uint32Array.from(
      entries.flatMap(([prefix]) => prefix.words.map((_, index) => mask32(prefix.prefixLength - 32 * index))),
    ),
    values: entries.map(([, value]) => value),
  };
}

/** The first row from `from` on whose prefix contains the address in `words`, or -1. */
function nextRow({ networks, masks, values }: Table<unknown>, family: 4 | 6, from: number): number {
  const width = family === 4 ? 1 : V6_WORDS;
  for (let row = from; row < values.length; row++) {
    let word = 0;
    // Bit operations are signed in JavaScript; a difference is zero either way.
    while (word < width && ((words[word]! ^ networks[row * width + word]!) & masks[row * width + word]!) === 0) word++;
    if (word === width) return row;
  }
  return -1;
}
