/**
 * A coarse index over sorted keys. The range of their first words is divided into equal buckets, each with the number
 * of its first key, so that a search starts among a few keys. Where many keys fall into one bucket, the binary search
 * there is longer, but never longer than over the whole table.
 *
 * Section: least first word | shift | starts (buckets + 1). Empty for an empty table.
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

export class BucketIndex {
  readonly least: number;
  readonly shift: number;
  readonly buckets: number;
  /** The keys of bucket `b` are those from `starts[b]` to `starts[b + 1]`. */
  readonly starts: Uint32Array;

  private constructor(section: Uint32Array) {
    this.least = section[0] ?? 0;
    this.shift = section[1] ?? 0;
    this.starts = section.subarray(HEADER_WORDS);
    this.buckets = Math.max(0, this.starts.length - 1);
  }

  /** `null` when the section cannot be an index over `count` keys. */
  static open(section: Uint32Array, count: number): BucketIndex | null {
    const index = new BucketIndex(section);
    if (count === 0) return section.length === 0 ? index : null;
    const { starts, buckets } = index;
    if (index.shift > 31 || buckets === 0 || starts[0] !== 0 || starts[buckets] !== count) return null;
    for (let i = 0; i < buckets; i++) if ((starts[i] ?? 0) > (starts[i + 1] ?? 0)) return null;
    return index;
  }
}
