/**
 * Seals a field list into one opaque text: `version ‖ purpose ‖ kid ‖ nonce ‖ AES-256-GCM`, with the whole header
 * authenticated. It is encrypted and not only signed, because a visible score tells a bot how to tune itself, and a
 * visible deferred refusal tells it to try elsewhere. Every failure is the same `null`, so that a caller who probes
 * cannot tell which step refused.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import { openBytes, sealBytes } from '../../bytes/aes-gcm.ts';
import { decodeBase64url, encodeBase64url } from '../../bytes/base64url.ts';
import { decodeFields, encodeFields } from './field-encoding.ts';
import { keyDay, keyDayAccepted, type Keyring } from './keyring.ts';

export type SealPurpose = keyof typeof PURPOSE_BYTE;

const VERSION = 2;
const PURPOSE_BYTE = { challenge: 1, token: 2, session: 3 } as const;
/** version, purpose, kid (4 bytes big-endian). */
const HEADER_BYTES = 6;
/** No seal is longer, so a longer text is not decoded. */
export const SEALED_MAX_CHARS = 8192;

export async function seal(
  keyring: Keyring,
  purpose: SealPurpose,
  fields: readonly Uint8Array[],
  nowMs: number,
): Promise<string> {
  const day = keyDay(nowMs);
  const header = new Uint8Array(HEADER_BYTES);
  header[0] = VERSION;
  header[1] = PURPOSE_BYTE[purpose];
  new DataView(header.buffer).setUint32(2, day);
  const sealed = await sealBytes(await keyring.sealKey(purpose, day), encodeFields(fields), header);
  const bytes = new Uint8Array(HEADER_BYTES + sealed.length);
  bytes.set(header);
  bytes.set(sealed, HEADER_BYTES);
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
  if (bytes === null || bytes.length < HEADER_BYTES) return null;
  if (bytes[0] !== VERSION || bytes[1] !== PURPOSE_BYTE[purpose]) return null;
  const day = new DataView(bytes.buffer, bytes.byteOffset).getUint32(2);
  if (!keyDayAccepted(day, nowMs)) return null;
  const key = await keyring.sealKey(purpose, day);
  const opened = await openBytes(key, bytes.subarray(HEADER_BYTES), bytes.subarray(0, HEADER_BYTES));
  return opened && decodeFields(opened, count);
}
