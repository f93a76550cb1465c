/**
 * The JA4 fingerprint of a TLS client: `a_b_c`, where `a` is the transport, TLS version, SNI, the numbers of ciphers
 * and extensions, and ALPN, and `b` and `c` are truncated SHA-256 hashes of ciphers and extensions. It is packed into
 * five 32-bit words, so that a set of a million fingerprints is a sorted array instead of a million strings.
 */

const grammar = /^[tqd](?:\d\d|s[1-3]|d[1-3])[di]\d{4}[0-9a-z]{2}_[0-9a-f]{12}_[0-9a-f]{12}$/i;
export const JA4_WORDS = 5;
const JA4_CHARS = 36;

/** The fingerprint in lower case, or `null` when there is none or the text does not follow the grammar. */
export function canonicalJa4(text: string | null): string | null {
  // Tested before it is folded: the Kelvin sign folds to a plain k.
  return text !== null && grammar.test(text) ? text.toLowerCase() : null;
}

/** 0–35 for `0-9a-z` in either case, otherwise -1. */
const digits36 = Int8Array.from({ length: 128 }, (_, c) =>
  /[0-9a-z]/i.test(String.fromCharCode(c)) ? Number.parseInt(String.fromCharCode(c), 36) : -1,
);

function base36(c: number): number {
  return c < 128 ? digits36[c]! : -1;
}

function number36(text: string, start: number): number {
  let value = 0;
  for (let i = start; i < start + 5; i++) {
    const digit = base36(text.charCodeAt(i));
    if (digit < 0) return -1;
    value = value * 36 + digit;
  }
  return value;
}

function hex24(text: string, start: number): number {
  let value = 0;
  for (let i = start; i < start + 6; i++) {
    const digit = base36(text.charCodeAt(i));
    if (digit < 0 || digit > 15) return -1;
    value = (value << 4) | digit;
  }
  return value;
}

/** Only the first word that `packJa4` writes, in a quarter of the time; -1 for a text that is no fingerprint. */
export function firstJa4Word(text: string): number {
  if (text.length !== JA4_CHARS) return -1;
  let word = 0;
  for (let i = 11; i < 19; i++) {
    const digit = base36(text.charCodeAt(i));
    if (digit < 0 || digit > 15) return -1;
    word = (word << 4) | digit;
  }
  return word >>> 0;
}

/**
 * Writes the five words of a fingerprint, in either case, into `out` at `at`. False when the text cannot be a
 * fingerprint. Any base-36 text is accepted as `a`; no stored rule matches one that the grammar refuses.
 */
export function packJa4(text: string, out: Uint32Array, at = 0): boolean {
  if (text.length !== JA4_CHARS || text.charCodeAt(10) !== 95 || text.charCodeAt(23) !== 95) return false;
  const a = number36(text, 0);
  const b = number36(text, 5);
  const b0 = hex24(text, 11);
  const b1 = hex24(text, 17);
  const c0 = hex24(text, 24);
  const c1 = hex24(text, 30);
  if (a < 0 || b < 0 || b0 < 0 || b1 < 0 || c0 < 0 || c1 < 0) return false;
  // The hashes come first: they are evenly distributed, as the bucket index requires.
  out[at] = b0 * 256 + (b1 >>> 16);
  out[at + 1] = (b1 & 0xffff) * 65_536 + (c0 >>> 8);
  out[at + 2] = (c0 & 255) * 16_777_216 + c1;
  out[at + 3] = a;
  out[at + 4] = b;
  return true;
}

export function unpackJa4(words: Uint32Array, at: number): string {
  const [w0 = 0, w1 = 0, w2 = 0, w3 = 0, w4 = 0] = words.subarray(at, at + JA4_WORDS);
  const hex = [w0, w1, w2].map((word) => word.toString(16).padStart(8, '0')).join('');
  const a = w3.toString(36).padStart(5, '0') + w4.toString(36).padStart(5, '0');
  return `${a}_${hex.slice(0, 12)}_${hex.slice(12)}`;
}
