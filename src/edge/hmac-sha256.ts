/**
 * HMAC-SHA256 (RFC 2104, FIPS 180-4) of a short text, synchronously. WebCrypto's `sign` costs a
 * request several times what three blocks of SHA-256 cost in plain JavaScript, most of it on the way
 * there and back. The key's two blocks are digested once. Not for comparing secrets with.
 */

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

const K = new Int32Array([
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]);
const INITIAL = new Int32Array([
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]);
const schedule = new Int32Array(64);
const state = new Int32Array(8);
const encoder = new TextEncoder();
let buffer = new Uint8Array(1024);

export class HmacSha256 {
  readonly #inner: Int32Array;
  readonly #outer: Int32Array;

  /** @throws RangeError when the key is longer than a block; ours have 32 bytes. */
  constructor(key: Uint8Array) {
    if (key.length > BLOCK_BYTES) throw new RangeError('HMAC key longer than a block');
    this.#inner = padded(key, INNER_PAD);
    this.#outer = padded(key, OUTER_PAD);
  }

  /** 32 bytes, of the text in UTF-8. */
  sign(text: string): Uint8Array<ArrayBuffer> {
    // Three bytes at most for a UTF-16 unit; then the one bit, the length, and a block to round up to.
    const room = text.length * 3 + 2 * BLOCK_BYTES;
    if (buffer.length < room) buffer = new Uint8Array(room);
    const { written } = encoder.encodeInto(text, buffer);
    state.set(this.#inner);
    digest(written);
    for (let word = 0; word < 8; word++) writeWord(word * 4, state[word]!);
    state.set(this.#outer);
    digest(32);
    const mac = new Uint8Array(32);
    for (let word = 0; word < 8; word++) {
      const value = state[word]!;
      mac[word * 4] = value >>> 24;
      mac[word * 4 + 1] = value >>> 16;
      mac[word * 4 + 2] = value >>> 8;
      mac[word * 4 + 3] = value;
    }
    return mac;
  }
}

function padded(key: Uint8Array, pad: number): Int32Array {
  buffer.fill(pad, 0, BLOCK_BYTES);
  for (let index = 0; index < key.length; index++) buffer[index] = key[index]! ^ pad;
  state.set(INITIAL);
  compress(0);
  return state.slice();
}

/** Ends the message of `length` bytes at the front of the buffer, which a block of key preceded. */
function digest(length: number): void {
  const end = Math.ceil((length + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
  buffer[length] = 0x80;
  buffer.fill(0, length + 1, end);
  const bits = (length + BLOCK_BYTES) * 8;
  writeWord(end - 4, bits);
  for (let at = 0; at < end; at += BLOCK_BYTES) compress(at);
}

function writeWord(at: number, value: number): void {
  buffer[at] = value >>> 24;
  buffer[at + 1] = value >>> 16;
  buffer[at + 2] = value >>> 8;
  buffer[at + 3] = value;
}

/** One block of the buffer into the state. The names are the standard's. */
function compress(at: number): void {
  const w = schedule;
  for (let i = 0; i < 16; i++) {
    const p = at + i * 4;
    w[i] = (buffer[p]! << 24) | (buffer[p + 1]! << 16) | (buffer[p + 2]! << 8) | buffer[p + 3]!;
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!;
    const y = w[i - 2]!;
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16]! + s0 + w[i - 7]! + s1) | 0;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K[i]! + w[i]!) | 0;
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
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}
