/**
 * The room in which the tunes sound: its echo, and noise that swells and fades. An ear is used to both. A program loses
 * the ends of notes in the echo, and finds beginnings in the noise where there are none.
 */
import type { DrawRandom } from '../draw-random.ts';
import { SAMPLE_RATE } from './voices.ts';

/** Echo paths of a small room (Schroeder's comb filters). */
const ECHO_SECONDS = [0.029, 0.037, 0.041, 0.047] as const;
const ECHO_KEPT = 0.72;
const ECHO_GAIN = 0.25;
const NOISE_BANDS = 2;

export function addEcho(part: Float32Array, random: DrawRandom): void {
  const paths = ECHO_SECONDS.map((seconds) => ({
    line: new Float32Array(Math.round(seconds * random.between(0.85, 1.15) * SAMPLE_RATE)),
    at: 0,
    dull: 0,
  }));
  for (let index = 0; index < part.length; index++) {
    const dry = part[index]!;
    let echo = 0;
    for (const path of paths) {
      const value = path.line[path.at]!;
      path.dull = value * 0.7 + path.dull * 0.3;
      path.line[path.at] = dry + path.dull * ECHO_KEPT;
      if (++path.at === path.line.length) path.at = 0;
      echo += value;
    }
    part[index] = dry + ECHO_GAIN * echo;
  }
}

/** Bands of noise at random places of the spectrum, each with its own swell, over a steady hiss. */
export function addNoise(part: Float32Array, random: DrawRandom, level: number): void {
  for (let band = 0; band < NOISE_BANDS; band++) {
    const angle = (2 * Math.PI * 250 * 2 ** random.between(0, 3.4)) / SAMPLE_RATE;
    const width = Math.sin(angle) / (2 * random.between(1.2, 3));
    const gain = width / (1 + width);
    const [back1, back2] = [(2 * Math.cos(angle)) / (1 + width), (width - 1) / (1 + width)];
    let in1 = 0;
    let in2 = 0;
    let out1 = 0;
    let out2 = 0;
    let swell = 0;
    let target = 0;
    let left = 0;
    for (let index = 0; index < part.length; index++) {
      if (left-- <= 0) {
        left = random.between(0.08, 0.35) * SAMPLE_RATE;
        target = random.next() < 0.5 ? random.next() : 0.15;
      }
      swell += (target - swell) * 0.004;
      const white = random.next() * 2 - 1;
      const value = gain * (white - in2) + back1 * out1 + back2 * out2;
      in2 = in1;
      in1 = white;
      out2 = out1;
      out1 = value;
      part[index] = part[index]! + level * (5 * swell * value + 0.1 * white);
    }
  }
}
