/**
 * Which rules a header was found to hold when it last came: visitors share some hundred user agents, so most
 * headers need no search. It knows what a text contains, never what is in force: expiry, rollout and mode
 * are judged at every match. One text a slot, kept when it comes the second time running: whoever sends headers
 * that never repeat, or crowd into one slot, gets them searched, and leaves four bytes each.
 */
import { type Hits, RANK_PREFIX } from './hits.ts';

const SLOTS_LOG2 = 10;
/** More than browsers send; bounds what is kept to half a megabyte. */
const TEXT_MAX_CHARS = 256;
/** A text that holds more rules is searched again. */
const RULES_MAX = 16;
/** Versions, which tell most headers apart, stand near the end; of what is before them one in eight is hashed. */
const TAIL_CHARS = 32;

/** Of some characters: a text is compared whole before it is recalled. */
function hashOf(text: string): number {
  const { length } = text;
  let hash = length;
  for (let i = length - 1; i >= 0; i -= length - i > TAIL_CHARS ? 8 : 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x9e3779b1);
  }
  return hash >>> 0;
}

export class HeaderMemory {
  /** The hash of the text that last came to a slot. */
  readonly #hashes = new Uint32Array(1 << SLOTS_LOG2);
  readonly #texts: string[] = [];
  readonly #refs: Uint32Array[] = [];
  /** Where the text that was not recalled belongs; -1 when it is not worth keeping. */
  #slot = -1;

  /** Whether `text` is remembered; what it holds is then in `hits`. */
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

  /** Remembers `hits` for the text that was just not recalled. */
  keep(text: string, hits: Hits): void {
    if (this.#slot < 0 || hits.count > RULES_MAX) return;
    this.#texts[this.#slot] = text;
    this.#refs[this.#slot] = hits.refs.slice(0, hits.count);
  }
}
