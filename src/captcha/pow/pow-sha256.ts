/**
 * The SHA-256 lane for browsers without BigInt or workers: many small puzzles, so that the time varies little, each
 * under its own random salt, so that no two challenges share one. The price is what the work costs a native solver and
 * not a browser: a claim of "no BigInt" must never make a challenge cheaper.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import { decodeBase64url, encodeBase64url } from '../../bytes/base64url.ts';
import { leadingZeroBits } from './pow-solve.ts';

const SALT_BYTES = 16;
const COUNTER_BYTES = 4;
const PUZZLES_MIN = 32;
/**
 * Hashes that a native core computes in the time of one 2048-bit squaring, for the attacker who squares slowest: 0.915 µs
 * of GMP against 62 MH/s of SHA-NI. OpenSSL gives 33 and AVX-512 IFMA 7, so for them this lane is the dearer one. A
 * smaller number would make it the cheaper one for an attacker with GMP.
 */
const HASHES_PER_SQUARING = 57;

export interface Sha256Puzzles {
  salt: string;
  count: number;
  bits: number;
}

/** Puzzles worth `squarings`: 32 to 63 of them, each of a whole number of bits. */
export function mintSha256(squarings: number): Sha256Puzzles {
  const hashes = squarings * HASHES_PER_SQUARING;
  const bits = Math.floor(Math.log2(hashes / PUZZLES_MIN));
  const count = Math.round(hashes / 2 ** bits);
  return { salt: encodeBase64url(crypto.getRandomValues(new Uint8Array(count * SALT_BYTES))), count, bits };
}

/** Whether every puzzle has its answer, in order, one 4-byte counter each. Any other form or length is false. */
export function checkSha256(salt: string, bits: number, counters: unknown): boolean {
  const salts = decodeBase64url(salt);
  const given = typeof counters === 'string' ? decodeBase64url(counters) : null;
  if (salts === null || given === null || salts.length === 0) return false;
  const count = salts.length / SALT_BYTES;
  if (given.length !== count * COUNTER_BYTES) return false;
  const message: Bytes = new Uint8Array(SALT_BYTES + COUNTER_BYTES);
  for (let index = 0; index < count; index++) {
    message.set(salts.subarray(index * SALT_BYTES, (index + 1) * SALT_BYTES));
    message.set(given.subarray(index * COUNTER_BYTES, (index + 1) * COUNTER_BYTES), SALT_BYTES);
    if (leadingZeroBits(message) < bits) return false;
  }
  return true;
}
