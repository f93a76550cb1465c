/** Finds the words of one voice in a recording: the likeness of each at each place, then the best places that do not overlap. */
import { BANDS, type Spectra } from './spectrum.ts';

export interface Template {
  digit: number;
  spectra: Spectra;
}

/** Standard deviation of a band from one saying of a word to the next, in natural logarithms of energy. */
const WORD_SPREAD = 1;
/** What one cell counts at most. */
const CELL_MAX = 4;

/** How like the template the sound is that begins at a frame. */
export type Likeness = (sound: Spectra, from: number, template: Spectra) => number;

/** `voices`: templates of each voice, of which one says everything. */
export function bestWords(
  sound: Spectra,
  voices: readonly (readonly Template[])[],
  count: number,
  likeness: Likeness,
): number[] {
  let best = { score: Number.NEGATIVE_INFINITY, digits: [] as number[] };
  for (const templates of voices) {
    // By words so far and by frame: the best score of that many words before the frame, and its digits.
    const before = Array.from({ length: count + 1 }, (_, words) =>
      Array.from({ length: sound.length + 1 }, () => ({
        score: words === 0 ? 0 : Number.NEGATIVE_INFINITY,
        digits: [] as number[],
      })),
    );
    for (let from = 0; from < sound.length; from++) {
      for (let words = 0; words <= count; words++) {
        const waiting = before[words]![from]!;
        if (waiting.score > before[words]![from + 1]!.score) before[words]![from + 1] = waiting;
      }
      for (const { digit, spectra } of templates) {
        const end = from + spectra.length;
        if (end > sound.length) continue;
        const like = likeness(sound, from, spectra);
        for (let words = 0; words < count; words++) {
          const { score, digits } = before[words]![from]!;
          if (score + like > before[words + 1]![end]!.score) {
            before[words + 1]![end] = { score: score + like, digits: [...digits, digit] };
          }
        }
      }
    }
    const found = before[count]![sound.length]!;
    if (found.score > best.score) best = found;
  }
  return best.digits;
}

/**
 * How much likelier the sound is with the word than without it. The louder of word and background is heard in each band.
 * The background of a band is what the recording has there at most times.
 */
export function overBackground(whole: Spectra): Likeness {
  const usual = Array.from({ length: BANDS }, (_, band) => {
    const sorted = Float32Array.from(whole, (frame) => frame[band]!).sort();
    const middle = sorted[Math.floor(sorted.length * 0.5)]!;
    const spread = (sorted[Math.floor(sorted.length * 0.75)]! - sorted[Math.floor(sorted.length * 0.25)]!) / 1.35;
    return { middle, spread: Math.max(spread, 0.5) };
  });
  return (sound, from, template) => {
    let sum = 0;
    for (let frame = 0; frame < template.length; frame++) {
      const [heard, known] = [sound[from + frame]!, template[frame]!];
      for (let band = 0; band < BANDS; band++) {
        const { middle, spread } = usual[band]!;
        const expected = known[band]!;
        if (expected < middle) continue;
        const background = ((heard[band]! - middle) / spread) ** 2;
        const word = ((heard[band]! - expected) / WORD_SPREAD) ** 2;
        sum += Math.max(-CELL_MAX, Math.min(CELL_MAX, (background - word) / 2 + Math.log(spread / WORD_SPREAD)));
      }
    }
    return sum;
  };
}
