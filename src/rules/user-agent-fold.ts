/**
 * Case folding of user agents and of the substrings in rules: each code point is folded separately and then encoded in
 * UTF-8. `String.toLowerCase` depends on neighbouring characters (final sigma), and a substring must fold to the same
 * bytes in every place.
 */

/** Folds a byte: `A`–`Z` to lower case. Bytes beyond ASCII belong to characters that are folded already. */
export const byteFold = Uint8Array.from({ length: 256 }, (_, c) => (c >= 65 && c <= 90 ? c + 32 : c));

/** The same for ASCII characters. A character without an entry is no byte of a pattern. */
export const asciiFold = byteFold.slice(0, 128);

/** Upper-cased, it becomes I. In no language but Turkish is it the same letter. */
const DOTLESS_I = '\u0131';

/**
 * One code point in lower case. Some letters have two lower-case forms with one upper-case form: final sigma, long s,
 * the micro sign. Through their upper case they become the same.
 */
function foldPoint(char: string): string {
  const lower = char.toLowerCase();
  const upper = lower.toUpperCase();
  return upper.length === lower.length && lower !== DOTLESS_I ? upper.toLowerCase() : lower;
}

const ASCII = /^[\0-\x7f]*$/;

/** The folded text, for display and comparison. */
export function foldCase(text: string): string {
  // No letter of ASCII depends on its neighbours, and the runtime is a hundred times as fast.
  if (ASCII.test(text)) return text.toLowerCase();
  let folded = '';
  for (const char of text) folded += foldPoint(char);
  return folded;
}

/** Engines limit the number of arguments of a call. */
const BINARY_CHUNK_BYTES = 4096;
/** The most bytes that one UTF-16 unit folds to; U+0130 folds to three. */
export const FOLDED_BYTES_PER_UNIT_MAX = 3;

/**
 * Writes the folded UTF-8 bytes of `text` into `out` at `at` and returns their end. `out` must have room for
 * `FOLDED_BYTES_PER_UNIT_MAX` bytes per UTF-16 unit. A lone surrogate becomes U+FFFD.
 */
export function foldInto(text: string, out: Uint8Array, at: number): number {
  let end = at;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 128) {
      out[end++] = byteFold[c] ?? 0;
      continue;
    }
    const point = text.codePointAt(i) ?? 0xfffd;
    if (point > 0xffff) i++;
    const folded = foldPoint(String.fromCodePoint(point));
    for (let k = 0; k < folded.length; k++) {
      let p = folded.codePointAt(k) ?? 0xfffd;
      if (p > 0xffff) k++;
      else if (p >= 0xd800 && p <= 0xdfff) p = 0xfffd;
      end = writeUtf8(p, out, end);
    }
  }
  return end;
}

/** The folded UTF-8 bytes of a text. */
export function foldedBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * FOLDED_BYTES_PER_UNIT_MAX);
  return bytes.subarray(0, foldInto(text, bytes, 0));
}

/** The same bytes as a string with one character for each byte. */
export function foldToBinary(text: string): string {
  const bytes = foldedBytes(text);
  let binary = '';
  for (let at = 0; at < bytes.length; at += BINARY_CHUNK_BYTES) {
    binary += String.fromCharCode(...bytes.subarray(at, at + BINARY_CHUNK_BYTES));
  }
  return binary;
}

function writeUtf8(point: number, out: Uint8Array, at: number): number {
  let end = at;
  if (point < 0x80) {
    out[end++] = point;
    return end;
  }
  if (point < 0x800) {
    out[end++] = 0xc0 | (point >> 6);
  } else {
    if (point < 0x1_0000) {
      out[end++] = 0xe0 | (point >> 12);
    } else {
      out[end++] = 0xf0 | (point >> 18);
      out[end++] = 0x80 | ((point >> 12) & 63);
    }
    out[end++] = 0x80 | ((point >> 6) & 63);
  }
  out[end++] = 0x80 | (point & 63);
  return end;
}
