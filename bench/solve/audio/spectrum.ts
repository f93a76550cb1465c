/** Short-time spectra of a recording, by semitones: what every program against the recordings starts from. */
import { decodeBase64url } from '../../../src/bytes/base64url.ts';
import type { AudioTask } from '../../../src/contract/captcha/challenge-api.ts';

/** Samples of a window (80 ms) and of its transform. */
const WINDOW = 640;
const SIZE = 1024;
/** Seconds from one frame to the next. */
export const FRAME_SECONDS = 0.025;
/** The lowest pitch, in semitones as in MIDI, and how many rows there are above it. */
export const LOWEST = 43;
export const ROWS = 58;

/** Frames by rows. */
export type Grid = readonly Float32Array[];

/** The parts of a recording, as numbers from −1 to 1. */
export function partsOf(task: AudioTask): Float32Array[] {
  const bytes = decodeBase64url(task.samples) ?? new Uint8Array(0);
  const length = Math.floor(bytes.length / task.groups);
  return Array.from({ length: task.groups }, (_, part) =>
    Float32Array.from(bytes.subarray(part * length, (part + 1) * length), (sample) => (sample - 128) / 128),
  );
}

/** Magnitudes of the linear spectrum, frame by frame. */
export function magnitudes(samples: Float32Array, sampleRate: number): Grid {
  const hop = Math.round(FRAME_SECONDS * sampleRate);
  const frames: Float32Array[] = [];
  const real = new Float64Array(SIZE);
  const imaginary = new Float64Array(SIZE);
  for (let centre = 0; centre < samples.length; centre += hop) {
    real.fill(0);
    imaginary.fill(0);
    for (let at = 0; at < WINDOW; at++) {
      const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / (WINDOW - 1));
      real[at] = (samples[centre + at - WINDOW / 2] ?? 0) * window;
    }
    transform(real, imaginary);
    frames.push(Float32Array.from({ length: SIZE / 2 }, (_, bin) => Math.hypot(real[bin]!, imaginary[bin]!)));
  }
  return frames;
}

export function hertzOf(row: number): number {
  return 440 * 2 ** ((row + LOWEST - 69) / 12);
}

export function binOf(hertz: number, sampleRate: number): number {
  return (hertz * SIZE) / sampleRate;
}

/**
 * The spectrum by semitones, as logarithms above the usual level of each row and of each frame: steady noise and steady
 * tones are gone, what begins stands out.
 */
export function semitones(samples: Float32Array, sampleRate: number): Grid {
  const linear = magnitudes(samples, sampleRate);
  const rows = linear.map((frame) =>
    Float32Array.from({ length: ROWS }, (_, row) => {
      const low = Math.max(1, Math.floor(binOf(hertzOf(row - 0.5), sampleRate)));
      const high = Math.max(low, Math.ceil(binOf(hertzOf(row + 0.5), sampleRate)));
      let most = 0;
      for (let bin = low; bin <= high && bin < frame.length; bin++) most = Math.max(most, frame[bin]!);
      return Math.log(most + 0.01);
    }),
  );
  const usual = Array.from({ length: ROWS }, (_, row) => middle(rows.map((frame) => frame[row]!)));
  return rows.map((frame) => {
    const own = middle(frame.map((value, row) => value - usual[row]!));
    return frame.map((value, row) => Math.max(0, value - usual[row]! - own));
  });
}

function middle(values: ArrayLike<number>): number {
  const sorted = Float32Array.from(values).sort();
  return sorted[sorted.length >> 1] ?? 0;
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
