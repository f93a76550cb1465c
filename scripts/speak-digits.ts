/**
 * Writes `src/captcha/visual/audio/spoken-digits.json`: the ten English digits in three voices, as frames of a linear
 * predictor, base64url. The programs flite and sox of Debian speak and resample them. The output is committed, so run
 * it only to change the words: `node scripts/speak-digits.ts`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const OUTPUT = 'src/captcha/visual/audio/spoken-digits.json';
const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
/** Names of Flite's voices from the CMU Arctic recordings: one woman and two men. */
const VOICES = ['slt', 'rms', 'awb'];
/** What the player of the frames in `src/captcha/visual/audio/speech.ts` expects. */
const SAMPLE_RATE = 16_000;
const FRAME_SAMPLES = 320;
const ORDER = 16;
const EMPHASIS = 0.9;

const WINDOW_SAMPLES = 480;
/** A pitch needs more samples than a spectrum. */
const PITCH_MARGIN = 120;
/** Samples from one pulse of a voice to the next: 62 to 400 Hz. */
const PERIODS = [40, 260] as const;
/** Silence at either end is quieter than the loudest frame by more than this. */
const QUIET_DB = -38;

function spoken(voice: string, word: string, folder: string): Float64Array {
  const [wave, raw] = [join(folder, 'word.wav'), join(folder, 'word.raw')];
  execFileSync('flite', ['-voice', voice, '-t', `${word}.`, '-o', wave]);
  execFileSync('sox', [wave, '-r', String(SAMPLE_RATE), '-t', 'raw', '-e', 'signed', '-b', '16', raw]);
  const bytes = readFileSync(raw);
  return Float64Array.from({ length: bytes.length / 2 }, (_, at) => bytes.readInt16LE(2 * at) / 0x8000);
}

function correlation(values: Float64Array, lag: number): number {
  let sum = 0;
  for (let at = lag; at < values.length; at++) sum += values[at]! * values[at - lag]!;
  return sum;
}

/** The recursion of Levinson and Durbin: reflection coefficients, and the energy that they do not predict. */
function predictor(values: Float64Array): { reflections: number[]; rest: number } {
  const correlations = Array.from({ length: ORDER + 1 }, (_, lag) => correlation(values, lag));
  let rest = correlations[0]! * 1.0001 + 1e-9;
  let weights = [1];
  const reflections: number[] = [];
  for (let order = 1; order <= ORDER; order++) {
    const sum = weights.reduce((total, weight, index) => total + weight * correlations[order - index]!, 0);
    const reflection = -sum / rest;
    const before = [...weights, 0];
    weights = before.map((weight, index) => weight + reflection * before[order - index]!);
    rest *= 1 - reflection * reflection;
    reflections.push(reflection);
  }
  return { reflections, rest };
}

/** 0 is a hiss, 1 a vowel: how alike the sound is to itself, one pulse later. */
function voicing(values: Float64Array): number {
  const energy = correlation(values, 0) + 1e-9;
  let best = 0;
  for (let period = PERIODS[0]; period <= PERIODS[1]; period++) {
    best = Math.max(best, correlation(values, period) / energy / (1 - period / values.length));
  }
  return Math.min(1, Math.max(0, (best - 0.3) / 0.4));
}

function framesOf(samples: Float64Array): Buffer {
  const sharp = samples.map((value, at) => value - EMPHASIS * (samples[at - 1] ?? 0));
  const frames: { bytes: number[]; db: number }[] = [];
  for (let start = 0; start + WINDOW_SAMPLES <= samples.length; start += FRAME_SAMPLES) {
    const end = start + WINDOW_SAMPLES;
    const { reflections, rest } = predictor(
      sharp
        .slice(start, end)
        .map((value, at) => value * (0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (WINDOW_SAMPLES - 1)))),
    );
    const restDb = 10 * Math.log10(rest / WINDOW_SAMPLES + 1e-10);
    frames.push({
      bytes: [
        ...reflections.map((value) => 128 + Math.round((Math.asin(value) / (Math.PI / 2)) * 127)),
        Math.min(255, Math.max(0, Math.round((restDb + 100) * 2.5))),
        Math.round(voicing(samples.slice(Math.max(0, start - PITCH_MARGIN), end + PITCH_MARGIN)) * 255),
      ],
      db: 10 * Math.log10(correlation(samples.slice(start, end), 0) / WINDOW_SAMPLES + 1e-10),
    });
  }
  const audible = Math.max(...frames.map(({ db }) => db)) + QUIET_DB;
  const first = frames.findIndex(({ db }) => db > audible);
  const last = frames.findLastIndex(({ db }) => db > audible);
  return Buffer.from(frames.slice(Math.max(0, first - 1), last + 2).flatMap(({ bytes }) => bytes));
}

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-digits-'));
const voices = VOICES.map((voice) => [
  voice,
  WORDS.map((word) => framesOf(spoken(voice, word, folder)).toString('base64url')),
]);
rmSync(folder, { recursive: true });
writeFileSync(OUTPUT, `${JSON.stringify(Object.fromEntries(voices), null, 2)}\n`);
