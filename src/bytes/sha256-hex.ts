/**
 * SHA-256 in hex: the name of a file's content, the fingerprint of a question, and what secrets are looked up by.
 * WebCrypto computes it; `sha256.ts` is for the places that cannot wait for a promise.
 */
import { encodeHex } from './hex.ts';

/** Of bytes, or of a text in UTF-8. */
export async function sha256Hex(data: string | Uint8Array<ArrayBuffer>): Promise<string> {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  return encodeHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
