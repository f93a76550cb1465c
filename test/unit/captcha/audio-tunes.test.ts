/** Tunes of the recordings: what is drawn is what is counted, and nothing but their course tells them apart. */
import { describe, expect, test } from 'vitest';
import { composePart, type Note, PART_SECONDS } from '../../../src/captcha/visual/audio/tunes.ts';
import { drawRandom } from '../../../src/captcha/visual/draw-random.ts';

const random = drawRandom(new Uint8Array(32).fill(7));
const parts = [1, 2, 3, 4].flatMap((rising) =>
  Array.from({ length: 100 }, () => ({ rising, tunes: composePart(rising, random) })),
);
const tunes = parts.flatMap((part) => part.tunes);
const riseOf = (notes: readonly Note[]): number =>
  notes.at(-1)!.to + notes.at(-1)!.from - notes[0]!.from - notes[0]!.to;
/** In semitones, between the middles of the first and the last note. */
const rise = (notes: readonly Note[]): number =>
  notes.length === 1 ? notes[0]!.to - notes[0]!.from : riseOf(notes) / 2;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe('a part', () => {
  test('has as many rising tunes as its answer says, each by a fifth at least', () => {
    for (const part of parts) expect(part.tunes.filter((tune) => rise(tune) > 6.9)).toHaveLength(part.rising);
    for (const tune of tunes) expect(rise(tune) > 6.9 || rise(tune) < 2.5).toBe(true);
  });

  test('has four to six tunes, whatever its answer is', () => {
    for (const rising of [1, 2, 3, 4]) {
      const counts = parts.filter((part) => part.rising === rising).map((part) => part.tunes.length);
      expect(new Set(counts)).toEqual(new Set([4, 5, 6]));
      // The mean of a hundred has a standard deviation of 0.08.
      expect(Math.abs(mean(counts) - 5)).toBeLessThan(0.25);
    }
  });

  test('is over before it ends, and stays within the range of pitches', () => {
    for (const tune of tunes) {
      const last = tune.at(-1)!;
      expect(last.at + last.seconds).toBeLessThan(PART_SECONDS - 0.1);
      for (const { from, to, wobble } of tune) {
        expect(Math.min(from, to) - wobble).toBeGreaterThan(38);
        expect(Math.max(from, to) + wobble).toBeLessThan(82);
      }
    }
  });

  test('gives a rising tune no place, length or register of its own', () => {
    for (const trait of [
      (notes: readonly Note[]) => notes[0]!.at / PART_SECONDS,
      (notes: readonly Note[]) => notes.reduce((sum, { seconds }) => sum + seconds, 0),
      (notes: readonly Note[]) => mean(notes.map(({ from, to }) => (from + to) / 2)) / 60,
      (notes: readonly Note[]) => notes.length / 10,
      (notes: readonly Note[]) => mean(notes.map(({ wobble }) => wobble)),
    ]) {
      const [rising, others] = [true, false].map((wanted) =>
        tunes.filter((tune) => rise(tune) > 6.9 === wanted).map(trait),
      );
      expect(Math.abs(mean(rising!) - mean(others!))).toBeLessThan(0.06);
    }
  });
});
