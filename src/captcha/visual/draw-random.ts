/**
 * Fast randomness for how a picture looks (sfc32): colours, angles, noise. The seed belongs to the round
 * (`lookSeed` in `derive-answer.ts`), so that a round that is sent again looks the same to the last bit. A program that
 * could collect several drawings of one answer would average their noise away.
 */
import type { Bytes } from '../seal/field-encoding.ts';

export interface DrawRandom {
  /** 0 ≤ value < 1. */
  next(): number;
  between(low: number, high: number): number;
  /** 32 random bits, for noise. */
  bits(): number;
}

/** `seed`: at least 16 bytes. */
export function drawRandom(seed: Bytes): DrawRandom {
  const view = new DataView(seed.buffer, seed.byteOffset, seed.byteLength);
  let a = view.getInt32(0);
  let b = view.getInt32(4);
  let c = view.getInt32(8);
  let counter = view.getInt32(12);
  const bits = (): number => {
    const t = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + t) | 0;
    return t >>> 0;
  };
  // The first outputs still depend visibly on the seed.
  for (let index = 0; index < 12; index++) bits();
  const next = (): number => bits() / 0x1_0000_0000;
  return { next, bits, between: (low, high) => low + next() * (high - low) };
}
