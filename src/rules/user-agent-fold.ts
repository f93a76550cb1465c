/**
 * Case folding of user agents and of the substrings looked for in them: each code point lower-cased on
 * its own, then UTF-8. Per code point, because `String.toLowerCase` looks at neighbours (final sigma),
 * and a substring must fold to the same bytes wherever it stands.
 */

/** `table[c]` for ASCII: `A`–`Z` to lower case, the rest itself. */
export const asciiFold = Uint8Array.from({ length: 128 }, (_, c) => (c >= 65 && c <= 90 ? c + 32 : c));

/** The folded text, for display and comparison. */
export function foldCase(text: string): string {
  let folded = '';
  for (const char of text) folded += char.toLowerCase();
  return folded;
}

/** Bytes one UTF-16 unit can become; U+0130 folds to three bytes and is the worst. */
export const FOLDED_BYTES_PER_UNIT_MAX = 3;

/**
 * Writes the folded UTF-8 bytes of `text` from `start` on into `out` at `at`; answers the end. `out` must
 * have room for `FOLDED_BYTES_PER_UNIT_MAX` bytes per unit. A lone surrogate becomes U+FFFD.
 */
export function foldInto(text: string, start: number, out: Uint8Array, at: number): number {
  let end = at;
  for (let i = start; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c < 128) {
      out[end++] = asciiFold[c] ?? 0;
      continue;
    }
    const point = text.codePointAt(i) ?? 0xfffd;
    if (point > 0xffff) i++;
    const folded = String.fromCodePoint(point).toLowerCase();
    for (let k = 0; k < folded.length; k++) {
      let p = folded.codePointAt(k) ?? 0xfffd;
      if (p > 0xffff) k++;
      else if (p >= 0xd800 && p <= 0xdfff) p = 0xfffd;
      end = writeUtf8(p, out, end);
    }
  }
  return end;
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
