/**
 * Compiles user agent substrings into a truncated Aho-Corasick automaton. The path of a pattern ends where it differs
 * from every other pattern and from every shifted copy of itself. The rest of the pattern is compared directly when its
 * path has matched. Ten thousand patterns then need about ten thousand small states, which stay in the CPU's cache.
 * A state represents at least four bytes: a bitmap of hashes of four bytes finds where a path may begin.
 *
 * States are numbered breadth-first. The children of a state are neighbours, sorted by byte, and a fail link points to
 * a lower number. The matcher handles patterns with fewer than four bytes.
 */
import { ByteColumn, ShortColumn, WordColumn } from './columns.ts';
import type { Sections } from './layout.ts';

/** No state, no pattern. */
export const NONE = 0xffff_ffff;
/** In `uaFails`: this state or one on its fail chain ends a pattern. */
export const OUTPUT_FLAG = 0x8000_0000;
/** In `uaFails`, the flag aside: no state. */
export const NO_FAIL = 0x7fff_ffff;
/** In `uaEdges`: the number of the first child. The byte above it is the child's byte, or 0 when there is no child. */
export const CHILD_MASK = 0x00ff_ffff;
/** Bytes of the shortest path: they fit into one word, and are rarely in a header by chance. */
export const GRAM_BYTES = 4;
/** Bits of the bitmap for each gram in it. About 3 % of other grams pass the test. */
const BITS_PER_GRAM = 32;
const BITMAP_LOG2_MIN = 10;
/** 512 KiB: a larger bitmap does not stay in the CPU's cache. */
const BITMAP_LOG2_MAX = 22;

export type SubstringSections = Pick<
  Sections,
  'uaOffsets' | 'uaText' | 'uaGramBits' | 'uaGramSlots' | 'uaEdges' | 'uaFails' | 'uaOutputs' | 'uaDepths' | 'uaLabels'
>;

/** All patterns in one text, sorted, distinct and not empty. Pattern `p` is `text[offsets[p], offsets[p + 1])`. */
export interface PatternText {
  text: Uint8Array;
  offsets: Uint32Array;
}

/** Four bytes as one big-endian word. */
export function gramAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}

/**
 * The hash of a gram, of which callers use the leading bits. It ignores letter case (and the difference of a few signs
 * in the same bit), so that a header is folded only where its hash is in the table.
 */
export function gramHash(gram: number): number {
  return Math.imul(gram | 0x20202020, 0x9e3779b1);
}

/**
 * The number of bytes of each pattern that become states: one more than it shares with a neighbour in sorted order, or
 * with a later part of itself. The latter limits direct comparisons: a pattern's path cannot match again within bytes
 * that were compared for it.
 */
function pathLengths({ text, offsets }: PatternText): Uint16Array {
  const count = offsets.length - 1;
  const lengths = new Uint16Array(count);
  const common = (a: number, b: number): number => {
    const startA = offsets[a] ?? 0;
    const startB = offsets[b] ?? 0;
    const end = Math.min((offsets[a + 1] ?? 0) - startA, (offsets[b + 1] ?? 0) - startB);
    let n = 0;
    while (n < end && text[startA + n] === text[startB + n]) n++;
    return n;
  };
  let withPrevious = 0;
  for (let p = 0; p < count; p++) {
    const withNext = p + 1 < count ? common(p, p + 1) : 0;
    const start = offsets[p] ?? 0;
    const length = (offsets[p + 1] ?? 0) - start;
    const own = Math.max(GRAM_BYTES - 1, withPrevious, withNext, longestRepeat(text.subarray(start, start + length)));
    lengths[p] = Math.min(length, own + 1);
    withPrevious = withNext;
  }
  return lengths;
}

/** The longest prefix of `pattern` that occurs in it again (Z function). */
function longestRepeat(pattern: Uint8Array): number {
  const n = pattern.length;
  const z = new Uint16Array(n);
  let left = 0;
  let right = 0;
  let longest = 0;
  for (let i = 1; i < n; i++) {
    let length = i < right ? Math.min(right - i, z[i - left] ?? 0) : 0;
    while (i + length < n && pattern[length] === pattern[i + length]) length++;
    z[i] = length;
    if (i + length > right) {
      left = i;
      right = i + length;
    }
    if (length > longest) longest = length;
  }
  return longest;
}

/** The automaton while it is built. The paths of the patterns from `low` to `high` lead through a state. */
class States {
  readonly low = new WordColumn();
  readonly high = new WordColumn();
  readonly first = new WordColumn();
  readonly outputs = new WordColumn();
  readonly depths = new ShortColumn();
  readonly labels = new ByteColumn();

  add(low: number, high: number, depth: number, label: number): void {
    this.low.push(low);
    this.high.push(high);
    this.depths.push(depth);
    this.labels.push(label);
  }

  get count(): number {
    return this.low.length;
  }
}

function growStates(patterns: PatternText, paths: Uint16Array): States {
  const { text, offsets } = patterns;
  const count = offsets.length - 1;
  const states = new States();
  const byteAt = (p: number, i: number): number => text[(offsets[p] ?? 0) + i] ?? 0;
  const long = (p: number): boolean => (offsets[p + 1] ?? 0) - (offsets[p] ?? 0) >= GRAM_BYTES;

  for (let low = 0; low < count;) {
    let high = low + 1;
    if (long(low)) {
      const gram = gramAt(text, offsets[low] ?? 0);
      while (high < count && long(high) && gramAt(text, offsets[high] ?? 0) === gram) high++;
      states.add(low, high, GRAM_BYTES, gram & 255);
    }
    low = high;
  }
  for (let state = 0; state < states.count; state++) {
    let low = states.low.at(state);
    const high = states.high.at(state);
    const depth = states.depths.at(state);
    // A pattern whose path ends here comes before all longer ones, and no two paths end at one state.
    states.outputs.push(paths[low] === depth ? low++ : NONE);
    states.first.push(states.count);
    while (low < high) {
      const byte = byteAt(low, depth);
      let next = low + 1;
      while (next < high && byteAt(next, depth) === byte) next++;
      states.add(low, next, depth + 1, byte);
      low = next;
    }
  }
  states.first.push(states.count);
  return states;
}

/** The child of `state` for a byte that is not 0, or `NONE`. Most states have one child, which is checked first. */
export function childOf(edges: Uint32Array, labels: Uint8Array, state: number, byte: number): number {
  const edge = edges[state]!;
  if (edge >>> 24 === byte) return edge & CHILD_MASK;
  let low = (edge & CHILD_MASK) + 1;
  let high = edges[state + 1]! & CHILD_MASK;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const here = labels[middle]!;
    if (here === byte) return middle;
    if (here < byte) low = middle + 1;
    else high = middle;
  }
  return NONE;
}

const powerOfTwo = (n: number): boolean => n > 0 && (n & (n - 1)) === 0;

/** The grams with which paths begin: a bitmap by hash, and an open-addressed table from gram to state. */
export class GramTable {
  readonly bits: Uint32Array;
  readonly bitsShift: number;
  readonly slots: Uint32Array;
  readonly slotsShift: number;

  /** Uses the given arrays: empty ones from `for`, or a snapshot's sections. */
  constructor(bits: Uint32Array, slots: Uint32Array) {
    this.bits = bits;
    this.bitsShift = 32 - Math.log2(bits.length * 32);
    this.slots = slots;
    this.slotsShift = 32 - Math.log2(slots.length / 2);
  }

  static for(grams: number): GramTable {
    const log2 = Math.ceil(Math.log2(Math.max(1, grams) * BITS_PER_GRAM));
    const bits = 2 ** Math.min(BITMAP_LOG2_MAX, Math.max(BITMAP_LOG2_MIN, log2));
    const slots = 2 ** Math.max(1, Math.ceil(Math.log2(Math.max(1, grams) * 2)));
    return new GramTable(new Uint32Array(bits / 32), new Uint32Array(slots * 2).fill(NONE));
  }

  /** Whether the sizes of the sections are powers of two, and an empty slot ends every search. */
  static fits(bits: Uint32Array, slots: Uint32Array, states: number): boolean {
    if (!powerOfTwo(bits.length) || !powerOfTwo(slots.length) || slots.length < 4) return false;
    let empty = false;
    for (let i = 1; i < slots.length; i += 2) {
      if (slots[i] === NONE) empty = true;
      else if (slots[i]! >= states) return false;
    }
    return empty;
  }

  add(gram: number, state: number): void {
    const hash = gramHash(gram);
    const bit = hash >>> this.bitsShift;
    this.bits[bit >>> 5]! |= 1 << (bit & 31);
    let slot = hash >>> this.slotsShift;
    while (this.slots[slot * 2 + 1] !== NONE) slot = (slot + 1) & (this.slots.length / 2 - 1);
    this.slots[slot * 2] = gram;
    this.slots[slot * 2 + 1] = state;
  }

  /** State of a gram, or `NONE`. */
  stateOf(gram: number): number {
    const hash = gramHash(gram);
    const bit = hash >>> this.bitsShift;
    if (((this.bits[bit >>> 5]! >>> (bit & 31)) & 1) === 0) return NONE;
    const slots = this.slots;
    const mask = slots.length / 2 - 1;
    for (let slot = hash >>> this.slotsShift; ; slot = (slot + 1) & mask) {
      const state = slots[slot * 2 + 1]!;
      if (state === NONE || (slots[slot * 2]! | 0) === gram) return state;
    }
  }
}

export function buildSubstrings(patterns: PatternText): SubstringSections {
  const { text, offsets } = patterns;
  const states = growStates(patterns, pathLengths(patterns));
  const count = states.count;
  if (count >= CHILD_MASK) throw new RangeError('user agent rules share too much text to be compiled');
  const outputs = states.outputs.view();
  const labels = states.labels.view();
  const depths = states.depths.view();
  const edges = states.first.view().slice();
  for (let state = 0; state < count; state++) {
    if (edges[state]! < edges[state + 1]!) edges[state]! |= labels[edges[state]!]! << 24;
  }
  /** Where a pattern whose path leads through a state begins. */
  const startOf = (state: number): number => offsets[states.low.at(state)] ?? 0;

  let grams = 0;
  while (grams < count && depths[grams] === GRAM_BYTES) grams++;
  const table = GramTable.for(grams);
  for (let state = 0; state < grams; state++) table.add(gramAt(text, startOf(state)), state);

  const fails = new Uint32Array(count).fill(NO_FAIL);
  for (let parent = 0; parent < count; parent++) {
    const parentFail = fails[parent]! & NO_FAIL;
    if (outputs[parent] !== NONE || (parentFail !== NO_FAIL && fails[parentFail]! >= OUTPUT_FLAG)) {
      fails[parent]! |= OUTPUT_FLAG;
    }
    const end = edges[parent + 1]! & CHILD_MASK;
    for (let child = edges[parent]! & CHILD_MASK; child < end; child++) {
      let found = NONE;
      for (let fail = parentFail; fail !== NO_FAIL && found === NONE; fail = fails[fail]! & NO_FAIL) {
        found = childOf(edges, labels, fail, labels[child]!);
      }
      if (found === NONE) found = table.stateOf(gramAt(text, startOf(child) + depths[child]! - GRAM_BYTES));
      fails[child] = found === NONE ? NO_FAIL : found;
    }
  }
  return {
    uaOffsets: offsets,
    uaText: text,
    uaGramBits: table.bits,
    uaGramSlots: table.slots,
    uaEdges: edges,
    uaFails: fails,
    uaOutputs: outputs,
    uaDepths: depths,
    uaLabels: labels,
  };
}
