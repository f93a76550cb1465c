/**
 * The one framing of AES-256-GCM: nonce ‖ ciphertext ‖ tag. Everything that visitors carry and everything secret
 * in storage uses it. Nonces are random, which is safe for fewer than 2^32 seals under one key (NIST SP 800-38D, 8.3).
 */
type Bytes = Uint8Array<ArrayBuffer>;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** `context` is authenticated and not part of the result; opening needs the same one. */
export async function sealBytes(key: CryptoKey, plain: Bytes, context?: Bytes): Promise<Bytes> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = await crypto.subtle.encrypt(parameters(iv, context), key, plain);
  const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength);
  bytes.set(iv);
  bytes.set(new Uint8Array(sealed), NONCE_BYTES);
  return bytes;
}

/** `null` when the bytes were sealed under another key or context, or were changed. */
export async function openBytes(key: CryptoKey, bytes: Bytes, context?: Bytes): Promise<Bytes | null> {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  try {
    const algorithm = parameters(bytes.subarray(0, NONCE_BYTES), context);
    return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, bytes.subarray(NONCE_BYTES)));
  } catch {
    // A failed tag is the only error that decrypt can have here.
    return null;
  }
}

function parameters(iv: Bytes, context: Bytes | undefined) {
  return { name: 'AES-GCM', iv, ...(context ? { additionalData: context } : {}) };
}
