/**
 * Makes the task that needs no eyes: three short recordings of tunes that overlap, in which the visitor counts those that
 * go up. No single number separates these tunes from the others, neither a level nor a band nor a moment: a program has
 * to find out what goes on in the sound. The recordings need no language and no samples of anybody's voice.
 */
import type { AudioTask } from '../../../contract/captcha/challenge-api.ts';
import { encodeLargeBase64url } from '../../../bytes/large-base64url.ts';
import type { DrawRandom } from '../draw-random.ts';
import { AUDIO_PARTS, AUDIO_RISING_MAX } from '../derive-answer.ts';
import { addEcho, addNoise } from './room.ts';
import { composeMurmur, composePart, PART_SECONDS } from './tunes.ts';
import { decibels, play, randomVoice, reed, SAMPLE_RATE } from './voices.ts';

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
