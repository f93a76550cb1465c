/**
 * Idempotency keys that can be computed from the token: a part of it, or its hash. A backend with such a key answers
 * everyone who sends a token again as verified, because it asks the same question with the same key. So they are
 * refused, and the mistake shows on the first day.
 */
import { encodeBase64url } from '../../bytes/base64url.ts';
import { encodeHex } from '../../bytes/hex.ts';
import { encodeUtf8 } from '../../bytes/utf8.ts';

/** A random key of this length is not a part of a token or of a hash by chance. */
const KEY_MIN_CHARS = 8;
/** No token that verifies is longer. */
const TEXT_MAX_CHARS = 16_384;
const HASHES = ['SHA-256', 'SHA-1', 'MD5', 'SHA-512'] as const;

/** `texts`: the token in every form in which the backend may have it. A hash counts from its first characters on. */
export async function isDerivedKey(key: string, texts: readonly string[]): Promise<boolean> {
  if (key.length < KEY_MIN_CHARS) return false;
  const asHex = key.toLowerCase().replaceAll('-', '');
  const asBase64url = key.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  for (const text of new Set(texts)) {
    if (text.length > TEXT_MAX_CHARS) continue;
    if (text.includes(key)) return true;
    for (const hash of HASHES) {
      const digest = new Uint8Array(await crypto.subtle.digest(hash, encodeUtf8(text)));
      if (asHex.length >= KEY_MIN_CHARS && encodeHex(digest).startsWith(asHex)) return true;
      if (asBase64url.length >= KEY_MIN_CHARS && encodeBase64url(digest).startsWith(asBase64url)) return true;
    }
  }
  return false;
}
