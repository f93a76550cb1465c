/**
 * Compiles user agent substrings into a truncated Aho-Corasick automaton. A pattern's path ends where it
 * is told apart from every other pattern (and from a shifted copy of itself); the rest of its text is
 * compared directly once the path was walked. That keeps ten thousand patterns at some twenty thousand
 * small states, which stay in cache. States stand for three bytes or more; shorter suffixes are
 * found through a bitmap of the trigrams that patterns begin with.
 *
 * State numbers rise breadth-first, so a state's children are neighbours, sorted by byte class, and a
 * fail link always points to a lower number.
 */
import { ByteColumn, ShortColumn, WordColumn } from './columns.ts';
import type { Sections } from './layout.ts';

/** No state, no pattern. */
export const NONE = 0xffff_ffff;
/** In `uaFirst`: this state or one on its fail chain ends a pattern. */
export const OUTPUT_FLAG = 0x8000_0000;
/** Shortest path of the automaton, bytes. */
const TRIGRAM = 3;

export type SubstringSections = Pick<
  Sections,
  | 'uaOffsets'
  | 'uaText'
  | 'uaClasses'
  | 'uaSingles'
  | 'uaPairs'
  | 'uaTrigrams'
  | 'uaRanks'
  | 'uaFirst'
  | 'uaFails'
  | 'uaOutputs'
  | 'uaDepths'
  | 'uaLabels'
>;

/** Patterns as one run of bytes; pattern `p` is `text[offsets[p], offsets[p + 1])`. Sorted, distinct, non-empty. */
export interface PatternText {
  text: Uint8Array;
  offsets: Uint32Array;
}

interface Classes {
  /** Byte → class; 0 is "in no pattern". Upper-case ASCII has the class of its lower case. */
  table: Uint8Array;
  count: number;
}

function classesOf(text: Uint8Array): Classes {
  const used = new Uint8Array(256);
  for (const byte of text) used[byte] = 1;
  const table = new Uint8Array(256);
  let count = 1;
  for (let byte = 0; byte < 256; byte++) if (used[byte]) table[byte] = count++;
  for (let upper = 65; upper <= 90; upper++) table[upper] = table[upper + 32] ?? 0;
  return { table, count };
}

/**
 * Bytes of each pattern that become states: one more than it shares with a neighbour in sorted order or
 * with itself further on. The latter bounds the direct comparing: what was compared cannot start again
 * inside what was compared.
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
    const own = Math.max(TRIGRAM - 1, withPrevious, withNext, longestRepeat(text.subarray(start, start + length)));
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

/** The automaton while it grows. `low`, `high`: the patterns whose paths run through a state. */
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

function growStates(patterns: PatternText, paths: Uint16Array, classes: Uint8Array): States {
  const { text, offsets } = patterns;
  const count = offsets.length - 1;
  const states = new States();
  const byteAt = (p: number, i: number): number => text[(offsets[p] ?? 0) + i] ?? 0;
  const sameTrigram = (a: number, b: number): boolean =>
    byteAt(a, 0) === byteAt(b, 0) && byteAt(a, 1) === byteAt(b, 1) && byteAt(a, 2) === byteAt(b, 2);
  const length = (p: number): number => (offsets[p + 1] ?? 0) - (offsets[p] ?? 0);

  for (let low = 0; low < count;) {
    let high = low + 1;
    if (length(low) < TRIGRAM) {
      low = high;
      continue;
    }
    while (high < count && length(high) >= TRIGRAM && sameTrigram(low, high)) high++;
    states.add(low, high, TRIGRAM, classes[byteAt(low, 2)] ?? 0);
    low = high;
  }
  for (let state = 0; state < states.count; state++) {
    let low = states.low.at(state);
    const high = states.high.at(state);
    const depth = states.depths.at(state);
    // A pattern that ends here sorts before all that go on, and no two end at one state.
    const ends = paths[low] === depth;
    states.outputs.push(ends ? low++ : NONE);
    states.first.push(states.count);
    while (low < high) {
      const byte = byteAt(low, depth);
      let next = low + 1;
      while (next < high && byteAt(next, depth) === byte) next++;
      states.add(low, next, depth + 1, classes[byte] ?? 0);
      low = next;
    }
  }
  states.first.push(states.count);
  return states;
}

/** Child of `state` by class, or `NONE`. */
export function childOf(first: Uint32Array, labels: Uint8Array, state: number, label: number): number {
  let low = first[state]! & ~OUTPUT_FLAG;
  let high = first[state + 1]! & ~OUTPUT_FLAG;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const here = labels[middle]!;
    if (here === label) return middle;
    if (here < label) low = middle + 1;
    else high = middle;
  }
  return NONE;
}

/** Bits set in a 32-bit word. */
export function bitCount(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

export function buildSubstrings(patterns: PatternText): SubstringSections {
  const { text, offsets } = patterns;
  const count = offsets.length - 1;
  const { table, count: classCount } = classesOf(text);
  const paths = pathLengths(patterns);
  const states = growStates(patterns, paths, table);
  const first = states.first.view().slice();
  const outputs = states.outputs.view().slice();
  const labels = states.labels.view().slice();
  const depths = states.depths.view().slice();
  const low = states.low.view();
  const classAt = (p: number, i: number): number => table[text[(offsets[p] ?? 0) + i] ?? 0] ?? 0;

  // One bit for each trigram a pattern begins with; the running count before a word is the number of
  // the word's first state, since states of depth three stand in trigram order.
  const words = states.count === 0 ? 0 : Math.ceil(classCount ** 3 / 32);
  const trigrams = new Uint32Array(words);
  const ranks = new Uint32Array(words);
  const trigramStates = new Map<number, number>();
  for (let s = 0; s < states.count && depths[s] === TRIGRAM; s++) {
    const p = low[s] ?? 0;
    const code = (classAt(p, 0) * classCount + classAt(p, 1)) * classCount + classAt(p, 2);
    trigrams[code >>> 5] = (trigrams[code >>> 5] ?? 0) | (1 << (code & 31));
    trigramStates.set(code, s);
  }
  for (let w = 1; w < words; w++) ranks[w] = (ranks[w - 1] ?? 0) + bitCount(trigrams[w - 1] ?? 0);

  const fails = new Uint32Array(states.count).fill(NONE);
  for (let parent = 0; parent < states.count; parent++) {
    if ((outputs[parent] ?? NONE) !== NONE || flagged(first, fails[parent] ?? NONE)) {
      first[parent] = (first[parent] ?? 0) | OUTPUT_FLAG;
    }
    const end = (first[parent + 1] ?? 0) & ~OUTPUT_FLAG;
    for (let child = (first[parent] ?? 0) & ~OUTPUT_FLAG; child < end; child++) {
      let fail = fails[parent] ?? NONE;
      let found = NONE;
      while (fail !== NONE && found === NONE) {
        found = childOf(first, labels, fail, labels[child] ?? 0);
        fail = fails[fail] ?? NONE;
      }
      if (found === NONE) {
        const p = low[child] ?? 0;
        const at = (depths[child] ?? 0) - TRIGRAM;
        const code = (classAt(p, at) * classCount + classAt(p, at + 1)) * classCount + classAt(p, at + 2);
        found = trigramStates.get(code) ?? NONE;
      }
      fails[child] = found;
    }
  }

  const hasShort = states.count === 0 ? count > 0 : anyShorter(offsets);
  const singles = new Uint32Array(hasShort ? classCount : 0).fill(NONE);
  const pairs = new Uint32Array(hasShort ? classCount * classCount : 0).fill(NONE);
  for (let p = 0; p < count; p++) {
    const length = (offsets[p + 1] ?? 0) - (offsets[p] ?? 0);
    if (length === 1) singles[classAt(p, 0)] = p;
    else if (length === 2) pairs[classAt(p, 0) * classCount + classAt(p, 1)] = p;
  }

  return {
    uaOffsets: offsets,
    uaText: text,
    uaClasses: table,
    uaSingles: singles,
    uaPairs: pairs,
    uaTrigrams: trigrams,
    uaRanks: ranks,
    uaFirst: first,
    uaFails: fails,
    uaOutputs: outputs,
    uaDepths: depths,
    uaLabels: labels,
  };
}

function flagged(first: Uint32Array, state: number): boolean {
  return state !== NONE && ((first[state] ?? 0) & OUTPUT_FLAG) !== 0;
}

function anyShorter(offsets: Uint32Array): boolean {
  for (let p = 0; p + 1 < offsets.length; p++) if ((offsets[p + 1] ?? 0) - (offsets[p] ?? 0) < TRIGRAM) return true;
  return false;
}
