/**
 * Remembers what the first characters of a user agent header hold. Headers that never repeat differ in their versions,
 * near the end, and begin like many others, so that more than half of each was searched before. A slot keeps one
 * beginning, and only when its hash arrives twice in a row.
 */

/** Browsers have the same text up to their version, which comes after 72 to 90 characters. */
export const HEAD_CHARS = 72;
/** Of a longer header nothing is remembered, so that its comparisons are counted from its start. */
const HEADER_MAX_CHARS = 256;
/** With its header, of which it is a part, a beginning occupies up to a kilobyte. */
const SLOTS_LOG2 = 7;
/** A beginning with more patterns is searched with every header. */
const PATTERNS_MAX = 16;

/** What is found in a beginning, whatever follows it. */
export interface Head {
  /** Patterns with fewer than four bytes, and the others, in the order in which a search finds them. */
  short: readonly number[];
  long: readonly number[];
  /** Where the search for patterns of four bytes or more goes on. */
  resumeAt: number;
}

/** A hash of every fourth character of the beginning: `headOf` compares all of them. */
function hashOf(text: string): number {
  let hash = 0;
  for (let i = 3; i < HEAD_CHARS; i += 12) {
    const some = text.charCodeAt(i) | (text.charCodeAt(i + 4) << 8) | (text.charCodeAt(i + 8) << 16);
    hash = Math.imul(hash ^ some, 0x9e3779b1);
  }
  return hash >>> 0;
}

export class HeadMemory {
  /** The hash of the last beginning for each slot. */
  readonly #hashes = new Uint32Array(1 << SLOTS_LOG2);
  readonly #texts: (string | undefined)[] = Array.from({ length: 1 << SLOTS_LOG2 });
  /** `null`: not remembered, and not searched again to find that out. */
  readonly #heads: (Head | null)[] = Array.from({ length: 1 << SLOTS_LOG2 }, () => null);

  /**
   * The beginning of `text`, or `null`. `learn` searches one that is to be kept: headers that are made to share a slot
   * cost a second search of their beginnings.
   */
  headOf(text: string, learn: (text: string) => Head | null): Head | null {
    if (text.length <= HEAD_CHARS || text.length > HEADER_MAX_CHARS) return null;
    const hash = hashOf(text);
    const slot = hash >>> (32 - SLOTS_LOG2);
    if (this.#hashes[slot] !== hash) {
      this.#hashes[slot] = hash;
      return null;
    }
    const beginning = text.slice(0, HEAD_CHARS);
    if (this.#texts[slot] !== beginning) {
      const head = learn(beginning);
      this.#texts[slot] = beginning;
      this.#heads[slot] = head && head.short.length + head.long.length <= PATTERNS_MAX ? head : null;
    }
    return this.#heads[slot]!;
  }
}
