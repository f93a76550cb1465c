/**
 * Compiles user agent substrings into a truncated Aho-Corasick automaton. The path of a pattern ends where it differs
 * from every other pattern and from every shifted copy of itself. The rest of the pattern is compared directly when its
 * path has matched. Ten thousand patterns then need about ten thousand small states, which stay in the CPU's cache.
 * A state represents at least four bytes: a bitmap of hashes of four bytes finds where a path may begin.
 *
 * States are numbered breadth-first. The children of a state are neighbours, sorted by byte, and a fail link points to
 * a lower number. The matcher handles patterns with fewer than four bytes.
 */
import type { Sections } from './layout.ts';
import { NumberTable, rises } from './number-table.ts';
import { GRAM_BYTES, PathMeter, USER_AGENT_STATES_MAX } from './substring-paths.ts';

/** No state, no pattern. */
export const NONE = 0xffff_ffff;
/** In `uaFails`: this state or one on its fail chain ends a pattern. */
export const OUTPUT_FLAG = 0x8000_0000;
/** In `uaFails`, the flag aside: no state. */
export const NO_FAIL = 0x7fff_ffff;
/** In `uaEdges`: the number of the first child. The byte above it is the child's byte, or 0 when there is no child. */
export const CHILD_MASK = 0x00ff_ffff;
/** Bits of the bitmap for each gram in it. About 3 % of other grams pass the test. */
const BITS_PER_GRAM = 32;
const BITMAP_LOG2_MIN = 10;
/** 512 KiB: a larger bitmap does not stay in the CPU's cache. */
const BITMAP_LOG2_MAX = 22;

export type SubstringSections = Pick<
  Sections,
  'uaOffsets' | 'uaText' | 'uaGramBits' | 'uaGrams' | 'uaEdges' | 'uaFails' | 'uaOutputs' | 'uaDepths' | 'uaLabels'
>;

/** Elements of each section. */
export type SubstringLengths = { [Name in keyof SubstringSections]: number };

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
 * The number of bytes of each pattern that become states, and what the sections need. `patternAt` gives the patterns,
 * sorted, distinct and not empty. @throws RangeError when they need more states than a compile has.
 */
export function planSubstrings(
  count: number,
  patternAt: (p: number) => Uint8Array,
): { paths: Uint16Array<ArrayBuffer>; lengths: SubstringLengths } {
  const paths = new Uint16Array(count);
  const meter = new PathMeter();
  let textBytes = 0;
  let grams = 0;
  let lastGram = -1;
  for (let p = 0; p <= count; p++) {
    const next = p < count ? patternAt(p) : null;
    const { path } = meter.measureBefore(next);
    if (p > 0) paths[p - 1] = path;
    if (meter.states > USER_AGENT_STATES_MAX) {
      throw new RangeError(
        `The user agent rules repeat too much text: they need more than ${USER_AGENT_STATES_MAX} states`,
      );
    }
    if (next === null) break;
    textBytes += next.length;
    if (next.length < GRAM_BYTES) continue;
    const gram = gramAt(next, 0) >>> 0;
    if (gram !== lastGram) grams++;
    lastGram = gram;
  }
  const { states } = meter;
  return {
    paths,
    lengths: {
      uaOffsets: count + 1,
      uaText: textBytes,
      uaGramBits: 2 ** (bitmapLog2(grams) - 5),
      uaGrams: grams,
      uaEdges: states + 1,
      uaFails: states,
      uaOutputs: states,
      uaDepths: states,
      uaLabels: states,
    },
  };
}

/**
 * Fills the sections of the states, except their fail links. Returns the first of the patterns whose paths lead through
 * each state.
 */
function growStates(sections: SubstringSections, paths: Uint16Array): Uint32Array<ArrayBuffer> {
  const { uaText, uaOffsets, uaEdges, uaOutputs, uaDepths, uaLabels } = sections;
  const count = paths.length;
  const lows = new Uint32Array(uaLabels.length);
  /** The end of these patterns. */
  const highs = new Uint32Array(uaLabels.length);
  let states = 0;
  const add = (low: number, high: number, depth: number, label: number): void => {
    lows[states] = low;
    highs[states] = high;
    uaDepths[states] = depth;
    uaLabels[states++] = label;
  };
  const long = (p: number): boolean => uaOffsets[p + 1]! - uaOffsets[p]! >= GRAM_BYTES;

  for (let low = 0; low < count;) {
    let high = low + 1;
    if (long(low)) {
      const gram = gramAt(uaText, uaOffsets[low]!);
      while (high < count && long(high) && gramAt(uaText, uaOffsets[high]!) === gram) high++;
      add(low, high, GRAM_BYTES, gram & 255);
    }
    low = high;
  }
  for (let state = 0; state < states; state++) {
    let low = lows[state]!;
    const high = highs[state]!;
    const depth = uaDepths[state]!;
    // A pattern whose path ends here comes before all longer ones, and no two paths end at one state.
    uaOutputs[state] = paths[low] === depth ? low++ : NONE;
    uaEdges[state] = states;
    while (low < high) {
      const byte = uaText[uaOffsets[low]! + depth]!;
      let next = low + 1;
      while (next < high && uaText[uaOffsets[next]! + depth] === byte) next++;
      add(low, next, depth + 1, byte);
      low = next;
    }
  }
  uaEdges[states] = states;
  highs.buffer.transfer(0);
  return lows;
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

/**
 * The grams with which paths begin: a bitmap by hash, and the grams themselves, ascending. The first states belong to
 * them in this order.
 */
export class GramTable {
  readonly bits: Uint32Array;
  readonly bitsShift: number;
  readonly #states: NumberTable;

  constructor(bits: Uint32Array, grams: Uint32Array) {
    this.bits = bits;
    this.bitsShift = 32 - Math.log2(bits.length * 32);
    this.#states = new NumberTable(grams);
  }

  /** Whether the bitmap can be indexed by a hash, and the grams can be searched. */
  static fits(bits: Uint32Array, grams: Uint32Array, states: number): boolean {
    return powerOfTwo(bits.length) && grams.length <= states && rises(grams);
  }

  /** State of a gram, or `NONE`. */
  stateOf(gram: number): number {
    const bit = gramHash(gram) >>> this.bitsShift;
    if (((this.bits[bit >>> 5]! >>> (bit & 31)) & 1) === 0) return NONE;
    return this.#states.entryOf(gram >>> 0) >>> 0;
  }
}

/** Bits of the bitmap for this many grams, as a power of two. */
function bitmapLog2(grams: number): number {
  const log2 = Math.ceil(Math.log2(Math.max(1, grams) * BITS_PER_GRAM));
  return Math.min(BITMAP_LOG2_MAX, Math.max(BITMAP_LOG2_MIN, log2));
}

/** Fills the other sections from `uaOffsets` and `uaText`, which hold the patterns that `planSubstrings` has measured. */
export function writeSubstrings(sections: SubstringSections, paths: Uint16Array): void {
  const { uaText, uaOffsets, uaGramBits, uaGrams, uaEdges, uaFails, uaOutputs, uaDepths, uaLabels } = sections;
  const lows = growStates(sections, paths);
  const count = uaLabels.length;
  for (let state = 0; state < count; state++) {
    if (uaEdges[state]! < uaEdges[state + 1]!) uaEdges[state]! |= uaLabels[uaEdges[state]!]! << 24;
  }
  /** Where a pattern whose path leads through a state begins. */
  const startOf = (state: number): number => uaOffsets[lows[state]!]!;

  const bitsShift = 32 - Math.log2(uaGramBits.length * 32);
  for (let state = 0; state < uaGrams.length; state++) {
    const gram = gramAt(uaText, startOf(state));
    const bit = gramHash(gram) >>> bitsShift;
    uaGrams[state] = gram;
    uaGramBits[bit >>> 5]! |= 1 << (bit & 31);
  }
  const table = new GramTable(uaGramBits, uaGrams);

  uaFails.fill(NO_FAIL);
  for (let parent = 0; parent < count; parent++) {
    const parentFail = uaFails[parent]! & NO_FAIL;
    if (uaOutputs[parent] !== NONE || (parentFail !== NO_FAIL && uaFails[parentFail]! >= OUTPUT_FLAG)) {
      uaFails[parent]! |= OUTPUT_FLAG;
    }
    const end = uaEdges[parent + 1]! & CHILD_MASK;
    for (let child = uaEdges[parent]! & CHILD_MASK; child < end; child++) {
      let found = NONE;
      for (let fail = parentFail; fail !== NO_FAIL && found === NONE; fail = uaFails[fail]! & NO_FAIL) {
        found = childOf(uaEdges, uaLabels, fail, uaLabels[child]!);
      }
      if (found === NONE) found = table.stateOf(gramAt(uaText, startOf(child) + uaDepths[child]! - GRAM_BYTES));
      uaFails[child] = found === NONE ? NO_FAIL : found;
    }
  }
  lows.buffer.transfer(0);
}
