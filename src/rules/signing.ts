/**
 * A ruleset file: the payload, then a trailer with an Ed25519 signature of its SHA-256. The signature is checked when
 * the file is loaded, so that KV, the caches and the connections to them need not be trusted. Bases and deltas have the
 * same trailer; their payloads begin with different magics, so one is never taken for the other.
 *
 *   payload | signature (64) | kid (n) | n (1) | magic (8)
 */
import { failed, ok, type Result } from '../result.ts';
import { encodeHex } from '../bytes/hex.ts';

const magic = new TextEncoder().encode('GHSIGNED');
/** Domain separation: the signature is not valid in another protocol that uses the same key. */
const context = new TextEncoder().encode('gatehouse-ruleset-v1\0');
const SIGNATURE_BYTES = 64;
const FIXED_TRAILER_BYTES = SIGNATURE_BYTES + 1 + magic.length;
const KID_MAX_BYTES = 128;

/** The payload is a view of the file. `hash` is the hex SHA-256 of the payload. */
export interface OpenedRulesetFile {
  payload: Uint8Array;
  hash: string;
}

type Bytes = Uint8Array<ArrayBuffer>;

const isUnshared = (bytes: Uint8Array): bytes is Bytes => bytes.buffer instanceof ArrayBuffer;

/** WebCrypto refuses shared memory, which could change while it is checked. Shared bytes are copied. */
function unshared(bytes: Uint8Array): Bytes {
  return isUnshared(bytes) ? bytes : new Uint8Array(bytes);
}

async function digestMessage(payload: Uint8Array): Promise<{ message: Bytes; hash: string }> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', unshared(payload)));
  const message = new Uint8Array(context.length + digest.length);
  message.set(context);
  message.set(digest, context.length);
  return { message, hash: encodeHex(digest) };
}

/** Hex SHA-256 of a payload: the name under which it is stored and requested. */
export async function rulesetHash(payload: Uint8Array): Promise<string> {
  return (await digestMessage(payload)).hash;
}

/** Room behind a payload that any trailer fits. */
export const TRAILER_MAX_BYTES = FIXED_TRAILER_BYTES + KID_MAX_BYTES;

export interface RulesetKey {
  /** At most 128 bytes of UTF-8. */
  kid: string;
  privateKey: CryptoKey;
}

export interface SignedRulesetFile {
  file: Uint8Array;
  /** Hex SHA-256 of the payload. */
  hash: string;
}

/** The file is a copy of the payload with its trailer. */
export async function signRulesetFile(payload: Uint8Array, key: RulesetKey): Promise<SignedRulesetFile> {
  const copy = new Uint8Array(payload.length + TRAILER_MAX_BYTES);
  copy.set(payload);
  return signInPlace(copy.subarray(0, payload.length), key);
}

/**
 * Writes the trailer behind the payload, into bytes of its buffer that the caller gives up: a large file is in memory
 * once. There must be room for `TRAILER_MAX_BYTES`.
 */
export async function signInPlace(payload: Uint8Array, key: RulesetKey): Promise<SignedRulesetFile> {
  const kid = new TextEncoder().encode(key.kid);
  if (kid.length === 0 || kid.length > KID_MAX_BYTES) throw new RangeError('kid must be 1 to 128 bytes');
  const { message, hash } = await digestMessage(payload);
  const signature = new Uint8Array(await crypto.subtle.sign('Ed25519', key.privateKey, message));
  const bytes = payload.length + FIXED_TRAILER_BYTES + kid.length;
  const file = new Uint8Array(payload.buffer, payload.byteOffset, bytes);
  let at = payload.length;
  for (const part of [signature, kid, Uint8Array.of(kid.length), magic]) {
    file.set(part, at);
    at += part.length;
  }
  return { file, hash };
}

/** Never rejects: a file that cannot be checked is an error. */
export async function openSignedRuleset(
  file: Uint8Array,
  keys: ReadonlyMap<string, CryptoKey>,
): Promise<Result<OpenedRulesetFile, string>> {
  const magicAt = file.length - magic.length;
  if (file.length < FIXED_TRAILER_BYTES || !magic.every((byte, i) => file[magicAt + i] === byte)) {
    return failed('magic');
  }
  const kidLength = file[magicAt - 1] ?? 0;
  const signatureAt = magicAt - 1 - kidLength - SIGNATURE_BYTES;
  if (kidLength === 0 || kidLength > KID_MAX_BYTES || signatureAt < 0) {
    return failed('trailer');
  }
  const kid = new TextDecoder().decode(file.subarray(magicAt - 1 - kidLength, magicAt - 1));
  const key = keys.get(kid);
  if (!key) return failed('unknown key');
  const payload = file.subarray(0, signatureAt);
  const signature = file.subarray(signatureAt, signatureAt + SIGNATURE_BYTES);
  try {
    const { message, hash } = await digestMessage(payload);
    const valid = await crypto.subtle.verify('Ed25519', key, unshared(signature), message);
    return valid ? ok({ payload, hash }) : failed('signature');
  } catch {
    return failed('signature');
  }
}
