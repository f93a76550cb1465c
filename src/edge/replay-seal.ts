/**
 * The sealed form of a held submission: AES-256-GCM under the instance's seal key, the key id in
 * front and authenticated. The visitor carries it, can neither read nor change it, and it is good
 * for half an hour.
 */
import { decodeBase64url, encodeBase64url } from '../challenge/base64url.ts';
import type { ImportedKeys } from './feed/compiled-config.ts';

export interface HeldSubmission {
  /** Of the request that was challenged; spent once. */
  id: string;
  host: string;
  /** Path and query as received. */
  received: string;
  contentType: string;
  referer: string | null;
  /** Of the visitor, `challenge/visitor-binding.ts`. */
  binding: string;
  sealedAtMs: number;
  body: Uint8Array<ArrayBuffer>;
}

/** A slow solver on a slow phone, with a pause for the doorbell. */
const SEAL_MAX_AGE_MS = 30 * 60_000;
const NONCE_BYTES = 12;
const LENGTH_BYTES = 4;
/** 1 MiB of body and the longest headers a runtime takes, in base64url. */
export const SEAL_MAX_CHARS = 1_500_000;
const encoder = new TextEncoder();

export async function sealReplay(keys: ImportedKeys, held: HeldSubmission): Promise<string> {
  const { body, ...head } = held;
  const headBytes = encoder.encode(JSON.stringify(head));
  const plain = new Uint8Array(LENGTH_BYTES + headBytes.length + body.length);
  new DataView(plain.buffer).setUint32(0, headBytes.length);
  plain.set(headBytes, LENGTH_BYTES);
  plain.set(body, LENGTH_BYTES + headBytes.length);
  const iv = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const sealed = new Uint8Array(
    await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: additional(keys.kid) }, keys.seal, plain),
  );
  const bytes = new Uint8Array(NONCE_BYTES + sealed.length);
  bytes.set(iv);
  bytes.set(sealed, NONCE_BYTES);
  return `${encodeURIComponent(keys.kid)}.${encodeBase64url(bytes)}`;
}

/** `null`: not sealed here, changed, or too old. */
export async function openReplay(
  byKid: ReadonlyMap<string, ImportedKeys>,
  seal: string,
  nowMs: number,
): Promise<HeldSubmission | null> {
  const dot = seal.lastIndexOf('.');
  if (dot < 1 || seal.length > SEAL_MAX_CHARS) return null;
  try {
    const keys = byKid.get(decodeURIComponent(seal.slice(0, dot)));
    const bytes = decodeBase64url(seal.slice(dot + 1));
    if (!keys || !bytes || bytes.length <= NONCE_BYTES) return null;
    const algorithm = { name: 'AES-GCM', iv: bytes.subarray(0, NONCE_BYTES), additionalData: additional(keys.kid) };
    const plain = new Uint8Array(await crypto.subtle.decrypt(algorithm, keys.seal, bytes.subarray(NONCE_BYTES)));
    const headLength = new DataView(plain.buffer).getUint32(0);
    const bodyAt = LENGTH_BYTES + headLength;
    const head = JSON.parse(new TextDecoder().decode(plain.subarray(LENGTH_BYTES, bodyAt))) as HeldSubmission;
    const ageMs = nowMs - head.sealedAtMs;
    return ageMs >= 0 && ageMs <= SEAL_MAX_AGE_MS ? { ...head, body: plain.slice(bodyAt) } : null;
  } catch {
    // A failed tag: not ours, or changed.
    return null;
  }
}

function additional(kid: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(`gatehouse replay v1 ${kid}`) as Uint8Array<ArrayBuffer>;
}
