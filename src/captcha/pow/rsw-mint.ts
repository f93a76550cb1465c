/**
 * Mints RSW challenges: `x = g^r` and its answer `y = h^r` for a random `r`, by fixed-base comb. The table of a base
 * holds `base^(v · 256^i)` for every byte value and position, so an exponentiation is one multiplication per byte of
 * `r`. A table is computed on first use and takes 10 ms.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import { encodeBase64url } from '../../bytes/base64url.ts';
import { toBytes } from './pow-solve.ts';
import { RSW_MODULUS_BYTES, type RswKey, squaringsOf } from './rsw-key.ts';

/**
 * 80 bits. An attacker who finds `r` from `x`, or writes one `x` as a product of solved ones, skips the squarings, of
 * which there are 2^14 to 2^20. By collisions (rho, kangaroo) that takes 2^40 multiplications, and for a million
 * challenges of a day together 2^30 each: thousands of times what solving costs. A precomputed table costs even more,
 * and the base changes every day and is never published. Each byte less would save the service two multiplications.
 */
const EXPONENT_BYTES = 10;
/** Levels whose tables are kept, 0.7 MB each. The sites of one deployment use few. */
const TABLES_MAX = 6;

type Comb = readonly bigint[];

export class RswMinter {
  readonly day: number;
  /** Big-endian, and as a challenge carries it. */
  readonly modulus: Bytes;
  readonly modulusText: string;
  readonly #key: RswKey;
  readonly #generator: Comb;
  readonly #levels = new Map<number, Comb>();

  constructor(key: RswKey) {
    this.day = key.day;
    this.#key = key;
    this.modulus = toBytes(key.modulus, RSW_MODULUS_BYTES);
    this.modulusText = encodeBase64url(this.modulus);
    this.#generator = makeComb(key.generator, key.modulus);
  }

  mint(level: number): { t: number; x: Bytes; y: Bytes } {
    const comb = this.#comb(level);
    const r = crypto.getRandomValues(new Uint8Array(EXPONENT_BYTES));
    const { modulus } = this.#key;
    return {
      t: squaringsOf(level),
      x: toBytes(raise(this.#generator, r, modulus), RSW_MODULUS_BYTES),
      y: toBytes(raise(comb, r, modulus), RSW_MODULUS_BYTES),
    };
  }

  #comb(level: number): Comb {
    const kept = this.#levels.get(level);
    if (kept !== undefined) return kept;
    const base = this.#key.levels[level];
    if (base === undefined) throw new RangeError(`no level ${level}`);
    const oldest = this.#levels.size >= TABLES_MAX ? this.#levels.keys().next().value : undefined;
    if (oldest !== undefined) this.#levels.delete(oldest);
    const made = makeComb(base, this.#key.modulus);
    this.#levels.set(level, made);
    return made;
  }
}

function makeComb(base: bigint, modulus: bigint): Comb {
  const table: bigint[] = [];
  let unit = base;
  for (let position = 0; position < EXPONENT_BYTES; position++) {
    let value = 1n;
    for (let byte = 0; byte < 256; byte++) {
      table.push(value);
      value = (value * unit) % modulus;
    }
    unit = value;
  }
  return table;
}

function raise(comb: Comb, exponent: Bytes, modulus: bigint): bigint {
  let value = comb[exponent[0]!]!;
  for (let position = 1; position < EXPONENT_BYTES; position++) {
    value = (value * comb[position * 256 + exponent[position]!]!) % modulus;
  }
  return value;
}
