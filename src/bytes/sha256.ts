/**
 * The compression function of SHA-256 (FIPS 180-4) in plain JavaScript, synchronous. It is for the many short hashes of
 * a proof of work and for the edge's short HMACs, where waiting for WebCrypto takes longer than hashing. The 72
 * constants are computed, because as literals they would be most of the file's size in the browser.
 */
const ROUNDS = 64;
const roundConstants = new Int32Array(ROUNDS);
/** The state before the first block. */
export const sha256Initial = new Int32Array(8);
/** The state after the last block. It is shared, so one hash is computed at a time: fixed arrays are fastest. */
export const sha256State = new Int32Array(8);
/** The 16 big-endian words of the block, followed by space for the message schedule. */
export const sha256Words = new Int32Array(ROUNDS);
fillConstants();

/** The fractional parts of the square roots of the first 8 primes and of the cube roots of the first 64. */
function fillConstants(): void {
  for (let candidate = 2, found = 0; found < ROUNDS; candidate++) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) prime = false;
    if (!prime) continue;
    // A typed array ignores writes beyond its end, here after the eighth prime.
    sha256Initial[found] = fraction(Math.sqrt(candidate));
    roundConstants[found++] = fraction(Math.cbrt(candidate));
  }
}

/** As 32 bits, which is what a typed array keeps. */
function fraction(root: number): number {
  return (root % 1) * 0x100000000;
}

/** Hashes the block in `sha256Words` from the state `before` into `sha256State`. Names are those of the standard. */
export function sha256Block(before: Int32Array): void {
  const w = sha256Words;
  for (let i = 16; i < ROUNDS; i++) {
    const x = w[i - 15]!;
    const y = w[i - 2]!;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
  }
  let a = before[0]!;
  let b = before[1]!;
  let c = before[2]!;
  let d = before[3]!;
  let e = before[4]!;
  let f = before[5]!;
  let g = before[6]!;
  let h = before[7]!;
  for (let i = 0; i < ROUNDS; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + roundConstants[i]! + w[i]!) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  sha256State[0] = before[0]! + a;
  sha256State[1] = before[1]! + b;
  sha256State[2] = before[2]! + c;
  sha256State[3] = before[3]! + d;
  sha256State[4] = before[4]! + e;
  sha256State[5] = before[5]! + f;
  sha256State[6] = before[6]! + g;
  sha256State[7] = before[7]! + h;
}
