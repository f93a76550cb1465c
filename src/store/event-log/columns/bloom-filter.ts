/**
 * A Bloom filter over the distinct texts of a column with many of them: a search for one address or account
 * reads 12 kB of a run and not its 200, unless the text is in it, or in one case of a hundred.
 */
import { textHash } from '../../text-hash.ts';

/** Below this the column itself is as quickly read. */
export const FILTERED_TEXTS_MIN = 1000;
/** With four bits set per text: one of eighty others passes too. */
const BITS_PER_TEXT = 10;
const BITS_SET = 4;

export function keyFilter(texts: readonly string[]): Uint8Array {
  const filter = new Uint8Array(Math.ceil((texts.length * BITS_PER_TEXT) / 8));
  for (const text of texts) {
    for (const bit of bitsOf(text, filter.length)) filter[bit >> 3] = (filter[bit >> 3] as number) | (1 << (bit & 7));
  }
  return filter;
}

/** `false` is certain. */
export function mayHold(filter: Uint8Array, text: string): boolean {
  return bitsOf(text, filter.length).every((bit) => ((filter[bit >> 3] as number) & (1 << (bit & 7))) !== 0);
}

function bitsOf(text: string, bytes: number): number[] {
  const first = textHash(text);
  const step = (Math.imul(first, 0x9e3779b1) >>> 0) | 1;
  return Array.from({ length: BITS_SET }, (_, turn) => (first + turn * step) % (bytes * 8));
}
