/**
 * Finds every user agent substring in one pass over the header. The cost of a character does not depend on the number
 * of patterns (see `substring-build.ts`). Most characters cost one bitmap test, and the tests do not depend on each
 * other. The automaton runs only where four characters may begin a pattern, and stops when no path matches any longer.
 */
import { type Head, HeadMemory, HEAD_CHARS } from './head-memory.ts';
import { Hits, RANK_PREFIX } from './hits.ts';
import type { Sections } from './layout.ts';
import { CHILD_MASK, GramTable, NONE, NO_FAIL, OUTPUT_FLAG, childOf, gramHash } from './substring-build.ts';
import { GRAM_BYTES } from './substring-paths.ts';
import { asciiFold, byteFold, foldToBinary } from './user-agent-fold.ts';

/**
 * Bytes compared and links followed for one header, without what costs the same for every header. At each place a
 * pattern may begin that differs only at its end, so that a header made for a set of rules costs up to its length
 * times the longest rule. A header of 700 bytes cannot reach the limit. In a longer one that does, no more
 * patterns are found: who can send it can as well send another name.
 */
const COMPARED_MAX = 1 << 19;
/** Patterns found in one header. Further ones are left out, because each that is found is named and sorted. */
const FOUND_MAX = 4096;

/** Patterns with fewer than four bytes. They are few, and are looked up only after a byte with which one ends. */
class ShortPatterns {
  /** For each byte: bit `n` is set when a pattern of `n` bytes ends with it. */
  readonly endings = new Uint8Array(256);
  /** `length << 24 | bytes` → pattern. */
  readonly patterns = new Map<number, number>();

  add(bytes: Uint8Array, p: number): void {
    let code = bytes.length << 24;
    for (const [i, byte] of bytes.entries()) code |= byte << (8 * (bytes.length - 1 - i));
    this.endings[bytes[bytes.length - 1]!]! |= 1 << bytes.length;
    this.patterns.set(code, p);
  }
}

export class SubstringMatcher {
  /** The number of patterns. */
  readonly count: number;
  readonly #firstRule: number;
  readonly #offsets: Uint32Array;
  readonly #text: Uint8Array;
  readonly #grams: GramTable;
  readonly #edges: Uint32Array;
  readonly #fails: Uint32Array;
  readonly #outputs: Uint32Array;
  readonly #depths: Uint16Array;
  readonly #labels: Uint8Array;
  readonly #short: ShortPatterns | null;
  /** The last scan in which a pattern was found, and in which all patterns of a state's fail chain were. */
  readonly #foundIn: Uint32Array;
  readonly #doneIn: Uint32Array;
  #scan = 0;
  #compared = 0;
  /** Whether a walk of this scan depends on what follows the text. */
  #ranOut = false;
  /** Where the first such walk begins, and how many patterns were found before it. */
  #sureTo = 0;
  #sureCount = 0;
  readonly #heads = new HeadMemory();
  readonly #headHits = new Hits();
  readonly #learn = (text: string): Head | null => this.#learnHead(text);

  private constructor(sections: Sections, firstRule: number) {
    this.count = sections.uaMeta.length;
    this.#firstRule = firstRule;
    this.#offsets = sections.uaOffsets;
    this.#text = sections.uaText;
    this.#grams = new GramTable(sections.uaGramBits, sections.uaGrams);
    this.#edges = sections.uaEdges;
    this.#fails = sections.uaFails;
    this.#outputs = sections.uaOutputs;
    this.#depths = sections.uaDepths;
    this.#labels = sections.uaLabels;
    this.#foundIn = new Uint32Array(this.count);
    this.#doneIn = new Uint32Array(this.#fails.length);
    let short: ShortPatterns | null = null;
    for (let p = 0; p < this.count; p++) {
      if (this.#offsets[p + 1]! - this.#offsets[p]! < GRAM_BYTES)
        (short ??= new ShortPatterns()).add(this.pattern(p), p);
    }
    this.#short = short;
  }

  /** `null` when a number in the sections points outside what it indexes, or a link does not descend. */
  static open(sections: Sections, firstRule: number): SubstringMatcher | null {
    const { uaOffsets, uaText, uaMeta, uaEdges, uaFails, uaOutputs, uaDepths, uaLabels } = sections;
    const count = uaMeta.length;
    const states = uaFails.length;
    const sizesFit =
      uaOffsets.length === count + 1 &&
      uaOffsets[0] === 0 &&
      uaOffsets[count] === uaText.length &&
      uaEdges.length === states + 1 &&
      uaOutputs.length === states &&
      uaDepths.length === states &&
      uaLabels.length === states;
    if (!sizesFit || !GramTable.fits(sections.uaGramBits, sections.uaGrams, states)) return null;
    for (let p = 0; p < count; p++) if (uaOffsets[p]! >= uaOffsets[p + 1]!) return null;
    let previous = 0;
    for (let s = 0; s < states; s++) {
      const child = uaEdges[s]! & CHILD_MASK;
      const fail = uaFails[s]! & NO_FAIL;
      const output = uaOutputs[s]!;
      // Children have higher numbers than their parent and fail links lower ones, so both walks end. Each link leads
      // to a smaller depth and each child is one deeper, so a header follows at most one link for each character.
      if (child <= s || child < previous || child > states) return null;
      if (s < sections.uaGrams.length && uaDepths[s] !== GRAM_BYTES) return null;
      if (fail !== NO_FAIL && (fail >= s || uaDepths[fail]! >= uaDepths[s]!)) return null;
      const lastChild = uaEdges[s + 1]! & CHILD_MASK;
      for (let c = child; c < lastChild; c++) if (uaDepths[c] !== uaDepths[s]! + 1) return null;
      if (output !== NONE && (output >= count || uaDepths[s]! > uaOffsets[output + 1]! - uaOffsets[output]!))
        return null;
      const onlyEdge = child < lastChild ? uaLabels[child]! : 0;
      if (uaEdges[s]! >>> 24 !== onlyEdge) return null;
      previous = child;
    }
    if (uaEdges[states] !== states) return null;
    return new SubstringMatcher(sections, firstRule);
  }

  /** The folded UTF-8 bytes of pattern `p`. */
  pattern(p: number): Uint8Array {
    return this.#text.subarray(this.#offsets[p], this.#offsets[p + 1]);
  }

  /** Number of the pattern that is exactly these folded bytes, or -1. */
  entryOf(wanted: Uint8Array): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareBytes(this.pattern(middle), wanted);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  /** Adds every pattern that `text` contains to `hits`, once each, in no particular order. */
  find(text: string, hits: Hits): void {
    if (this.count === 0) return;
    const head = this.#heads.headOf(text, this.#learn);
    this.#beginScan();
    if (head) for (const p of head.short) this.#found(p, hits);
    if (this.#short) this.#scanShort(this.#short, text, asciiFold, hits, head ? HEAD_CHARS : 0);
    if (head) for (const p of head.long) this.#found(p, hits);
    if (this.#scanLong(text, asciiFold, hits, head?.resumeAt) < asciiFold.length) return;
    // With characters beyond ASCII, the bytes are scanned too. Patterns that were found are not added again.
    const bytes = foldToBinary(text);
    if (this.#short) this.#scanShort(this.#short, bytes, byteFold, hits);
    this.#scanLong(bytes, byteFold, hits);
  }

  #beginScan(): void {
    if (++this.#scan !== NONE) return;
    this.#foundIn.fill(0);
    this.#doneIn.fill(0);
    this.#scan = 1;
  }

  /** What every header with this beginning contains; `null` when it has characters beyond ASCII. */
  #learnHead(text: string): Head | null {
    const hits = this.#headHits;
    hits.clear();
    this.#beginScan();
    if (this.#short) this.#scanShort(this.#short, text, asciiFold, hits);
    const shortCount = hits.count;
    if (this.#scanLong(text, asciiFold, hits) >= asciiFold.length) return null;
    const patterns = Array.from(hits.refs.subarray(0, this.#sureCount), (ref) => (ref >>> 1) - this.#firstRule);
    return { short: patterns.slice(0, shortCount), long: patterns.slice(shortCount), resumeAt: this.#sureTo };
  }

  /**
   * Finds patterns of four bytes or more that end at `from` or later. Returns the bitwise or of the characters it read,
   * which tells the caller whether there are characters beyond ASCII. They have no entry in `fold` and match nothing.
   */
  #scanLong(text: string, fold: Uint8Array, hits: Hits, from = GRAM_BYTES - 1): number {
    const grams = this.#grams;
    // `nextCandidate` starts at the fourth character; the first three are added here.
    charsSeen = text.charCodeAt(0) | text.charCodeAt(1) | text.charCodeAt(2);
    this.#compared = 0;
    this.#ranOut = false;
    for (let i = nextCandidate(text, from, grams.bits, grams.bitsShift); i < text.length;) {
      const state = grams.stateOf(gramBefore(text, i + 1, fold));
      if (state !== NONE) {
        if (!this.#ranOut) this.#sureUpTo(i, hits.count);
        i = this.#walk(text, i, state, fold, hits);
      }
      i = nextCandidate(text, i + 1, grams.bits, grams.bitsShift);
    }
    if (!this.#ranOut) this.#sureUpTo(text.length, hits.count);
    return charsSeen;
  }

  #sureUpTo(at: number, found: number): void {
    this.#sureTo = at;
    this.#sureCount = found;
  }

  /**
   * Follows the automaton from `start`, which the byte at `from` reached, until no path matches. Returns the place of
   * the last byte it used. A character without a byte is on no path.
   */
  #walk(text: string, from: number, start: number, fold: Uint8Array, hits: Hits): number {
    const edges = this.#edges;
    const fails = this.#fails;
    const labels = this.#labels;
    let state = start;
    for (let i = from; ;) {
      state = followFirst(text, i, state, edges, fails, fold);
      i = followedTo;
      if (fails[state]! >= OUTPUT_FLAG && this.#compared < COMPARED_MAX) this.#emit(state, text, i + 1, fold, hits);
      if (++i >= text.length) {
        this.#ranOut = true;
        return i - 1;
      }
      const here = fold[text.charCodeAt(i)] ?? 0;
      if (here === 0) return i - 1;
      let next = childOf(edges, labels, state, here);
      while (next === NONE) {
        state = fails[state]! & NO_FAIL;
        if (state === NO_FAIL) {
          next = this.#grams.stateOf(gramBefore(text, i + 1, fold));
          if (next === NONE) return i;
        } else next = childOf(edges, labels, state, here);
      }
      state = next;
    }
  }

  /** Adds every pattern whose path ends at `state` or on its fail chain and whose remaining bytes follow. */
  #emit(state: number, text: string, end: number, fold: Uint8Array, hits: Hits): void {
    const scan = this.#scan;
    let complete = true;
    for (let s = state; s !== NO_FAIL; s = this.#fails[s]! & NO_FAIL) {
      if (this.#fails[s]! < OUTPUT_FLAG || this.#doneIn[s] === scan) break;
      this.#compared++;
      const p = this.#outputs[s]!;
      if (p === NONE || this.#foundIn[p] === scan) continue;
      if (this.#restFollows(p, this.#depths[s]!, text, end, fold)) this.#found(p, hits);
      else complete = false;
    }
    if (complete) this.#doneIn[state] = scan;
  }

  #restFollows(p: number, depth: number, text: string, end: number, fold: Uint8Array): boolean {
    const bytes = this.#text;
    const to = this.#offsets[p + 1]!;
    let at = this.#offsets[p]! + depth;
    if (to - at > text.length - end) {
      this.#ranOut = true;
      return false;
    }
    let i = end;
    while (at < to && bytes[at] === fold[text.charCodeAt(i)]) {
      at++;
      i++;
    }
    this.#compared += i - end;
    return at === to;
  }

  /** Finds patterns of up to three bytes that end at `from` or later. */
  #scanShort({ endings, patterns }: ShortPatterns, text: string, fold: Uint8Array, hits: Hits, from = 0): void {
    let gram = from === 0 ? 0 : gramBefore(text, from, fold);
    for (let i = from; i < text.length; i++) {
      const here = fold[text.charCodeAt(i)] ?? 0;
      gram = (gram << 8) | here;
      const lengths = endings[here]!;
      if (lengths === 0) continue;
      for (let n = 1; n < GRAM_BYTES && n <= i + 1; n++) {
        if ((lengths & (1 << n)) === 0) continue;
        const p = patterns.get((n << 24) | (gram & (2 ** (8 * n) - 1)));
        if (p !== undefined && this.#foundIn[p] !== this.#scan) this.#found(p, hits);
      }
    }
  }

  #found(p: number, hits: Hits): void {
    this.#foundIn[p] = this.#scan;
    if (hits.count < FOUND_MAX) hits.push(this.#firstRule + p, RANK_PREFIX);
  }
}

/** The bitwise or of the characters that `nextCandidate` read: its second result, without an allocation. */
let charsSeen = 0;

/**
 * The next place, from `from` on, where the last four characters may begin a pattern; the text's length or more when
 * there is none. There must be three characters before `from`. It is a separate function and calls only `gramHash`, so
 * that the compiler keeps its variables in registers.
 */
function nextCandidate(text: string, from: number, bits: Uint32Array, bitsShift: number): number {
  const length = text.length;
  let gram = 0;
  let seen = 0;
  let i = from;
  if (from < length) {
    gram = (text.charCodeAt(from - 3) << 16) | (text.charCodeAt(from - 2) << 8) | text.charCodeAt(from - 1);
  }
  for (; i < length; i++) {
    const char = text.charCodeAt(i);
    seen |= char;
    gram = (gram << 8) | char;
    const bit = gramHash(gram) >>> bitsShift;
    if (((bits[bit >>> 5]! >>> (bit & 31)) & 1) !== 0) break;
  }
  charsSeen |= seen;
  return i;
}

/** The place where `followFirst` stopped: its second result. */
let followedTo = 0;

/**
 * Follows first children from `start`, which the character at `from` reached, while they match and no pattern's path
 * ends. Returns the state it reached. It is a separate function for the same reason as `nextCandidate`.
 */
function followFirst(
  text: string,
  from: number,
  start: number,
  edges: Uint32Array,
  fails: Uint32Array,
  fold: Uint8Array,
): number {
  const last = text.length - 1;
  let state = start;
  let i = from;
  while (i < last && fails[state]! < OUTPUT_FLAG) {
    const edge = edges[state]!;
    const label = edge >>> 24;
    if (label === 0 || label !== fold[text.charCodeAt(i + 1)]) break;
    state = edge & CHILD_MASK;
    i++;
  }
  followedTo = i;
  return state;
}

/** The four folded bytes before `end`. A character without a byte becomes 0, which is in no pattern. */
function gramBefore(text: string, end: number, fold: Uint8Array): number {
  let gram = 0;
  for (let i = end - GRAM_BYTES; i < end; i++) gram = (gram << 8) | (fold[text.charCodeAt(i)] ?? 0);
  return gram;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const end = Math.min(a.length, b.length);
  for (let i = 0; i < end; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}
