/**
 * Synchronous HMAC-SHA256 (RFC 2104, FIPS 180-4) of a short text. WebCrypto's `sign` takes several times as long as
 * three blocks of SHA-256 in plain JavaScript, most of it to wait for the promise. The two blocks of the key are hashed
 * once. To compare secrets, use `same-secret.ts`.
 */
import { sha256Block, sha256Initial, sha256State, sha256Words } from './sha256.ts';

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

const encoder = new TextEncoder();
let buffer = new Uint8Array(1024);

export class HmacSha256 {
  readonly #inner: Int32Array;
  readonly #outer: Int32Array;

  /** @throws RangeError when the key is longer than a block. Keys of this project have 32 bytes. */
  constructor(key: Uint8Array) {
    if (key.length > BLOCK_BYTES) throw new RangeError('HMAC key longer than a block');
    this.#inner = padded(key, INNER_PAD);
    this.#outer = padded(key, OUTER_PAD);
  }

  /** The 32 bytes of the HMAC of the text in UTF-8. */
  sign(text: string): Uint8Array<ArrayBuffer> {
    // A UTF-16 unit has at most three bytes. The padding and the length need up to two blocks more.
    const room = text.length * 3 + 2 * BLOCK_BYTES;
    if (buffer.length < room) buffer = new Uint8Array(room);
    const { written } = encoder.encodeInto(text, buffer);
    digest(this.#inner, written);
    for (let word = 0; word < 8; word++) writeWord(word * 4, sha256State[word]!);
    digest(this.#outer, 32);
    const mac = new Uint8Array(32);
    for (let word = 0; word < 8; word++) {
      const value = sha256State[word]!;
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
  compress(sha256Initial, 0);
  return sha256State.slice();
}

/** Pads and hashes the `length` bytes at the start of the buffer, as the continuation of the hashed `key` block. */
function digest(key: Int32Array, length: number): void {
  const end = Math.ceil((length + 1 + LENGTH_BYTES) / BLOCK_BYTES) * BLOCK_BYTES;
  buffer[length] = 0x80;
  buffer.fill(0, length + 1, end);
  const bits = (length + BLOCK_BYTES) * 8;
  writeWord(end - 4, bits);
  for (let at = 0; at < end; at += BLOCK_BYTES) compress(at === 0 ? key : sha256State, at);
}

function writeWord(at: number, value: number): void {
  buffer[at] = value >>> 24;
  buffer[at + 1] = value >>> 16;
  buffer[at + 2] = value >>> 8;
  buffer[at + 3] = value;
}

/** Hashes the block at `at` of the buffer. */
function compress(before: Int32Array, at: number): void {
  for (let word = 0; word < BLOCK_BYTES / 4; word++) {
    const p = at + word * 4;
    sha256Words[word] = (buffer[p]! << 24) | (buffer[p + 1]! << 16) | (buffer[p + 2]! << 8) | buffer[p + 3]!;
  }
  sha256Block(before);
}
