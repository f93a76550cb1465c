/** Short-time spectra of sound in bands as wide as an ear's: what every program against the recordings starts from. */
import { decodeBase64url } from '../../../src/bytes/base64url.ts';
import type { AudioTask } from '../../../src/contract/captcha/challenge-api.ts';

/** Samples of a window (32 ms), which is also its transform. */
const SIZE = 512;
/** From one frame to the next: 20 ms. */
export const HOP_SAMPLES = 320;
export const BANDS = 26;
/** Centre frequencies of the lowest and the highest band. */
const HERTZ = [120, 6800] as const;

/** Frames by bands, logarithms of the energy. */
export type Spectra = readonly Float32Array[];

/** A recording as numbers from −1 to 1. */
export function samplesOf(task: AudioTask): Float32Array {
  const bytes = decodeBase64url(task.samples) ?? new Uint8Array(0);
  return Float32Array.from(bytes, (sample) => (sample - 128) / 128);
}

/** `floor`: the energy below which nothing is seen. */
export function spectraOf(samples: Float32Array, sampleRate: number, floor: number): Spectra {
  const edges = bandEdges(sampleRate);
  const spectra: Float32Array[] = [];
  const real = new Float64Array(SIZE);
  const imaginary = new Float64Array(SIZE);
  for (let from = 0; from + SIZE <= samples.length; from += HOP_SAMPLES) {
    imaginary.fill(0);
    for (let at = 0; at < SIZE; at++) {
      real[at] = samples[from + at]! * (0.5 - 0.5 * Math.cos((2 * Math.PI * at) / (SIZE - 1)));
    }
    transform(real, imaginary);
    spectra.push(
      Float32Array.from({ length: BANDS }, (_, band) => {
        let [energy, weights] = [0, 1e-9];
        for (let bin = Math.floor(edges[band]!) + 1; bin < edges[band + 2]!; bin++) {
          const share = Math.min(
            (bin - edges[band]!) / (edges[band + 1]! - edges[band]!),
            (edges[band + 2]! - bin) / (edges[band + 2]! - edges[band + 1]!),
          );
          energy += share * (real[bin]! ** 2 + imaginary[bin]! ** 2);
          weights += share;
        }
        return Math.log(energy / weights + floor);
      }),
    );
  }
  return spectra;
}

/** Bins of the transform between which the bands rise and fall, even on the mel scale. */
function bandEdges(sampleRate: number): number[] {
  const [low, high] = HERTZ.map((hertz) => Math.log1p(hertz / 700));
  return Array.from({ length: BANDS + 2 }, (_, edge) => {
    const hertz = 700 * Math.expm1(low! + ((high! - low!) * edge) / (BANDS + 1));
    return (hertz * SIZE) / sampleRate;
  });
}

/** Fast Fourier transform in place. */
function transform(real: Float64Array, imaginary: Float64Array): void {
  const count = real.length;
  for (let at = 1, other = 0; at < count; at++) {
    let bit = count >> 1;
    for (; (other & bit) !== 0; bit >>= 1) other ^= bit;
    other ^= bit;
    if (at < other) {
      [real[at], real[other]] = [real[other]!, real[at]!];
      [imaginary[at], imaginary[other]] = [imaginary[other]!, imaginary[at]!];
    }
  }
  for (let span = 2; span <= count; span <<= 1) {
    const half = span >> 1;
    for (let step = 0; step < half; step++) {
      const angle = (-2 * Math.PI * step) / span;
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      for (let at = step; at < count; at += span) {
        const other = at + half;
        const turnedReal = real[other]! * cos - imaginary[other]! * sin;
        const turnedImaginary = real[other]! * sin + imaginary[other]! * cos;
        real[other] = real[at]! - turnedReal;
        imaginary[other] = imaginary[at]! - turnedImaginary;
        real[at] = real[at]! + turnedReal;
        imaginary[at] = imaginary[at]! + turnedImaginary;
      }
    }
  }
}
