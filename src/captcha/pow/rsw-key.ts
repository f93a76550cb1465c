/**
 * RSW time-lock parameters of a day (Rivest, Shamir, Wagner 1996): a modulus, a generator, and the generator raised to
 * 2^t for every level. With the factors of the modulus each takes one exponentiation. The factors are then dropped, so
 * that not even this service can answer a challenge without its squarings.
 */
import { decodeBase64url } from '../../bytes/base64url.ts';
import { toBigInt } from './pow-solve.ts';

export const RSW_MODULUS_BYTES = 256;
/** 1 to 10 in half steps: few enough that the tables of the levels in use stay in memory. */
const LEVELS = 19;
/** About 0.13 s in a desktop browser at difficulty 4. */
const SQUARINGS_AT_DIFFICULTY_4 = 75_000;

export interface RswKey {
  /** Days since the epoch, UTC. */
  day: number;
  modulus: bigint;
  generator: bigint;
  /** `generator^(2^t)` by level. */
  levels: readonly bigint[];
}

/** Nearest half step of a site's `powDifficulty`. @throws on anything that is not a number of 1–10. */
export function levelOf(powDifficulty: number): number {
  // A NaN would make every challenge free.
  if (!(powDifficulty >= 1 && powDifficulty <= 10)) throw new RangeError(`powDifficulty ${powDifficulty}`);
  return Math.round((powDifficulty - 1) * 2);
}

/** `75,000 · 2^((powDifficulty − 4) · 2/3)`: 18,750 to 1,200,000 squarings. */
export function squaringsOf(level: number): number {
  return Math.round(SQUARINGS_AT_DIFFICULTY_4 * 2 ** ((1 + level / 2 - 4) * (2 / 3)));
}

/** Takes about 0.3 s of CPU, once a day per deployment. */
export async function generateRswKey(day: number): Promise<RswKey> {
  const { n, p, q } = await generateModulus();
  const order = (p - 1n) * (q - 1n);
  // A square generates quadratic residues only, so that a Jacobi symbol reveals nothing about a challenge.
  const seed = toBigInt(crypto.getRandomValues(new Uint8Array(RSW_MODULUS_BYTES))) % n;
  const generator = (seed * seed) % n;
  const levels: bigint[] = [];
  for (let level = 0; level < LEVELS; level++) {
    levels.push(power(generator, power(2n, BigInt(squaringsOf(level)), order), n));
  }
  return { day, modulus: n, generator, levels };
}

async function generateModulus(): Promise<{ n: bigint; p: bigint; q: bigint }> {
  const pair = (await crypto.subtle.generateKey(
    {
      name: 'RSASSA-PKCS1-v1_5',
      hash: 'SHA-256',
      modulusLength: RSW_MODULUS_BYTES * 8,
      publicExponent: new Uint8Array([1, 0, 1]),
    },
    true,
    ['sign', 'verify'],
  )) as CryptoKeyPair;
  const jwk = (await crypto.subtle.exportKey('jwk', pair.privateKey)) as { n?: string; p?: string; q?: string };
  const [n, p, q] = [jwk.n, jwk.p, jwk.q].map((part) => {
    const bytes = decodeBase64url(part ?? '');
    return bytes === null ? 0n : toBigInt(bytes);
  });
  if (n === undefined || p === undefined || q === undefined || n === 0n || p * q !== n) {
    throw new Error('RSA key generation gave no usable modulus');
  }
  return { n, p, q };
}

/** Square and multiply. Not constant time: the exponents are secret only while this function runs. */
export function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = base % modulus;
  for (const bit of exponent.toString(2).split('').toReversed()) {
    if (bit === '1') result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}
