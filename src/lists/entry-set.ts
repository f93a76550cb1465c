/**
 * Collects the entries of a list and sorts them as their keys sort. IPv4 networks are numbers, because a list may have a
 * million of them: as texts they would take the memory of an isolate.
 */

/** Digits of an IPv4 key after its first character: address and length. */
const V4_HEX_DIGITS = 10;
const FIRST_CAPACITY = 4096;

export class EntrySet {
  #v4 = new Float64Array(FIRST_CAPACITY);
  #v4Count = 0;
  readonly #others: string[] = [];

  /** Entries before equal ones are removed. `others`: of them, those that are no IPv4 networks. */
  get size(): number {
    return this.#v4Count + this.#others.length;
  }

  get others(): number {
    return this.#others.length;
  }

  addV4(address: number, prefixLength: number): void {
    if (this.#v4Count === this.#v4.length) {
      const wider = new Float64Array(this.#v4.length * 2);
      wider.set(this.#v4);
      this.#v4 = wider;
    }
    this.#v4[this.#v4Count++] = address * 256 + prefixLength;
  }

  /** The key of any other entry. */
  add(key: string): void {
    this.#others.push(key);
  }

  /** Ends adding. */
  sorted(): SortedEntries {
    const v4 = this.#v4.subarray(0, this.#v4Count).sort();
    let kept = 0;
    for (let i = 0; i < v4.length; i++) if (i === 0 || v4[i] !== v4[i - 1]) v4[kept++] = v4[i]!;
    const others = this.#others.sort();
    return new SortedEntries(
      v4.subarray(0, kept),
      others.filter((key, i) => key !== others[i - 1]),
    );
  }
}

/** Distinct entries in the order of their keys. */
export class SortedEntries {
  readonly length: number;
  readonly #v4: Float64Array;
  readonly #others: readonly string[];

  constructor(v4: Float64Array, others: readonly string[]) {
    this.#v4 = v4;
    this.#others = others;
    this.length = v4.length + others.length;
  }

  key(at: number): string {
    const v4 = this.#v4;
    if (at >= v4.length) return this.#others[at - v4.length]!;
    return `4${v4[at]!.toString(16).padStart(V4_HEX_DIGITS, '0')}`;
  }

  /** Negative when the entry comes before `key`, 0 when it is this one. */
  compare(at: number, key: string): number {
    const v4 = this.#v4;
    if (at < v4.length) return key.startsWith('4') ? v4[at]! - Number.parseInt(key.slice(1), 16) : -1;
    const own = this.#others[at - v4.length]!;
    return own < key ? -1 : own === key ? 0 : 1;
  }
}
