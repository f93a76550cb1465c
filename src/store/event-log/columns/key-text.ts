/**
 * The texts that a segment's rows are looked up by, as bytes. They sort as JavaScript sorts texts, so the keys with a
 * common beginning are neighbours.
 */
import { textHash } from '../../text-hash.ts';

/** Longer texts are cut here and told apart by a hash: rows found by a cut key must be compared in full. */
const KEY_MAX_CHARS = 128;
/** Follows a cut text. No uncut key is long enough to have a character at this position. */
const CUT_MARK = '\uFFFF';
/** Sorts after every byte of a key. */
const BEHIND_ALL = 0xff;
/** A cut key has 131 units of at most three bytes. */
export const KEY_MAX_BYTES = 393;

export function isCut(text: string): boolean {
  return text.length > KEY_MAX_CHARS;
}

/** The text that a key is stored under. */
export function storedKeyText(text: string): string {
  if (!isCut(text)) return text;
  const hash = textHash(text);
  return `${cutPrefix(text)}${String.fromCharCode(hash >>> 16, hash & 0xffff)}`;
}

/** The common beginning of all cut texts that start with this text. */
function cutPrefix(text: string): string {
  return `${text.slice(0, KEY_MAX_CHARS)}${CUT_MARK}`;
}

/** The common beginning of the keys of all texts with this beginning; their keys sort from `from` on, and before `to`. */
export function prefixBounds(text: string): { text: string; from: Uint8Array; to: Uint8Array } {
  const key = isCut(text) ? cutPrefix(text) : text;
  const from = keyBytes(key);
  return { text: key, from, to: Uint8Array.of(...from, BEHIND_ALL) };
}

/**
 * Encodes UTF-16 units one by one, as UTF-8 encodes a character of that number. A prefix stays a prefix, and half of a
 * surrogate pair is kept as it is.
 */
export function keyBytes(key: string): Uint8Array {
  const bytes = new Uint8Array(key.length * 3);
  let at = 0;
  for (let index = 0; index < key.length; index++) {
    const unit = key.charCodeAt(index);
    if (unit < 0x80) bytes[at++] = unit;
    else if (unit < 0x800) {
      bytes[at++] = 0xc0 | (unit >> 6);
      bytes[at++] = 0x80 | (unit & 0x3f);
    } else {
      bytes[at++] = 0xe0 | (unit >> 12);
      bytes[at++] = 0x80 | ((unit >> 6) & 0x3f);
      bytes[at++] = 0x80 | (unit & 0x3f);
    }
  }
  return bytes.subarray(0, at);
}

/** Negative when the key, in the first `length` bytes of `key`, sorts before `wanted`. */
export function compareKey(key: Uint8Array, length: number, wanted: Uint8Array): number {
  const both = Math.min(length, wanted.length);
  for (let at = 0; at < both; at++) {
    const difference = (key[at] as number) - (wanted[at] as number);
    if (difference !== 0) return difference;
  }
  return length - wanted.length;
}
