/**
 * Speaks the English digits with a linear predictor, as telephones did: pulses or noise through a filter that follows the
 * frames of a word. Pitch and pace are free, so that no recording of a digit is ever the same as another. Where the
 * frames come from: `docs/decisions/0113-the-sound-task-says-digits.md`.
 */
import { decodeBase64url } from '../../../bytes/base64url.ts';
import type { DrawRandom } from '../draw-random.ts';
import spokenDigits from './spoken-digits.json' with { type: 'json' };

export const SAMPLE_RATE = 16_000;
/** Reflection coefficients of a frame. A byte for its level and one for how voiced it is follow. */
const ORDER = 16;
const FRAME_BYTES = ORDER + 2;
/** 20 ms at the pace of the original. */
const FRAME_SAMPLES = 320;
/** The filter is set anew after so many samples, between two frames. */
const STEP_SAMPLES = 40;
/** Undoes what the analysis did to the high tones. */
const EMPHASIS = 0.9;

export interface Voice {
  name: keyof typeof spokenDigits;
  /** Lowest and highest pitch at which it sounds natural, Hz. */
  pitch: readonly [number, number];
}

export const voices: readonly Voice[] = [
  { name: 'slt', pitch: [165, 230] },
  { name: 'rms', pitch: [85, 130] },
  { name: 'awb', pitch: [95, 145] },
];

/** The reflection that a byte means, kept below 1 so that the filter dies away. */
const REFLECTIONS = Float64Array.from(
  { length: 256 },
  (_, byte) => 0.995 * Math.sin(((byte - 128) / 127) * (Math.PI / 2)),
);

/** Samples of the digit at a level of 1 (root mean square). `pace`: 1 is that of the original. */
export function speak(
  digit: number,
  { name }: Voice,
  { hertz, pace }: { hertz: number; pace: number },
  random: DrawRandom,
): Float32Array {
  const frames = decodeBase64url(spokenDigits[name][digit]!)!;
  const last = frames.length / FRAME_BYTES - 2;
  const perFrame = FRAME_SAMPLES / pace;
  const samples = new Float32Array(Math.round((last + 1) * perFrame));
  const hiss = new Uint8Array(samples.length);
  random.noise(hiss);
  const reflections = new Float64Array(ORDER);
  const stages = new Float64Array(ORDER + 1);
  /** The pitch falls towards the end of a word. */
  const [high, low] = [random.between(1, 1.12), random.between(0.78, 0.95)];
  let phase = 1;
  let before = 0;
  let power = 0;
  for (let from = 0; from < samples.length; from += STEP_SAMPLES) {
    const frame = Math.min(last, Math.floor(from / perFrame));
    const share = from / perFrame - frame;
    const now = frame * FRAME_BYTES;
    const later = now + FRAME_BYTES;
    for (let stage = 0; stage < ORDER; stage++) {
      const [one, other] = [REFLECTIONS[frames[now + stage]!]!, REFLECTIONS[frames[later + stage]!]!];
      reflections[stage] = one + (other - one) * share;
    }
    const level = 10 ** ((frames[now + ORDER]! * (1 - share) + frames[later + ORDER]! * share) / 50);
    const voiced = (frames[now + ORDER + 1]! * (1 - share) + frames[later + ORDER + 1]! * share) / 255;
    const step = (hertz * (high + ((low - high) * from) / samples.length)) / SAMPLE_RATE;
    const pulse = level * voiced * Math.sqrt(SAMPLE_RATE / hertz);
    const breath = (level * (1 - 0.95 * voiced) * 1.7) / 127.5;
    const end = Math.min(samples.length, from + STEP_SAMPLES);
    for (let at = from; at < end; at++) {
      let value = breath * (hiss[at]! - 127.5);
      phase += step;
      if (phase >= 1) {
        phase -= 1;
        value += pulse;
      }
      for (let stage = ORDER - 1; stage >= 0; stage--) {
        const reflection = reflections[stage]!;
        value -= reflection * stages[stage]!;
        stages[stage + 1] = stages[stage]! + reflection * value;
      }
      stages[0] = value;
      before = value + EMPHASIS * before;
      samples[at] = before;
      power += before * before;
    }
  }
  const scale = 1 / Math.sqrt(power / samples.length);
  for (let at = 0; at < samples.length; at++) samples[at]! *= scale;
  return samples;
}
