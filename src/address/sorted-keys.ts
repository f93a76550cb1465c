/**
 * Sorted keys of one word or several, with a coarse index: addresses, prefixes, fingerprints. The range of the first words
 * is divided into equal buckets, each with the number of its first key, so that a search starts among a few keys. Where
 * many keys fall into one bucket, the binary search there is longer, but never longer than over the whole table.
 *
 * Index: least first word | shift | starts (buckets + 1). Empty for an empty table.
 */

/** Smaller buckets cost more memory than they save search time; measured with a million prefixes. */
const KEYS_PER_BUCKET = 8;
const BUCKETS_MAX = 1 << 18;
const HEADER_WORDS = 2;

/** How wide the buckets are for `count` keys whose first words span this range, as a shift; and how many there are. */
function bucketsOf(count: number, span: number): { shift: number; buckets: number } {
  const wanted = Math.min(BUCKETS_MAX, Math.max(1, count / KEYS_PER_BUCKET));
  let shift = 0;
  // JavaScript takes shifts modulo 32, so a shift of 32 would be a shift of 0.
  while (shift < 31 && span >>> shift >= wanted) shift++;
  return { shift, buckets: (span >>> shift) + 1 };
}

/** Words of the index over `count` keys, by the least and the greatest first word. */
export function bucketIndexLength(count: number, least: number, greatest: number): number {
  return count === 0 ? 0 : HEADER_WORDS + bucketsOf(count, greatest - least).buckets + 1;
}

/** `index` has the length that `bucketIndexLength` gives. */
export function writeBucketIndex(index: Uint32Array, keys: Uint32Array, stride: number): void {
  const count = keys.length / stride;
  if (count === 0) return;
  const least = keys[0] ?? 0;
  const { shift, buckets } = bucketsOf(count, (keys[(count - 1) * stride] ?? 0) - least);
  index[0] = least;
  index[1] = shift;
  let bucket = 0;
  for (let i = 0; i < count; i++) {
    const own = ((keys[i * stride] ?? 0) - least) >>> shift;
    while (bucket <= own) index[HEADER_WORDS + bucket++] = i;
  }
  index[HEADER_WORDS + buckets] = count;
}

export class SortedKeys {
  readonly count: number;
  /** `stride` words for each key. */
  readonly words: Uint32Array;
  readonly stride: number;
  readonly #least: number;
  readonly #shift: number;
  readonly #buckets: number;
  /** The keys of bucket `b` are those from `starts[b]` to `starts[b + 1]`. */
  readonly #starts: Uint32Array;

  private constructor(words: Uint32Array, stride: number, index: Uint32Array) {
    this.words = words;
    this.stride = stride;
    this.count = words.length / stride;
    this.#least = index[0] ?? 0;
    this.#shift = index[1] ?? 0;
    this.#starts = index.subarray(HEADER_WORDS);
    this.#buckets = Math.max(0, this.#starts.length - 1);
  }

  /** `null` when there are not `count` keys, or the index cannot be one over them. */
  static open(count: number, words: Uint32Array, stride: number, index: Uint32Array): SortedKeys | null {
    if (words.length !== count * stride) return null;
    const keys = new SortedKeys(words, stride, index);
    if (count === 0) return index.length === 0 ? keys : null;
    const starts = keys.#starts;
    const buckets = keys.#buckets;
    if (keys.#shift > 31 || buckets === 0 || starts[0] !== 0 || starts[buckets] !== count) return null;
    for (let i = 0; i < buckets; i++) if ((starts[i] ?? 0) > (starts[i + 1] ?? 0)) return null;
    return keys;
  }

  /** The last key that is not greater than these words, or -1. */
  floor(wanted: Uint32Array): number {
    const first = wanted[0]!;
    if (first < this.#least || this.#buckets === 0) return -1;
    const bucket = (first - this.#least) >>> this.#shift;
    if (bucket >= this.#buckets) return this.count - 1;
    const { words, stride } = this;
    let low = this.#starts[bucket]!;
    let high = this.#starts[bucket + 1]!;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const key = words[middle * stride]!;
      if (key === first ? this.#isAbove(middle, wanted) : key > first) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  /** Number of the key that is exactly these words, or -1. */
  entryOf(wanted: Uint32Array): number {
    const key = this.floor(wanted);
    return key >= 0 && this.isEqual(key, wanted) ? key : -1;
  }

  /** Whether a key whose first word is the same is greater. */
  #isAbove(key: number, wanted: Uint32Array): boolean {
    const { words, stride } = this;
    for (let w = 1; w < stride; w++) {
      const word = words[key * stride + w]!;
      if (word !== wanted[w]) return word > wanted[w]!;
    }
    return false;
  }

  isEqual(key: number, wanted: Uint32Array): boolean {
    const { words, stride } = this;
    for (let w = 0; w < stride; w++) if (words[key * stride + w] !== wanted[w]) return false;
    return true;
  }

  /** A view of the words of a key. */
  at(key: number): Uint32Array {
    return this.words.subarray(key * this.stride, (key + 1) * this.stride);
  }
}
