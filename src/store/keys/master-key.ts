/**
 * Key derivation and sealing. Every key of the service is an HKDF child of the deployment's root key (`root-key.ts`)
 * under its own label (RFC 5869), so that no two purposes share a key. Nothing secret is stored in D1 in clear: a
 * stolen copy of the database opens nothing. MASTER_KEY has one child, which seals the root key.
 */
import { type Bytes, encodeUtf8 } from '../../bytes/utf8.ts';
import { openBytes, sealBytes } from '../../bytes/aes-gcm.ts';
import { decodeBase64url, encodeBase64url } from '../../bytes/base64url.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';

const MASTER_KEY_BYTES = 32;
const DERIVED_KEY_BYTES = 32;
/** Derived keys per isolate. Labels are few and fixed; weeks add two each. */
const MEMO_MAX_ENTRIES = 256;
const SEAL_PREFIX = 'v1.';
const HKDF_SALT = new TextEncoder().encode('gatehouse/v1');

const derived = new BoundedMap<Bytes>(MEMO_MAX_ENTRIES);
const sealKeys = new BoundedMap<CryptoKey>(MEMO_MAX_ENTRIES);

/**
 * 32 bytes of HKDF-SHA256 from the master key under `label`, kept per isolate.
 * @throws when the master key is not 32 bytes of base64url, which is a deployment mistake.
 */
export function deriveKey(masterKey: string, label: string): Promise<Bytes> {
  return memoised(derived, `${masterKey} ${label}`, async () => {
    const base = await crypto.subtle.importKey('raw', masterKeyBytes(masterKey), 'HKDF', false, ['deriveBits']);
    const info = new TextEncoder().encode(label);
    const bits = await crypto.subtle.deriveBits(
      { name: 'HKDF', hash: 'SHA-256', salt: HKDF_SALT, info },
      base,
      DERIVED_KEY_BYTES * 8,
    );
    return new Uint8Array(bits);
  });
}

/**
 * Seals `plaintext` for a D1 row: `v1.<nonce ‖ ciphertext>`, AES-256-GCM. `context` names the row (table, column, id)
 * and is authenticated: a sealed value copied to another row does not open.
 */
export async function sealAtRest(masterKey: string, context: string, plaintext: string): Promise<string> {
  const sealed = await sealBytes(await sealKey(masterKey), encodeUtf8(plaintext), encodeUtf8(context));
  return `${SEAL_PREFIX}${encodeBase64url(sealed)}`;
}

/** @throws when the value was changed, or was sealed with another key or for another context. */
export async function openAtRest(masterKey: string, context: string, sealed: string): Promise<string> {
  const bytes = sealed.startsWith(SEAL_PREFIX) ? decodeBase64url(sealed.slice(SEAL_PREFIX.length)) : null;
  if (bytes === null) throw new Error(`Value at rest has an unknown format (${context})`);
  const opened = await openBytes(await sealKey(masterKey), bytes, encodeUtf8(context));
  if (opened === null) throw new Error(`Value at rest does not open (${context})`);
  return new TextDecoder().decode(opened);
}

/** New random bytes as base64url. */
export function randomToken(byteLength: number): string {
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(byteLength)));
}

function sealKey(masterKey: string): Promise<CryptoKey> {
  return memoised(sealKeys, masterKey, async () =>
    crypto.subtle.importKey('raw', await deriveKey(masterKey, 'at-rest'), 'AES-GCM', false, ['encrypt', 'decrypt']),
  );
}

function masterKeyBytes(masterKey: string): Bytes {
  const bytes = decodeBase64url(masterKey);
  if (bytes?.length !== MASTER_KEY_BYTES) {
    throw new Error('MASTER_KEY must be 32 random bytes in base64url (openssl rand -base64 32 | tr +/ -_ | tr -d =)');
  }
  return bytes;
}

/**
 * Keeps resolved values only, never promises. On Workers a promise that belongs to a cancelled request may never
 * settle, and every later request would wait for it until the isolate ends.
 */
async function memoised<T>(memo: BoundedMap<T>, key: string, make: () => Promise<T>): Promise<T> {
  const kept = memo.get(key);
  if (kept !== undefined) return kept;
  const made = await make();
  memo.set(key, made);
  return made;
}
