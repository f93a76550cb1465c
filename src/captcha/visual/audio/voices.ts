/**
 * Plays notes in the sound of a voice. Three families: strings and reeds (a harmonic spectrum, with or without its
 * fundamental), bells (partials that are no multiples), and wind (a narrow band of noise). An ear follows the pitch of
 * all of them; a program has to find each in another way. The brightness of each note is drawn anew, so that the centre
 * of the spectrum does not follow the pitch.
 */
import type { DrawRandom } from '../draw-random.ts';
import type { Note } from './tunes.ts';

export const SAMPLE_RATE = 8000;
const TABLE = 512;
/** Pitch and loudness are computed once per block: 4 ms. */
const BLOCK = 32;
/** Below half the sample rate. */
const HIGHEST_HZ = 3700;
const sine = Float32Array.from({ length: TABLE }, (_, index) => Math.sin((2 * Math.PI * index) / TABLE));

/** The next sample of a voice at a frequency; `bright` of 0–1. */
type Sound = (hertz: number, bright: number) => number;

/** A place in the table, one sample later. A remainder would take longer than the rest of the sample. */
function turned(phase: number, hertz: number): number {
  const next = phase + (hertz * TABLE) / SAMPLE_RATE;
  return next < TABLE ? next : next - TABLE;
}

/** Decibels as a factor. */
export function decibels(value: number): number {
  return 10 ** (value / 20);
}

export function randomVoice(random: DrawRandom): Sound {
  const family = random.next();
  return family < 0.5 ? reed(random) : family < 0.75 ? bell(random) : wind(random);
}

/** A dull and a bright spectrum with their peaks at random harmonics. */
export function reed(random: DrawRandom): Sound {
  const harmonics = 4 + Math.floor(random.next() * 4);
  const fundamental = random.next() < 0.4 ? 0.15 : 1;
  const [dull, bright] = [
    spectrum(random, harmonics, 1, 2, fundamental),
    spectrum(random, harmonics, 2.5, 5, fundamental),
  ];
  let phase = 0;
  return (hertz, share) => {
    phase = turned(phase, hertz);
    const at = phase | 0;
    return dull[at]! * (1 - share) + bright[at]! * share;
  };
}

/** One period of unit power. */
function spectrum(random: DrawRandom, harmonics: number, low: number, high: number, fundamental: number): Float32Array {
  const peak = random.between(low, high);
  const period = new Float32Array(TABLE);
  let power = 0;
  for (let harmonic = 1; harmonic <= harmonics; harmonic++) {
    const gain = decibels(-3 * Math.abs(harmonic - peak) + random.between(-5, 5)) * (harmonic === 1 ? fundamental : 1);
    const offset = Math.floor(random.next() * TABLE);
    for (let at = 0; at < TABLE; at++) period[at] = period[at]! + gain * sine[(at * harmonic + offset) % TABLE]!;
    power += (gain * gain) / 2;
  }
  return period.map((value) => value / Math.sqrt(power));
}

function bell(random: DrawRandom): Sound {
  const first = random.between(1.35, 1.9);
  const second = first * random.between(1.3, 1.7);
  const ratios = [1, first, second, second * random.between(1.3, 1.6)];
  const gains = [1, random.between(0.3, 0.9), random.between(0.2, 0.6), random.between(0.1, 0.4)];
  const phases = [0, 0, 0, 0];
  return (hertz, bright) => {
    let value = 0;
    for (let partial = 0; partial < ratios.length; partial++) {
      const own = hertz * ratios[partial]!;
      if (own > HIGHEST_HZ) break;
      const phase = turned(phases[partial]!, own);
      phases[partial] = phase;
      value += gains[partial]! * (partial === 0 ? 1.2 - bright : 0.4 + bright) * sine[phase | 0]!;
    }
    return value * 1.2;
  };
}

/** White noise through a resonance that moves with the pitch. */
function wind(random: DrawRandom): Sound {
  const multiple = random.between(2, 3.5);
  const sharpness = random.between(12, 22);
  let before = 0;
  let earlier = 0;
  let tuned = -1;
  let radius = 0;
  let turn = 0;
  return (hertz) => {
    if (hertz !== tuned) {
      const angle = (2 * Math.PI * Math.min(HIGHEST_HZ, hertz * multiple)) / SAMPLE_RATE;
      radius = 1 - angle / (2 * sharpness);
      turn = 2 * Math.cos(angle);
      tuned = hertz;
    }
    const value = (random.next() * 2 - 1) * (1 - radius) + radius * (turn * before - radius * earlier);
    earlier = before;
    before = value;
    return value * 14;
  };
}

/** Adds the notes to the part. */
export function play(part: Float32Array, random: DrawRandom, notes: readonly Note[], sound: Sound, gain: number): void {
  const attack = random.between(0.01, 0.03) * SAMPLE_RATE;
  const release = random.between(0.03, 0.07) * SAMPLE_RATE;
  const wobbleStep = (2 * Math.PI * random.between(5.5, 8)) / SAMPLE_RATE;
  const fading = random.between(0, 4) / SAMPLE_RATE;
  for (const [index, note] of notes.entries()) {
    const start = Math.round(note.at * SAMPLE_RATE);
    const length = Math.round(note.seconds * SAMPLE_RATE);
    const goesOn = notes[index + 1]?.tied === true;
    const loudness = gain * (note.tied ? 1 : decibels(random.between(-2, 2)));
    const bright = random.next();
    let hertz = 0;
    for (let at = 0; at < length; at++) {
      if (at % BLOCK === 0) {
        const pitch = note.from + ((note.to - note.from) * at) / length + note.wobble * Math.sin(at * wobbleStep);
        hertz = 440 * 2 ** ((pitch - 69) / 12);
      }
      const value = sound(hertz, bright);
      const place = start + at;
      if (place < 0 || place >= part.length) continue;
      const rise = note.tied ? 1 : at / attack;
      const fall = goesOn ? 1 : (length - at) / release;
      part[place] = part[place]! + loudness * Math.min(1, rise, fall) * (1 - fading * at) * value;
    }
  }
}
