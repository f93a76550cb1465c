/**
 * Seals a field list into one opaque text: `version ‖ purpose ‖ kid ‖ nonce ‖ AES-256-GCM`, with the
 * whole header authenticated. Encrypted and not only signed, because a token that shows its score
 * tells a bot how to tune itself, and one that shows a deferred refusal tells it to try elsewhere.
 * Every failure is the same `null`: whoever probes learns nothing from which step refused.
 */
import { decodeBase64url, encodeBase64url } from '../../bytes/base64url.ts';
import { decodeFields, encodeFields } from './fields.ts';
import type { Bytes } from './fields.ts';
import { keyDay, keyDayAccepted } from './keyring.ts';
import type { Keyring } from './keyring.ts';

export type SealPurpose = 'challenge' | 'token';

const VERSION = 1;
const PURPOSE_BYTE = { challenge: 1, token: 2 } as const;
/** version, purpose, kid (4 bytes big-endian). */
const HEADER_BYTES = 6;
/**
 * GCM's own size. Random: a day's key would need 2^32 seals before a repeat is worth a thought, and
 * a deployment that makes so many a day has other limits first.
 */
const NONCE_BYTES = 12;
const GCM_TAG_BYTES = 16;
/** Nothing this module writes is longer, so nothing longer is worth decoding. */
export const SEALED_MAX_CHARS = 8192;

export async function seal(
  keyring: Keyring,
  purpose: SealPurpose,
  fields: readonly Uint8Array[],
  nowMs: number,
): Promise<string> {
  const day = keyDay(nowMs);
  const head = new Uint8Array(HEADER_BYTES + NONCE_BYTES);
  head[0] = VERSION;
  head[1] = PURPOSE_BYTE[purpose];
  new DataView(head.buffer).setUint32(2, day);
  crypto.getRandomValues(head.subarray(HEADER_BYTES));
  const sealed = await crypto.subtle.encrypt(
    { name: 'AES-GCM', iv: head.subarray(HEADER_BYTES), additionalData: head.subarray(0, HEADER_BYTES) },
    await keyring.sealKey(purpose, day),
    encodeFields(fields),
  );
  const bytes = new Uint8Array(head.length + sealed.byteLength);
  bytes.set(head);
  bytes.set(new Uint8Array(sealed), head.length);
  return encodeBase64url(bytes);
}

/** Exactly `count` fields that this deployment sealed for this purpose, today or yesterday, else `null`. */
export async function unseal(
  keyring: Keyring,
  purpose: SealPurpose,
  text: string,
  count: number,
  nowMs: number,
): Promise<Bytes[] | null> {
  if (text.length > SEALED_MAX_CHARS) return null;
  const bytes = decodeBase64url(text);
  if (bytes === null || bytes.length < HEADER_BYTES + NONCE_BYTES + GCM_TAG_BYTES) return null;
  if (bytes[0] !== VERSION || bytes[1] !== PURPOSE_BYTE[purpose]) return null;
  const day = new DataView(bytes.buffer, bytes.byteOffset).getUint32(2);
  if (!keyDayAccepted(day, nowMs)) return null;
  const key = await keyring.sealKey(purpose, day);
  try {
    const opened = await crypto.subtle.decrypt(
      {
        name: 'AES-GCM',
        iv: bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES),
        additionalData: bytes.subarray(0, HEADER_BYTES),
      },
      key,
      bytes.subarray(HEADER_BYTES + NONCE_BYTES),
    );
    return decodeFields(new Uint8Array(opened), count);
  } catch {
    // The one error decrypt can have here is a failed tag: not ours, or changed.
    return null;
  }
}
