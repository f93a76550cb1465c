/**
 * The sealed form of a held submission: who sent it, where it goes, and its body. The visitor's page carries it, can
 * neither read nor change it, and it is valid for half an hour.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import type { ImportedKeys } from '../config/compiled-config.ts';
import { openBox, sealBox } from './sealed-box.ts';

export interface HeldSubmission {
  /** Id of the request that was challenged. Spent once. */
  id: string;
  host: string;
  /** Path and query as received. */
  received: string;
  contentType: string;
  referer: string | null;
  /** The visitor's binding, see `address/visitor-binding.ts`. */
  binding: string;
  sealedAtMs: number;
  body: Bytes;
}

/** Enough for a slow solver on a slow phone who is interrupted. */
const SEAL_MAX_AGE_MS = 30 * 60_000;
const LENGTH_BYTES = 4;
/** 1 MiB of body and the longest headers a runtime accepts, in base64url. */
export const SEAL_MAX_CHARS = 1_500_000;

export function sealHeld(keys: ImportedKeys, held: HeldSubmission): Promise<string> {
  const { body, ...head } = held;
  const headBytes = new TextEncoder().encode(JSON.stringify(head));
  const plain = new Uint8Array(LENGTH_BYTES + headBytes.length + body.length);
  new DataView(plain.buffer).setUint32(0, headBytes.length);
  plain.set(headBytes, LENGTH_BYTES);
  plain.set(body, LENGTH_BYTES + headBytes.length);
  return sealBox(keys, 'replay', plain);
}

/** `null`: not sealed by this instance, changed, or too old. */
export async function openHeld(
  byKid: ReadonlyMap<string, ImportedKeys>,
  seal: string,
  nowMs: number,
): Promise<HeldSubmission | null> {
  const plain = seal.length > SEAL_MAX_CHARS ? null : await openBox(byKid, 'replay', seal);
  if (!plain) return null;
  const bodyAt = LENGTH_BYTES + new DataView(plain.buffer).getUint32(0);
  const head = JSON.parse(new TextDecoder().decode(plain.subarray(LENGTH_BYTES, bodyAt))) as HeldSubmission;
  const ageMs = nowMs - head.sealedAtMs;
  return ageMs >= 0 && ageMs <= SEAL_MAX_AGE_MS ? { ...head, body: plain.slice(bodyAt) } : null;
}
