/**
 * The squarings of a challenge by OpenSSL, in a sixth of the time that the widget's solver takes: the whole run solves a
 * thousand challenges. `x^(2^k) mod n` is what RSA computes with the exponent `2^k`. The widget's own solver works in the
 * browser tests.
 */
import { constants, createPublicKey, type KeyObject, publicEncrypt } from 'node:crypto';
import type { RswTask } from '../../src/captcha/pow/pow-solve.ts';

/** An exponent must be smaller than the modulus, which has 2,048 bits. */
const SQUARINGS_PER_STEP = 2000;

/** Returns what `solveRsw` returns. */
export function squaredNatively({ n, x, t }: RswTask): string {
  const size = Buffer.byteLength(n, 'base64url');
  const base = Buffer.from(x, 'base64url');
  let value = Buffer.concat([Buffer.alloc(size - base.length), base]);
  for (let left = t; left > 0; left -= SQUARINGS_PER_STEP) {
    const key = keyOf(n, Math.min(left, SQUARINGS_PER_STEP));
    value = publicEncrypt({ key, padding: constants.RSA_NO_PADDING }, value);
  }
  return value.toString('base64url');
}

function keyOf(n: string, squarings: number): KeyObject {
  const exponent = (2n ** BigInt(squarings)).toString(16);
  const e = Buffer.from(exponent.padStart(exponent.length + (exponent.length % 2), '0'), 'hex').toString('base64url');
  return createPublicKey({ key: { kty: 'RSA', n, e }, format: 'jwk' });
}
