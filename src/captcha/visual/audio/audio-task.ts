/**
 * Makes the task that needs no eyes: four groups of one to five tones over noise, in a recording of fixed length. Pitch,
 * loudness, pace and noise differ every time. A person only has to count.
 */
import type { AudioTask } from '../../../contract/captcha/challenge-api.ts';
import { encodeBase64url } from '../../../bytes/base64url.ts';
import type { DrawRandom } from '../draw-random.ts';
import { AUDIO_GROUPS, AUDIO_TONES_MAX } from '../derive-answer.ts';

const SAMPLE_RATE = 8000;
/** Enough for four groups of five slow tones with their pauses. The rest is noise. */
export const AUDIO_SECONDS = 10;
const CENTRE = 128;

export function drawAudioTask(tones: readonly number[], random: DrawRandom): AudioTask {
  const samples = new Uint8Array(SAMPLE_RATE * AUDIO_SECONDS);
  const noise = random.between(4, 9);
  for (let index = 0; index < samples.length; index++) {
    samples[index] = CENTRE + ((random.bits() & 255) / 255 - 0.5) * 2 * noise;
  }
  let at = random.between(0.3, 0.6);
  for (const count of tones) {
    const pitch = random.between(350, 1100);
    for (let tone = 0; tone < count; tone++) {
      const seconds = random.between(0.11, 0.14);
      addTone(samples, random, at, seconds, pitch);
      at += seconds + random.between(0.13, 0.17);
    }
    at += random.between(0.6, 0.75);
  }
  return {
    samples: encodeBase64url(samples),
    sampleRate: SAMPLE_RATE,
    groups: AUDIO_GROUPS,
    most: AUDIO_TONES_MAX,
  };
}

function addTone(samples: Uint8Array, random: DrawRandom, at: number, seconds: number, pitch: number): void {
  const start = Math.round(at * SAMPLE_RATE);
  const length = Math.round(seconds * SAMPLE_RATE);
  const step = (2 * Math.PI * pitch * random.between(0.97, 1.03)) / SAMPLE_RATE;
  const loudness = random.between(55, 85);
  for (let index = 0; index < length && start + index < samples.length; index++) {
    // A soft start and end: a program counts clicks more easily than an ear does.
    const envelope = Math.min(1, index / 120, (length - index) / 120);
    const value = samples[start + index]! + Math.sin(index * step) * loudness * envelope;
    samples[start + index] = Math.min(255, Math.max(0, Math.round(value)));
  }
}
