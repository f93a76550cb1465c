/**
 * A trained model against the recordings. The network says for each moment whether a zero, a one, … is in the middle of
 * being said. It learns from recordings that it makes itself, with the product's own code and table of voices.
 */
import { AUDIO_SECONDS, drawAudioTask, sayDigits } from '../../../src/captcha/visual/audio/audio-task.ts';
import { SAMPLE_RATE, voices } from '../../../src/captcha/visual/audio/speech.ts';
import { AUDIO_DIGITS } from '../../../src/captcha/visual/derive-answer.ts';
import { drawRandom, type DrawRandom } from '../../../src/captcha/visual/draw-random.ts';
import type { AudioTask } from '../../../src/contract/captcha/challenge-api.ts';
import type { Attack } from '../attack.ts';
import { BANDS, HOP_SAMPLES, samplesOf, type Spectra, spectraOf } from '../audio/spectrum.ts';
import { type Batch, type LayerShape, Network, UNKNOWN } from './network.ts';
import { rateAt, type OnLoss } from './training.ts';

const DIGITS = 10;
/** From one moment of the output to the next: 40 ms. */
const STEP_FRAMES = 2;
const LAYERS: readonly LayerShape[] = [
  { channels: 48, kernel: [1, 5], stride: [1, 1] },
  { channels: 64, kernel: [1, 5], stride: [1, STEP_FRAMES] },
  { channels: 64, kernel: [1, 5], stride: [1, 1] },
  { channels: 64, kernel: [1, 5], stride: [1, 1] },
  { channels: DIGITS, kernel: [1, 1], stride: [1, 1] },
];
/** The middle of what the first moment looks at. */
const FIRST_FRAME = (4 + 4 + 8 + 8) / 2;
/** Energy of the quietest that counts, beside a recording's level. */
const FLOOR = 1e-3;

/** Recordings for each step of training. */
const RECORDINGS = 4;
/** Moments from the middle of a word within which it counts as said, and from which on it does not. */
const NEAR = 1.2;
const FAR = 3.5;
/** Moments between the middles of two words, at least. */
const APART = 6;

export function newSoundNetwork(random: DrawRandom): Network {
  return new Network(BANDS, LAYERS, random);
}

export function trainSoundNetwork(network: Network, random: DrawRandom, steps: number, onLoss: OnLoss): void {
  for (let step = 0; step < steps; step++) {
    const recordings = Array.from({ length: RECORDINGS }, () => recordingToLearn(random));
    const batch = batchOf(recordings.map(({ task }) => heard(task)));
    onLoss(network.learn(batch, ({ width }) => labelsOf(recordings, width), rateAt(step / steps)));
  }
}

/** `moments`: of each recording. */
function labelsOf(recordings: readonly Recording[], moments: number): Float32Array {
  const labels = new Float32Array(DIGITS * recordings.length * moments);
  for (const [index, { digits, middles }] of recordings.entries()) {
    for (const [word, digit] of digits.entries()) {
      for (let moment = 0; moment < moments; moment++) {
        const apart = Math.abs(moment - middles[word]!);
        if (apart < FAR) labels[(digit * recordings.length + index) * moments + moment] = apart < NEAR ? 1 : UNKNOWN;
      }
    }
  }
  return labels;
}

interface Recording {
  task: AudioTask;
  digits: number[];
  /** The moment in the middle of each word. */
  middles: number[];
}

/** The same randomness says the same words once more, which tells where they are. */
function recordingToLearn(random: DrawRandom): Recording {
  const digits = Array.from({ length: AUDIO_DIGITS }, () => random.bits() % DIGITS);
  const seed = new Uint8Array(16);
  random.noise(seed);
  const task = drawAudioTask(digits, drawRandom(seed));
  const again = drawRandom(seed);
  const voice = voices[Math.floor(again.next() * voices.length)]!;
  const places = sayDigits(new Float32Array(AUDIO_SECONDS * SAMPLE_RATE), digits, voice, again);
  const middles = places.map(
    ({ from, length }) => ((from + length / 2) / HOP_SAMPLES - FIRST_FRAME - 0.5) / STEP_FRAMES,
  );
  return { task, digits, middles };
}

export function soundAttack(network: Network): Attack<'audio'> {
  return {
    name: 'trained network',
    solve(task) {
      const { width, values } = network.run(batchOf([heard(task)]));
      const found: { moment: number; digit: number }[] = [];
      const likeliest = Array.from(values.keys()).toSorted((a, b) => values[b]! - values[a]!);
      for (const at of likeliest) {
        const [digit, moment] = [Math.floor(at / width), at % width];
        if (found.length < task.digits && found.every((word) => Math.abs(word.moment - moment) >= APART)) {
          found.push({ digit, moment });
        }
      }
      const inOrder = found.toSorted((a, b) => a.moment - b.moment);
      return { digits: inOrder.map(({ digit }) => digit).join('') };
    },
  };
}

/** The spectra of a recording beside its own mean. */
function heard(task: AudioTask): Spectra {
  const spectra = spectraOf(samplesOf(task), task.sampleRate, FLOOR);
  const mean = spectra.reduce((sum, frame) => sum + frame.reduce((all, value) => all + value, 0), 0);
  const usual = mean / (spectra.length * BANDS);
  return spectra.map((frame) => frame.map((value) => (value - usual) / 3));
}

function batchOf(recordings: readonly Spectra[]): Batch {
  const width = recordings[0]!.length;
  const values = new Float32Array(BANDS * recordings.length * width);
  for (const [index, spectra] of recordings.entries()) {
    for (const [frame, bands] of spectra.entries()) {
      for (const [band, value] of bands.entries()) values[(band * recordings.length + index) * width + frame] = value;
    }
  }
  return { channels: BANDS, count: recordings.length, height: 1, width, values };
}
