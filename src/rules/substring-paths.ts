/**
 * How many bytes of each user agent pattern become states of the automaton (see `substring-build.ts`), and how many
 * states a set of patterns needs. Patterns that repeat themselves or each other need most of their bytes. The number is
 * known before anything is built, so that a set that is too large is refused instead of exhausting the memory.
 */

/**
 * States of one instance's patterns. Patterns that differ early have one or two states each; three million bytes of
 * states and their file are what a compile has room for.
 */
export const USER_AGENT_STATES_MAX = 1_500_000;
/** Bytes of all patterns together: 50,000 as long as the user agent of a browser. */
export const USER_AGENT_BYTES_MAX = 8_000_000;
/** Bytes of the shortest path: they fit into one word, and are rarely in a header by chance. */
export const GRAM_BYTES = 4;

/** Takes sorted, distinct patterns one after the other and measures each as soon as the next one is known. */
export class PathMeter {
  /** States of the patterns that were measured. */
  states = 0;
  #pattern: Uint8Array = new Uint8Array();
  #withPrevious = 0;

  /**
   * Measures the pattern before `next`; `null` ends the set. Its path is one byte longer than what it shares with a
   * neighbour in sorted order, or with a later part of itself. The latter limits direct comparisons: a pattern's path
   * cannot match again within bytes that were compared for it.
   */
  measureBefore(next: Uint8Array | null): { path: number; states: number } {
    const pattern = this.#pattern;
    const withNext = next ? commonLength(pattern, next) : 0;
    const own = Math.max(GRAM_BYTES - 1, this.#withPrevious, withNext, longestRepeat(pattern));
    const path = Math.min(pattern.length, own + 1);
    // The states of what it shares with the pattern before it are that pattern's.
    const states = Math.max(0, path - Math.max(GRAM_BYTES - 1, Math.min(path, this.#withPrevious)));
    this.states += states;
    this.#withPrevious = withNext;
    this.#pattern = next ?? new Uint8Array();
    return { path, states };
  }
}

function commonLength(a: Uint8Array, b: Uint8Array): number {
  const end = Math.min(a.length, b.length);
  let n = 0;
  while (n < end && a[n] === b[n]) n++;
  return n;
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
