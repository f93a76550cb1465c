/**
 * Fast randomness for how a picture looks (sfc32): colours, angles, noise. The seed belongs to the round
 * (`lookSeed` in `derive-answer.ts`), so that a round that is sent again looks the same to the last bit. A program that
 * could collect several drawings of one answer would average their noise away.
 */
import type { Bytes } from '../../bytes/utf8.ts';

export interface DrawRandom {
  /** 0 ≤ value < 1. */
  next(): number;
  between(low: number, high: number): number;
  /** 32 random bits, for noise. */
  bits(): number;
  /** Writes the lowest byte of one `bits()` after the other, for a whole row of noise. */
  noise(into: Uint8Array): void;
}

/** `seed`: at least 16 bytes. */
export function drawRandom(seed: Bytes): DrawRandom {
  return new Sfc32(new DataView(seed.buffer, seed.byteOffset, seed.byteLength));
}

class Sfc32 implements DrawRandom {
  /** Three words and a counter. */
  readonly #state: Int32Array<ArrayBuffer>;

  constructor(seed: DataView) {
    this.#state = Int32Array.of(seed.getInt32(0), seed.getInt32(4), seed.getInt32(8), seed.getInt32(12));
    // The first outputs still depend visibly on the seed.
    for (let index = 0; index < 12; index++) this.bits();
  }

  bits(): number {
    return step(this.#state) >>> 0;
  }

  next(): number {
    return this.bits() / 0x1_0000_0000;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  noise(into: Uint8Array): void {
    const state = this.#state;
    for (let index = 0; index < into.length; index++) into[index] = step(state);
  }
}

/** The next 32 bits, signed. */
function step(state: Int32Array): number {
  // Each by itself: taken out of a list, they are boxed in workerd, and noise takes ten times as long.
  const a = state[0]!;
  const b = state[1]!;
  const c = state[2]!;
  const counter = state[3]!;
  const bits = (((a + b) | 0) + counter) | 0;
  state[3] = counter + 1;
  state[0] = b ^ (b >>> 9);
  state[1] = c + (c << 3);
  state[2] = ((c << 21) | (c >>> 11)) + bits;
  return bits;
}
