/**
 * Lower-case hex, strict in both directions: a byte string has exactly one text. Ids, hashes and names of files are
 * written in it. Also runs in browsers.
 */

/** Two digits for every byte: a lookup costs a tenth of formatting a number. */
export const hexOfByte: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

export function encodeHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += hexOfByte[byte]!;
  return text;
}

/** `null` for a text that `encodeHex` does not produce: an odd length, upper case, or another character. */
export function decodeHex(text: string): Uint8Array<ArrayBuffer> | null {
  if (text.length % 2 === 1) return null;
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index++) {
    const high = digit(text.charCodeAt(index * 2));
    const low = digit(text.charCodeAt(index * 2 + 1));
    if (high < 0 || low < 0) return null;
    bytes[index] = (high << 4) | low;
  }
  return bytes;
}

/** Value of a hex digit's character code, or -1. */
function digit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  return code >= 97 && code <= 102 ? code - 87 : -1;
}

/**
 * The SHA-256 of bytes, or of a text in UTF-8, in hex: the name of a file's content, the fingerprint of a question, and
 * what secrets are looked up by. WebCrypto computes it. `sha256.ts` is for code that cannot wait for a promise.
 */
export async function sha256Hex(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  return encodeHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
