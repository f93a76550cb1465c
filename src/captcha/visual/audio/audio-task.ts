/**
 * Makes the task that needs no eyes: one voice says digits in English, over two quieter voices that say nothing (they
 * speak backwards) and noise that swells and fades. Voice, pitch, pace and pauses are drawn anew each time. A
 * person follows the loudest voice. A program that has the table of the voices reads nearly every recording: the work
 * before it is its price (docs/verification.md).
 */
import type { AudioTask } from '../../../contract/captcha/challenge-api.ts';
import { encodeLargeBase64url } from '../../../bytes/large-base64url.ts';
import type { DrawRandom } from '../draw-random.ts';
import { SAMPLE_RATE, speak, type Voice, voices } from './speech.ts';

/** Enough for any five digits at the slowest pace. All recordings are as long, so that the length says nothing. */
export const AUDIO_SECONDS = 6;
const PACE = [0.9, 1.1] as const;
/** Shortest silence before a digit, in shares of the longest. */
const PAUSE = [0.5, 1] as const;
/** Loudness of a background voice, as a share of the voice that says the digits. `NOISE_LEVEL` is the noise at its peak. */
const MURMUR_LEVEL = 0.25;
const MURMUR_SPEED = [0.8, 1.3] as const;
const NOISE_LEVEL = 0.3;
/** Silence, and the furthest that a sample goes from it. */
const CENTRE = 128;
const PEAK = 120;

export function drawAudioTask(digits: readonly number[], random: DrawRandom): AudioTask {
  const sound = new Float32Array(AUDIO_SECONDS * SAMPLE_RATE);
  const first = Math.floor(random.next() * voices.length);
  sayDigits(sound, digits, voices[first]!, random);
  for (const other of [1, 2]) murmur(sound, voices[(first + other) % voices.length]!, random);
  addNoise(sound, random);
  let peak = 0;
  for (let at = 0; at < sound.length; at++) peak = Math.max(peak, Math.abs(sound[at]!));
  const samples = new Uint8Array(sound.length);
  for (let at = 0; at < sound.length; at++) samples[at] = CENTRE + Math.round((sound[at]! / peak) * PEAK);
  return { samples: encodeLargeBase64url(samples), sampleRate: SAMPLE_RATE, digits: digits.length };
}

/**
 * The pauses share what the digits leave, so that nobody can tell where a digit begins. Returns the samples of each, which
 * a program that makes recordings to learn from needs (bench/solve).
 */
export function sayDigits(
  sound: Float32Array,
  digits: readonly number[],
  voice: Voice,
  random: DrawRandom,
): { from: number; length: number }[] {
  const hertz = random.between(...voice.pitch);
  const words = digits.map((digit) =>
    speak(digit, voice, { hertz: hertz * random.between(0.94, 1.06), pace: random.between(...PACE) }, random),
  );
  const pauses = Array.from({ length: words.length + 1 }, () => random.between(...PAUSE));
  const silence = words.reduce((left, word) => left - word.length, sound.length);
  const unit = silence / pauses.reduce((sum, pause) => sum + pause, 0);
  let at = 0;
  return words.map((word, index) => {
    const from = at + Math.floor(pauses[index]! * unit);
    at = from + add(sound, word, from);
    return { from, length: word.length };
  });
}

/** Speech without words: the same two again and again, backwards, each time at another speed. */
function murmur(sound: Float32Array, voice: Voice, random: DrawRandom): void {
  const words = [0, 1].map(() => {
    const manner = { hertz: random.between(...voice.pitch), pace: 1 };
    return speak(Math.floor(random.next() * 10), voice, manner, random).toReversed();
  });
  for (let from = -Math.floor(random.next() * SAMPLE_RATE); from < sound.length;) {
    const speed = random.between(...MURMUR_SPEED);
    from += add(sound, words[random.bits() & 1]!, from, { level: MURMUR_LEVEL, speed });
  }
}

/** Adds the word, whose beginning may lie before the sound's. Returns how many samples it lasts at that speed. */
function add(sound: Float32Array, word: Float32Array, from: number, { level = 1, speed = 1 } = {}): number {
  const length = Math.floor(word.length / speed);
  const end = Math.min(length, sound.length - from);
  for (let at = Math.max(0, -from); at < end; at++) sound[from + at]! += level * word[Math.floor(at * speed)]!;
  return length;
}

/** Noise that is as low as voices are, and swells by chance. */
function addNoise(sound: Float32Array, random: DrawRandom): void {
  let [low, swell, target, left] = [0, 0.5, 0, 0];
  for (let at = 0; at < sound.length; at++) {
    if (left-- <= 0) {
      left = random.between(0.1, 0.5) * SAMPLE_RATE;
      target = random.between(0.4, 1);
    }
    swell += (target - swell) * 0.001;
    low = 0.9 * low + (random.next() * 2 - 1);
    sound[at]! += NOISE_LEVEL * 0.75 * swell * low;
  }
}
