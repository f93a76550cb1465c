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

/** The number of bytes of each pattern that become states. @throws RangeError when they need more than a compile has. */
function pathLengths({ text, offsets }: PatternText): Uint16Array {
  const lengths = new Uint16Array(offsets.length - 1);
  const meter = new PathMeter();
  for (let p = 0; p <= lengths.length; p++) {
    const next = p < lengths.length ? text.subarray(offsets[p], offsets[p + 1]) : null;
    const { path } = meter.measureBefore(next);
    if (p > 0) lengths[p - 1] = path;
    if (meter.states > USER_AGENT_STATES_MAX) {
      throw new RangeError(
        `The user agent rules repeat too much text: they need more than ${USER_AGENT_STATES_MAX} states`,
      );
    }
  }
  return lengths;
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

/** The bitmap of these grams. */
function gramBits(grams: Uint32Array): Uint32Array {
  const log2 = Math.ceil(Math.log2(Math.max(1, grams.length) * BITS_PER_GRAM));
  const bitsLog2 = Math.min(BITMAP_LOG2_MAX, Math.max(BITMAP_LOG2_MIN, log2));
  const bits = new Uint32Array(2 ** (bitsLog2 - 5));
  for (const gram of grams) {
    const bit = gramHash(gram) >>> (32 - bitsLog2);
    bits[bit >>> 5]! |= 1 << (bit & 31);
  }
  return bits;
}

export function buildSubstrings(patterns: PatternText): SubstringSections {
  const { text, offsets } = patterns;
  const states = growStates(patterns, pathLengths(patterns));
  const count = states.count;
  const outputs = states.outputs.view();
  const labels = states.labels.view();
  const depths = states.depths.view();
  const edges = states.first.view().slice();
  for (let state = 0; state < count; state++) {
    if (edges[state]! < edges[state + 1]!) edges[state]! |= labels[edges[state]!]! << 24;
  }
  /** Where a pattern whose path leads through a state begins. */
  const startOf = (state: number): number => offsets[states.low.at(state)] ?? 0;

  let gramCount = 0;
  while (gramCount < count && depths[gramCount] === GRAM_BYTES) gramCount++;
  const grams = Uint32Array.from({ length: gramCount }, (_, state) => gramAt(text, startOf(state)));
  const bits = gramBits(grams);
  const table = new GramTable(bits, grams);

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
    uaGramBits: bits,
    uaGrams: grams,
    uaEdges: edges,
    uaFails: fails,
    uaOutputs: outputs,
    uaDepths: depths,
    uaLabels: labels,
  };
}
