/**
 * Data that the edge gives a visitor to carry and takes back: AES-256-GCM under the instance's seal key, with the key
 * id in front. The purpose is authenticated, so that a held form never opens as a wait ticket.
 */
import { type Bytes, encodeUtf8 } from '../../bytes/utf8.ts';
import { decodeBase64url, encodeBase64url } from '../../bytes/base64url.ts';
import { openBytes, sealBytes } from '../../bytes/aes-gcm.ts';
import type { ImportedKeys } from '../config/compiled-config.ts';

export type BoxPurpose = 'replay' | 'local-challenge' | 'local-token' | 'local-session' | 'wait';

const encoder = new TextEncoder();

export async function sealBox(keys: ImportedKeys, purpose: BoxPurpose, plain: Bytes): Promise<string> {
  const bytes = await sealBytes(keys.seal, plain, context(purpose, keys.kid));
  return `${encodeURIComponent(keys.kid)}.${encodeBase64url(bytes)}`;
}

/** `null`: not sealed by this instance, sealed for another purpose, or changed. */
export async function openBox(
  byKid: ReadonlyMap<string, ImportedKeys>,
  purpose: BoxPurpose,
  text: string,
): Promise<Bytes | null> {
  const dot = text.lastIndexOf('.');
  if (dot < 1) return null;
  const kid = text.slice(0, dot);
  // Compared as written: there are two keys at most, and decoding could throw.
  const keys = [...byKid.values()].find((known) => encodeURIComponent(known.kid) === kid);
  const bytes = decodeBase64url(text.slice(dot + 1));
  return keys && bytes ? openBytes(keys.seal, bytes, context(purpose, keys.kid)) : null;
}

export function sealJson(keys: ImportedKeys, purpose: BoxPurpose, value: object): Promise<string> {
  return sealBox(keys, purpose, encodeUtf8(JSON.stringify(value)));
}

/** The tag proves that this module sealed the value, so it has the shape it was sealed with. */
export async function openJson<Value>(
  byKid: ReadonlyMap<string, ImportedKeys>,
  purpose: BoxPurpose,
  text: string,
): Promise<Value | null> {
  const plain = await openBox(byKid, purpose, text);
  return plain && (JSON.parse(new TextDecoder().decode(plain)) as Value);
}

function context(purpose: BoxPurpose, kid: string): Bytes {
  return encoder.encode(`gatehouse ${purpose} v1 ${kid}`) as Bytes;
}
