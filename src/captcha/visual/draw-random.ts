/**
 * Fast randomness for how a picture looks (sfc32, seeded from the system's generator): colours, angles, noise. What the
 * picture shows comes from `derive-answer.ts`, so nothing here needs to be secret.
 */
export interface DrawRandom {
  /** 0 ≤ value < 1. */
  next(): number;
  between(low: number, high: number): number;
  /** 32 random bits, for noise. */
  bits(): number;
}

export function drawRandom(): DrawRandom {
  const seed = crypto.getRandomValues(new Uint32Array(3));
  let a = seed[0]! | 0;
  let b = seed[1]! | 0;
  let c = seed[2]! | 0;
  let counter = 1;
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
