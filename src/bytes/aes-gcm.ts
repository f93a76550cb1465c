/**
 * AES-256-GCM with the nonce in front: for what visitors carry (`sealed-box.ts`) and what lies in
 * storage (`feed/config-seal.ts`). Random nonces: a key that seals 2^32 times would need another way.
 */
type Bytes = Uint8Array<ArrayBuffer>;

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export async function sealBytes(key: CryptoKey, plain: Bytes, context?: Bytes): Promise<Bytes> {
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = await crypto.subtle.encrypt(parameters(iv, context), key, plain);
  const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength);
  bytes.set(iv);
  bytes.set(new Uint8Array(sealed), NONCE_BYTES);
  return bytes;
}

/** `null`: another key or context, or changed on the way. */
export async function openBytes(key: CryptoKey, bytes: Bytes, context?: Bytes): Promise<Bytes | null> {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  try {
    const algorithm = parameters(bytes.subarray(0, NONCE_BYTES), context);
    return new Uint8Array(await crypto.subtle.decrypt(algorithm, key, bytes.subarray(NONCE_BYTES)));
  } catch {
    // The one error decrypt can have here is a failed tag.
    return null;
  }
}

function parameters(iv: Bytes, context: Bytes | undefined) {
  return { name: 'AES-GCM', iv, ...(context ? { additionalData: context } : {}) };
}
