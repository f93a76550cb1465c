/**
 * Makes the task that needs no eyes: three short recordings of tunes that overlap, in which the visitor counts those that
 * go up. No single number separates these tunes from the others, neither a level nor a band nor a moment: a program has
 * to find out what goes on in the sound. The recordings need no language and no samples of anybody's voice.
 */
import type { AudioTask } from '../../../contract/captcha/challenge-api.ts';
import { encodeLargeBase64url } from '../../../bytes/large-base64url.ts';
import type { DrawRandom } from '../draw-random.ts';
import { AUDIO_PARTS, AUDIO_RISING_MAX } from '../derive-answer.ts';
import { PART_SECONDS, composeMurmur, composePart } from './tunes.ts';
import { SAMPLE_RATE, decibels, play, randomVoice, reed } from './voices.ts';

export const AUDIO_SECONDS = PART_SECONDS * AUDIO_PARTS;
const MURMURS = 2;
/** Of a tune's level. */
const MURMUR_LEVEL = 0.2;
const NOISE_LEVEL = 0.12;
/** Silence, and the furthest that a sample goes from it. */
const CENTRE = 128;
const PEAK = 120;

/** `rising`: how many tunes of each part go up. */
export function drawAudioTask(rising: readonly number[], random: DrawRandom): AudioTask {
  const length = Math.round(PART_SECONDS * SAMPLE_RATE);
  const samples = new Uint8Array(length * rising.length);
  for (const [index, count] of rising.entries()) samples.set(drawPart(count, random, length), index * length);
  return {
    samples: encodeLargeBase64url(samples),
    sampleRate: SAMPLE_RATE,
    groups: rising.length,
    most: AUDIO_RISING_MAX,
  };
}

function drawPart(rising: number, random: DrawRandom, length: number): Uint8Array {
  const part = new Float32Array(length);
  for (const notes of composePart(rising, random)) {
    play(part, random, notes, randomVoice(random), decibels(random.between(-4, 0)));
  }
  for (let murmur = 0; murmur < MURMURS; murmur++) {
    play(part, random, composeMurmur(random), reed(random), MURMUR_LEVEL * decibels(random.between(-4, 2)));
  }
  addEcho(part, random);
  addNoise(part, random, NOISE_LEVEL);
  let peak = 0;
  for (const value of part) peak = Math.max(peak, Math.abs(value));
  const samples = new Uint8Array(length);
  for (let at = 0; at < length; at++) samples[at] = CENTRE + Math.round((part[at]! / peak) * PEAK);
  return samples;
}

/**
 * Echo paths of a small room (Schroeder's comb filters). An ear is used to a room's echo, and to noise that swells and
 * fades. A program loses the ends of notes in the echo, and finds beginnings in the noise where there are none.
 */
const ECHO_SECONDS = [0.029, 0.037, 0.041, 0.047] as const;
const ECHO_KEPT = 0.72;
const ECHO_GAIN = 0.25;
const NOISE_BANDS = 2;

function addEcho(part: Float32Array, random: DrawRandom): void {
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
function addNoise(part: Float32Array, random: DrawRandom, level: number): void {
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
