/**
 * The visitor's side of a proof of work: RSW squarings by BigInt, and the SHA-256 lane in plain JavaScript. It runs in
 * the widget's worker, in an iframe, or in slices on a main thread. It uses no WASM and no eval, so that it works under
 * the strictest CSP.
 */
import { decodeBase64url, encodeBase64url } from '../../bytes/base64url.ts';
import { decodeHex, encodeHex } from '../../bytes/hex.ts';
import { sha256Block, sha256Initial, sha256State, sha256Words } from '../../bytes/sha256.ts';

/** About 3 ms of work on a desktop core, 17 ms on a slow phone: smooth progress, quick cancel. */
const SQUARINGS_PER_SLICE = 2000;
/** The same idea for hashes: about 3 ms in plain JavaScript. */
const HASHES_PER_SLICE = 8000;

export interface RswTask {
  /** Modulus and base, big-endian base64url. */
  n: string;
  x: string;
  /** Number of squarings. */
  t: number;
}
export interface Sha256Task {
  /** 16 bytes per puzzle, concatenated, base64url. */
  salt: string;
  count: number;
  /** Leading zero bits that SHA-256(salt ‖ counter) needs, with the counter as 4 bytes big-endian. */
  bits: number;
}

/** Gives the event loop a turn between slices, so that a cancel or a repaint can run. */
type Yield = () => Promise<void>;
const nextTurn: Yield = () => new Promise((resolve) => setTimeout(resolve, 0));

/**
 * Returns `x^(2^t) mod n` in canonical form (exactly as many bytes as `n`), or `null` when cancelled. `onProgress` gets
 * 0–1, and the `x` of what is left, which has the same solution. `pause` runs between slices; a worker, which is
 * cancelled by termination, passes `null` and loses no time.
 */
export async function solveRsw(
  task: RswTask,
  onProgress?: (done: number, x: string) => void,
  isCancelled?: () => boolean,
  pause: Yield | null = nextTurn,
): Promise<string | null> {
  const modulusBytes = decodeBase64url(task.n);
  const base = decodeBase64url(task.x);
  if (modulusBytes === null || base === null || !(task.t > 0)) return null;
  const modulus = toBigInt(modulusBytes);
  let value = toBigInt(base);
  let x = '';
  for (let done = 0; done < task.t;) {
    const end = Math.min(task.t, done + SQUARINGS_PER_SLICE);
    for (; done < end; done++) value = (value * value) % modulus;
    x = encodeBase64url(toBytes(value, modulusBytes.length));
    onProgress?.(done / task.t, x);
    if (isCancelled?.() === true) return null;
    if (pause !== null && done < task.t) await pause();
  }
  return x;
}

/** Returns the counters as 4 bytes each, base64url, or `null` when cancelled or out of counters. */
export async function solveSha256(
  task: Sha256Task,
  onProgress?: (done: number) => void,
  isCancelled?: () => boolean,
  pause: Yield | null = nextTurn,
): Promise<string | null> {
  const salts = decodeBase64url(task.salt);
  if (salts === null || salts.length !== task.count * SALT_BYTES) return null;
  const counters = new Uint8Array(task.count * 4);
  const view = new DataView(counters.buffer);
  const block = new Uint8Array(SALT_BYTES + 4);
  let untilPause = HASHES_PER_SLICE;
  for (let puzzle = 0; puzzle < task.count; puzzle++) {
    block.set(salts.subarray(puzzle * SALT_BYTES, (puzzle + 1) * SALT_BYTES));
    let counter = 0;
    for (;;) {
      block[16] = counter >>> 24;
      block[17] = counter >>> 16;
      block[18] = counter >>> 8;
      block[19] = counter;
      if (leadingZeroBits(block) >= task.bits) break;
      if (++counter > 0xffffffff) return null;
      if (--untilPause === 0) {
        untilPause = HASHES_PER_SLICE;
        if (isCancelled?.() === true) return null;
        if (pause !== null) await pause();
      }
    }
    view.setUint32(puzzle * 4, counter);
    onProgress?.((puzzle + 1) / task.count);
  }
  return encodeBase64url(counters);
}

export function toBigInt(bytes: Uint8Array): bigint {
  return BigInt(`0x0${encodeHex(bytes)}`);
}

/** Big-endian, exactly `length` bytes; the value must fit. */
export function toBytes(value: bigint, length: number): Uint8Array<ArrayBuffer> {
  return decodeHex(
    value
      .toString(16)
      .padStart(length * 2, '0')
      .slice(0, length * 2),
  )!;
}

const SALT_BYTES = 16;

/** Leading zero bits, up to 32, of the SHA-256 of a 20-byte message. That is one block, so one compression. */
export function leadingZeroBits(message: Uint8Array): number {
  const w = sha256Words;
  for (let index = 0; index < 5; index++) {
    const at = index * 4;
    w[index] = (message[at]! << 24) | (message[at + 1]! << 16) | (message[at + 2]! << 8) | message[at + 3]!;
  }
  w[5] = 0x80000000 | 0;
  for (let index = 6; index < 15; index++) w[index] = 0;
  w[15] = 160;
  sha256Block(sha256Initial);
  return Math.clz32(sha256State[0]!);
}
