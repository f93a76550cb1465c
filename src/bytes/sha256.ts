/**
 * The compression of SHA-256 (FIPS 180-4) in plain JavaScript, synchronous: for the visitor's many tiny
 * hashes and for the edge's one short HMAC, which WebCrypto's way there and back would cost more
 * than the hashing. Its 72 constants are computed: as literals they would be most of the file's bytes.
 */
const ROUNDS = 64;
const roundConstants = new Int32Array(ROUNDS);
/** State before the first block. */
export const sha256Initial = new Int32Array(8);
/** State after the last block. One hash at a time: fixed places are what lets the machine reach them unchecked. */
export const sha256State = new Int32Array(8);
/** The block's 16 words, big-endian; the rest is the schedule's room. */
export const sha256Words = new Int32Array(ROUNDS);
fillConstants();

/** Fractional parts of roots of the first primes: square roots of eight, cube roots of 64. */
function fillConstants(): void {
  for (let candidate = 2, found = 0; found < ROUNDS; candidate++) {
    let prime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0) prime = false;
    if (!prime) continue;
    // Beyond the eighth a typed array takes no more.
    sha256Initial[found] = fraction(Math.sqrt(candidate));
    roundConstants[found++] = fraction(Math.cbrt(candidate));
  }
}

/** As 32 bits: a typed array keeps the lowest. */
function fraction(root: number): number {
  return (root % 1) * 0x100000000;
}

/** Takes the block in `sha256Words`, from the state before it to `sha256State`. The names are the standard's. */
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
