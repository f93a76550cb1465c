/**
 * A published key set (RFC 7517), read leniently and trusted little. Operators leave `kid` out, or write something else
 * into it, so that the thumbprint of each key is computed here; one serves its key without a set around it. A key that
 * cannot be used is left out, and the others count.
 */
import { calculateJwkThumbprint } from 'jose';
import { decodeBase64url } from '../../bytes/base64url.ts';
import { isJsonObject } from '../../bytes/json.ts';
import { BOT_KEYS_MAX, type BotKey } from '../../contract/edge/bot-calls.ts';

const ED25519_BYTES = 32;
const RSA_MIN_BYTES = 256;
/** Larger keys take too long for somebody else's request. */
const RSA_MAX_BYTES = 512;
const EXPONENT_MAX_BYTES = 4;
/** Some operators write `nbf` and `exp` in milliseconds. */
const SECONDS_MAX = 100_000_000_000;

/** `null` for anything but a key set, and for one with too many keys. */
export async function readKeySet(value: unknown, nowMs: number): Promise<BotKey[] | null> {
  if (!isJsonObject(value)) return null;
  const listed: unknown = 'keys' in value ? value['keys'] : 'kty' in value ? [value] : null;
  if (!Array.isArray(listed) || listed.length > BOT_KEYS_MAX) return null;
  const read = await Promise.all(listed.map((key: unknown) => readKey(key, nowMs)));
  return read.filter((key) => key !== null);
}

async function readKey(jwk: unknown, nowMs: number): Promise<BotKey | null> {
  if (!isJsonObject(jwk)) return null;
  const { kty, crv, x, n, e, use = 'sig', nbf, exp } = jwk;
  // A private key that was published proves nothing.
  if (use !== 'sig' || 'd' in jwk || msOf(nbf, 0) > nowMs || msOf(exp, Infinity) <= nowMs) return null;
  if (kty === 'OKP' && crv === 'Ed25519' && bytesIn(x) === ED25519_BYTES) {
    const key = { kty, crv, x: x as string } as const;
    return { keyid: await calculateJwkThumbprint(key), ...key };
  }
  if (kty !== 'RSA' || bytesIn(n) < RSA_MIN_BYTES || bytesIn(n) > RSA_MAX_BYTES) return null;
  if (bytesIn(e) === 0 || bytesIn(e) > EXPONENT_MAX_BYTES) return null;
  const key = { kty, n: n as string, e: e as string } as const;
  return { keyid: await calculateJwkThumbprint(key), ...key };
}

/** 0 for anything but base64url. */
function bytesIn(value: unknown): number {
  return typeof value === 'string' ? (decodeBase64url(value)?.length ?? 0) : 0;
}

function msOf(value: unknown, otherwise: number): number {
  if (typeof value !== 'number') return otherwise;
  return value > SECONDS_MAX ? value : value * 1000;
}
