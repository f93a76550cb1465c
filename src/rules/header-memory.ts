/**
 * Remembers which rules a user agent header matched: visitors share a few hundred user agents, so most headers need no
 * search. Only what a text contains is remembered; expiry, rollout and mode are checked at every match. A slot keeps
 * one text, and only when it arrives twice in a row. Headers that never repeat, or that are made to share a slot, are
 * searched every time and leave four bytes each.
 */
import { type Hits, RANK_PREFIX } from './hits.ts';

const SLOTS_LOG2 = 10;
/** Longer than the user agents of browsers. It limits the kept texts to half a megabyte. */
const TEXT_MAX_CHARS = 256;
/** A text that matches more rules is searched every time. */
const RULES_MAX = 16;
/** Most headers differ in their versions, near the end. Of the characters before, one in eight is hashed. */
const TAIL_CHARS = 32;

/** A hash of some of the characters: `recall` compares the whole text. */
function hashOf(text: string): number {
  const { length } = text;
  let hash = length;
  for (let i = length - 1; i >= 0; i -= length - i > TAIL_CHARS ? 8 : 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x9e3779b1);
  }
  return hash >>> 0;
}

export class HeaderMemory {
  /** The hash of the last text for each slot. */
  readonly #hashes = new Uint32Array(1 << SLOTS_LOG2);
  readonly #texts: string[] = [];
  readonly #refs: Uint32Array[] = [];
  /** The slot of a text that was not recalled; -1 when the text is not to be kept. */
  #slot = -1;

  /** Whether `text` is remembered. If so, its rules are now in `hits`. */
  recall(text: string, hits: Hits): boolean {
    this.#slot = -1;
    if (text.length > TEXT_MAX_CHARS) return false;
    const hash = hashOf(text);
    const slot = hash >>> (32 - SLOTS_LOG2);
    if (this.#hashes[slot] !== hash) {
      this.#hashes[slot] = hash;
      return false;
    }
    if (this.#texts[slot] !== text) {
      this.#slot = slot;
      return false;
    }
    for (const ref of this.#refs[slot]!) {
      hits.source = ref & 1;
      hits.push(ref >>> 1, RANK_PREFIX);
    }
    return true;
  }

  /** Remembers `hits` for the text that `recall` did not find. */
  keep(text: string, hits: Hits): void {
    if (this.#slot < 0 || hits.count > RULES_MAX) return;
    this.#texts[this.#slot] = text;
    this.#refs[this.#slot] = hits.refs.slice(0, hits.count);
  }
}
