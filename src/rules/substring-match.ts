/**
 * Finds every user agent substring in one pass over the header, at a cost per character that does not
 * depend on how many there are (see substring-build). Most characters cost one bitmap test, which
 * depends on no earlier test; only where three of them begin a pattern does the automaton run, and
 * it hands back as soon as nothing longer than two characters is under way.
 */
import { type Hits, RANK_PREFIX } from './hits.ts';
import type { Sections } from './layout.ts';
import { NONE, OUTPUT_FLAG, bitCount, childOf } from './substring-build.ts';
import { FOLDED_BYTES_PER_UNIT_MAX, asciiFold, foldInto } from './user-agent-fold.ts';

export class SubstringMatcher {
  /** Patterns. */
  readonly count: number;
  readonly #firstRule: number;
  readonly #offsets: Uint32Array;
  readonly #text: Uint8Array;
  readonly #classes: Uint8Array;
  readonly #classCount: number;
  readonly #singles: Uint32Array;
  readonly #pairs: Uint32Array;
  readonly #trigrams: Uint32Array;
  readonly #ranks: Uint32Array;
  readonly #first: Uint32Array;
  readonly #fails: Uint32Array;
  readonly #outputs: Uint32Array;
  readonly #depths: Uint16Array;
  readonly #labels: Uint8Array;
  /** Patterns found in this scan, and states whose whole chain was: each is worked off once. */
  readonly #foundIn: Uint32Array;
  readonly #doneIn: Uint32Array;
  #scan = 0;
  #folded = new Uint8Array(0);

  private constructor(sections: Sections, classCount: number, firstRule: number) {
    this.count = sections.uaMeta.length;
    this.#firstRule = firstRule;
    this.#offsets = sections.uaOffsets;
    this.#text = sections.uaText;
    this.#classes = sections.uaClasses;
    this.#classCount = classCount;
    this.#singles = sections.uaSingles;
    this.#pairs = sections.uaPairs;
    this.#trigrams = sections.uaTrigrams;
    this.#ranks = sections.uaRanks;
    this.#first = sections.uaFirst;
    this.#fails = sections.uaFails;
    this.#outputs = sections.uaOutputs;
    this.#depths = sections.uaDepths;
    this.#labels = sections.uaLabels;
    this.#foundIn = new Uint32Array(this.count);
    this.#doneIn = new Uint32Array(this.#fails.length);
  }

  /** `null` when a number in the sections points outside what it indexes, or a link does not descend. */
  static open(sections: Sections, firstRule: number): SubstringMatcher | null {
    const { uaOffsets, uaText, uaMeta, uaClasses, uaSingles, uaPairs, uaTrigrams, uaRanks } = sections;
    const { uaFirst, uaFails, uaOutputs, uaDepths, uaLabels } = sections;
    const count = uaMeta.length;
    const states = uaFails.length;
    const sizesFit =
      uaOffsets.length === count + 1 &&
      uaOffsets[0] === 0 &&
      uaOffsets[count] === uaText.length &&
      uaClasses.length === 256 &&
      uaFirst.length === states + 1 &&
      uaOutputs.length === states &&
      uaDepths.length === states &&
      uaLabels.length === states &&
      uaRanks.length === uaTrigrams.length;
    if (!sizesFit) return null;
    for (let p = 0; p < count; p++) if (uaOffsets[p]! >= uaOffsets[p + 1]!) return null;

    let classCount = 1;
    for (const c of uaClasses) if (c >= classCount) classCount = c + 1;
    const short = uaSingles.length > 0;
    if (short && (uaSingles.length !== classCount || uaPairs.length !== classCount ** 2)) return null;
    if (!short && uaPairs.length > 0) return null;
    for (const p of uaSingles) if (p !== NONE && p >= count) return null;
    for (const p of uaPairs) if (p !== NONE && p >= count) return null;

    if (uaTrigrams.length !== (states === 0 ? 0 : Math.ceil(classCount ** 3 / 32))) return null;
    let rank = 0;
    for (let w = 0; w < uaTrigrams.length; w++) {
      if (uaRanks[w] !== rank) return null;
      rank += bitCount(uaTrigrams[w]!);
    }
    if (rank > states) return null;
    let previous = 0;
    for (let s = 0; s < states; s++) {
      const first = uaFirst[s]! & ~OUTPUT_FLAG;
      const output = uaOutputs[s]!;
      // Children stand behind their parent and fail links in front: both walks end.
      if (first <= s || first < previous || first > states) return null;
      if (uaFails[s]! >= s && uaFails[s] !== NONE) return null;
      if (output !== NONE && (output >= count || uaDepths[s]! > uaOffsets[output + 1]! - uaOffsets[output]!))
        return null;
      previous = first;
    }
    if (uaFirst[states] !== states) return null;
    return new SubstringMatcher(sections, classCount, firstRule);
  }

  /** The folded UTF-8 bytes of pattern `p`. */
  pattern(p: number): Uint8Array {
    return this.#text.subarray(this.#offsets[p], this.#offsets[p + 1]);
  }

  /** Number of the pattern that is exactly this text, or -1. */
  entryOf(value: string): number {
    const wanted = new Uint8Array(value.length * FOLDED_BYTES_PER_UNIT_MAX);
    const length = foldInto(value, 0, wanted, 0);
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const order = compareBytes(this.pattern(middle), wanted, length);
      if (order === 0) return middle;
      if (order < 0) low = middle + 1;
      else high = middle;
    }
    return -1;
  }

  /** Leaves every pattern that `text` contains in `hits`, once each, in no particular order. */
  find(text: string, hits: Hits): void {
    if (this.count === 0) return;
    if (++this.#scan === NONE) {
      this.#foundIn.fill(0);
      this.#doneIn.fill(0);
      this.#scan = 1;
    }
    const length = this.#fold(text);
    if (this.#fails.length > 0) this.#scanLong(this.#folded, length, hits);
    if (this.#singles.length > 0) this.#scanShort(this.#folded, length, hits);
  }

  /** Folded bytes of the header into the buffer that is kept for it; answers how many. */
  #fold(text: string): number {
    const length = text.length;
    if (this.#folded.length < length) this.#folded = new Uint8Array(length);
    const folded = this.#folded;
    for (let i = 0; i < length; i++) {
      const char = text.charCodeAt(i);
      if (char > 127) {
        const room = i + (length - i) * FOLDED_BYTES_PER_UNIT_MAX;
        if (folded.length < room) {
          this.#folded = new Uint8Array(room);
          this.#folded.set(folded);
        }
        return foldInto(text, i, this.#folded, i);
      }
      folded[i] = asciiFold[char]!;
    }
    return length;
  }

  #scanLong(bytes: Uint8Array, length: number, hits: Hits): void {
    const classes = this.#classes;
    const classCount = this.#classCount;
    const trigrams = this.#trigrams;
    let before = 0;
    let last = 0;
    for (let i = 0; i < length; i++) {
      const here = classes[bytes[i]!]!;
      const trigram = (before * classCount + last) * classCount + here;
      before = last;
      last = here;
      if (((trigrams[trigram >>> 5]! >>> (trigram & 31)) & 1) === 0) continue;
      i = this.#walk(bytes, length, i, this.#stateOf(trigram), hits);
      if (i >= length) return;
      before = classes[bytes[i - 1]!]!;
      last = classes[bytes[i]!]!;
    }
  }

  /** State of a trigram whose bit is set. */
  #stateOf(trigram: number): number {
    const word = trigram >>> 5;
    return this.#ranks[word]! + bitCount(this.#trigrams[word]! & ((1 << (trigram & 31)) - 1));
  }

  /**
   * Follows the automaton from `state`, reached with byte `i`, until no path of three bytes or more is
   * under way; answers the byte at which it stopped.
   */
  #walk(bytes: Uint8Array, length: number, from: number, start: number, hits: Hits): number {
    const classes = this.#classes;
    const classCount = this.#classCount;
    const first = this.#first;
    const fails = this.#fails;
    const labels = this.#labels;
    let state = start;
    for (let i = from; ;) {
      if ((first[state]! & OUTPUT_FLAG) !== 0) this.#emit(state, bytes, i + 1, length, hits);
      if (++i >= length) return i;
      const here = classes[bytes[i]!]!;
      let next = childOf(first, labels, state, here);
      while (next === NONE) {
        state = fails[state]!;
        if (state === NONE) {
          const trigram = (classes[bytes[i - 2]!]! * classCount + classes[bytes[i - 1]!]!) * classCount + here;
          if (((this.#trigrams[trigram >>> 5]! >>> (trigram & 31)) & 1) === 0) return i;
          next = this.#stateOf(trigram);
        } else next = childOf(first, labels, state, here);
      }
      state = next;
    }
  }

  /** Every pattern whose path ends at `state` or on its fail chain, once its remaining bytes were compared. */
  #emit(state: number, bytes: Uint8Array, end: number, length: number, hits: Hits): void {
    const scan = this.#scan;
    const first = this.#first;
    let complete = true;
    for (let s = state; s !== NONE; s = this.#fails[s]!) {
      if ((first[s]! & OUTPUT_FLAG) === 0 || this.#doneIn[s] === scan) break;
      const p = this.#outputs[s]!;
      if (p === NONE || this.#foundIn[p] === scan) continue;
      if (this.#restFollows(p, this.#depths[s]!, bytes, end, length)) {
        this.#foundIn[p] = scan;
        hits.push(this.#firstRule + p, RANK_PREFIX);
      } else complete = false;
    }
    if (complete) this.#doneIn[state] = scan;
  }

  #restFollows(p: number, depth: number, bytes: Uint8Array, end: number, length: number): boolean {
    const text = this.#text;
    const to = this.#offsets[p + 1]!;
    let at = this.#offsets[p]! + depth;
    if (to - at > length - end) return false;
    for (let i = end; at < to; at++, i++) if (text[at] !== bytes[i]) return false;
    return true;
  }

  /** Patterns of one or two bytes, which no trigram begins. */
  #scanShort(bytes: Uint8Array, length: number, hits: Hits): void {
    let last = 0;
    for (let i = 0; i < length; i++) {
      const here = this.#classes[bytes[i]!]!;
      this.#found(this.#singles[here]!, hits);
      this.#found(this.#pairs[last * this.#classCount + here]!, hits);
      last = here;
    }
  }

  #found(p: number, hits: Hits): void {
    if (p === NONE || this.#foundIn[p] === this.#scan) return;
    this.#foundIn[p] = this.#scan;
    hits.push(this.#firstRule + p, RANK_PREFIX);
  }
}

function compareBytes(a: Uint8Array, b: Uint8Array, lengthB: number): number {
  const end = Math.min(a.length, lengthB);
  for (let i = 0; i < end; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - lengthB;
}
