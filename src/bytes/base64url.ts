/**
 * Base64url without padding (RFC 4648, section 5), strict in both directions: a byte string has exactly one text. The
 * text of a token can therefore not be altered into another text that is accepted too. Also runs in browsers.
 */

export const BASE64URL_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES = new Int8Array(128).fill(-1);
for (let index = 0; index < BASE64URL_ALPHABET.length; index++) VALUES[BASE64URL_ALPHABET.charCodeAt(index)] = index;

export function encodeBase64url(bytes: Uint8Array): string {
  let text = '';
  let index = 0;
  for (; index + 2 < bytes.length; index += 3) {
    const word = (bytes[index]! << 16) | (bytes[index + 1]! << 8) | bytes[index + 2]!;
    text +=
      BASE64URL_ALPHABET[word >> 18]! +
      BASE64URL_ALPHABET[(word >> 12) & 63]! +
      BASE64URL_ALPHABET[(word >> 6) & 63]! +
      BASE64URL_ALPHABET[word & 63]!;
  }
  const left = bytes.length - index;
  if (left === 1) {
    const word = bytes[index]! << 16;
    text += BASE64URL_ALPHABET[word >> 18]! + BASE64URL_ALPHABET[(word >> 12) & 63]!;
  } else if (left === 2) {
    const word = (bytes[index]! << 16) | (bytes[index + 1]! << 8);
    text +=
      BASE64URL_ALPHABET[word >> 18]! + BASE64URL_ALPHABET[(word >> 12) & 63]! + BASE64URL_ALPHABET[(word >> 6) & 63]!;
  }
  return text;
}

/** `null` for a text that `encodeBase64url` does not produce: with padding, another alphabet or unused bits set. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | null {
  const tail = text.length % 4;
  if (tail === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let bits = 0;
  let held = 0;
  let out = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    const value = code < 128 ? VALUES[code]! : -1;
    if (value < 0) return null;
    held = ((held << 6) | value) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[out++] = (held >> bits) & 255;
    }
  }
  return (held & ((1 << bits) - 1)) === 0 ? bytes : null;
}
