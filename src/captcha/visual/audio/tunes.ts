/**
 * What a part of the recording plays: tunes that go up from low to high, among tunes that go down or stay. Every tune has
 * a contour of its own: a glide, a wobbling glide, two notes, a few notes, a run of many. What tells an ear that a tune
 * goes up is its course as a whole. Within a note the pitch droops or lifts by chance, so that the slopes of a
 * spectrogram say nothing, and nothing else follows from the direction: not register, timbre, level, length or place.
 */
import type { DrawRandom } from '../draw-random.ts';

/** Pitches in semitones; 69 is the A of 440 Hz. */
export interface Note {
  /** Seconds from the start of the part. */
  at: number;
  seconds: number;
  from: number;
  to: number;
  /** Half the width of a wobble, semitones. */
  wobble: number;
  /** Joined to the note before, without a new attack. */
  tied: boolean;
}

/** Seconds. */
export const PART_SECONDS = 4.2;
/** Tunes in a part. Four of them can go up, so that the number of tunes says nothing about the number that does. */
const TUNES_MIN = 4;
const TUNES_MAX = 6;
const TUNE_SECONDS = [0.62, 0.9] as const;
/** The first tune begins at once, and the last echo fades before the end. */
const FIRST_AT = 0.06;
const ECHO_SECONDS = 0.25;
/** From the first pitch to the last. Seven semitones, a fifth, is a step that everybody hears. */
const RISE = [7, 12] as const;
/** Pitches between 98 and 660 Hz: high enough for a small loudspeaker, low enough for old ears. */
const LOWEST = 43;
const HIGHEST = 76;
/** Tunes that overlap lie at least this far apart, so that an ear hears two and not one. */
const APART = 5;
/** Of the tunes that do not go up. */
const STAYING_SHARE = 0.4;
const DROOP_MAX = 1.2;

/** The notes of each tune of a part in which `rising` tunes go up. */
export function composePart(rising: number, random: DrawRandom): Note[][] {
  const count = TUNES_MIN + Math.floor(random.next() * (TUNES_MAX - TUNES_MIN + 1));
  const directions = Array.from({ length: count }, (_, index) =>
    index < rising ? 1 : random.next() < STAYING_SHARE ? 0 : -1,
  );
  shuffle(directions, random);
  const starts = startsOf(count, random);
  let before = -Infinity;
  return directions.map((direction, index) => {
    const rise = direction * random.between(RISE[0], RISE[1]);
    const middle = apartFrom(before, random);
    before = middle;
    const seconds = random.between(TUNE_SECONDS[0], TUNE_SECONDS[1]);
    return contour(random, starts[index]!, seconds, middle - rise / 2, middle + rise / 2);
  });
}

/** Uneven gaps, which leave no grid to cut the part by. */
function startsOf(count: number, random: DrawRandom): number[] {
  const gaps = Array.from({ length: count }, () => random.between(0.6, 1.4));
  const last = PART_SECONDS - ECHO_SECONDS - TUNE_SECONDS[1] - FIRST_AT;
  const scale = last / gaps.slice(1).reduce((sum, gap) => sum + gap, 0);
  let at = FIRST_AT;
  return gaps.map((gap, index) => (index === 0 ? at : (at += gap * scale)));
}

/** The middle of a tune's range. */
function apartFrom(other: number, random: DrawRandom): number {
  const reach = RISE[1] / 2;
  const middle = random.between(LOWEST + reach, HIGHEST - reach);
  if (Math.abs(middle - other) >= APART) return middle;
  return other > (LOWEST + HIGHEST) / 2 ? other - random.between(APART, 8) : other + random.between(APART, 8);
}

function contour(random: DrawRandom, at: number, seconds: number, from: number, to: number): Note[] {
  const form = Math.floor(random.next() * 5);
  if (form === 0) {
    const hold = seconds * random.between(0.15, 0.28);
    const glide = { wobble: 0, tied: true };
    return [
      { ...glide, at, seconds: hold, from, to: from, tied: false },
      { ...glide, at: at + hold, seconds: seconds - 2 * hold, from, to },
      { ...glide, at: at + seconds - hold, seconds: hold, from: to, to },
    ];
  }
  if (form === 1) return [{ at, seconds, from, to, wobble: random.between(1, 1.8), tied: false }];
  const count = form === 2 ? 2 : form === 3 ? 3 + Math.floor(random.next() * 2) : 5 + Math.floor(random.next() * 3);
  return staircase(random, at, seconds, from, to, count);
}

/** Notes of uneven length at uneven steps. A tune that stays repeats its note. */
function staircase(random: DrawRandom, at: number, seconds: number, from: number, to: number, count: number): Note[] {
  const lengths = shares(random, count, 0.7, 1.3);
  const steps = shares(random, count - 1, 0.6, 1.4);
  const droop = random.between(-DROOP_MAX, DROOP_MAX) / 2;
  let start = at;
  let pitch = from;
  return lengths.map((share, index) => {
    const note = {
      at: start,
      seconds: seconds * share,
      from: pitch - droop,
      to: pitch + droop,
      wobble: 0,
      tied: false,
    };
    start += seconds * share;
    pitch += from === to ? random.between(-0.5, 0.5) : (to - from) * (steps[index] ?? 0);
    return note;
  });
}

/** Numbers whose sum is 1. */
function shares(random: DrawRandom, count: number, low: number, high: number): number[] {
  const parts = Array.from({ length: count }, () => random.between(low, high));
  const sum = parts.reduce((total, part) => total + part, 0);
  return parts.map((part) => part / sum);
}

function shuffle(list: number[], random: DrawRandom): void {
  for (let index = list.length - 1; index > 0; index--) {
    const other = Math.floor(random.next() * (index + 1));
    [list[index], list[other]] = [list[other]!, list[index]!];
  }
}

/** Notes of a voice that wanders below the tunes, without beginning or end. */
export function composeMurmur(random: DrawRandom): Note[] {
  const notes: Note[] = [];
  let pitch = random.between(LOWEST, HIGHEST);
  for (let at = -random.between(0, 0.4); at < PART_SECONDS;) {
    const seconds = random.between(0.12, 0.4);
    const next = Math.min(HIGHEST, Math.max(LOWEST, pitch + random.between(-6, 6)));
    notes.push({ at, seconds, from: pitch, to: random.next() < 0.5 ? pitch : next, wobble: 0, tied: false });
    pitch = next;
    at += seconds + random.between(-0.05, 0.15);
  }
  return notes;
}
