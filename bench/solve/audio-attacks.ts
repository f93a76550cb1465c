/**
 * Programs against the recordings. They have the service's table of spoken digits, say each digit themselves without
 * noise, and look for the five places of a recording that are most like those words.
 */
import { SAMPLE_RATE, speak, voices } from '../../src/captcha/visual/audio/speech.ts';
import { drawRandom } from '../../src/captcha/visual/draw-random.ts';
import type { Attack } from './attack.ts';
import { type Likeness, correlated, bestWords, overBackground, type Template } from './audio/word-search.ts';
import { samplesOf, type Spectra, spectraOf } from './audio/spectrum.ts';

/** Energy of the quietest that counts, beside a recording's level. */
const FLOOR = 1e-3;
const PACES = [0.9, 1, 1.1] as const;

export const audioAttacks: readonly Attack<'audio'>[] = [
  { name: 'always the same digits', solve: ({ digits }) => ({ digits: '12345'.slice(0, digits) }) },
  searching('clean words, correlated', () => correlated),
  searching('clean words over background', overBackground),
];

function searching(name: string, likeness: (sound: Spectra) => Likeness): Attack<'audio'> {
  let templates: readonly (readonly Template[])[] = [];
  return {
    name,
    learn() {
      templates = voices.map((voice) => {
        const random = drawRandom(new Uint8Array(32).fill(1));
        return Array.from({ length: 10 }, (_, digit) => digit).flatMap((digit) =>
          PACES.map((pace) => {
            const hertz = (voice.pitch[0] + voice.pitch[1]) / 2;
            const samples = speak(digit, voice, { hertz, pace }, random);
            return { digit, spectra: spectraOf(samples, SAMPLE_RATE, FLOOR) };
          }),
        );
      });
    },
    solve(task) {
      const samples = samplesOf(task);
      const level = Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
      const spectra = spectraOf(
        samples.map((value) => value / level / 2),
        task.sampleRate,
        FLOOR,
      );
      return { digits: bestWords(spectra, templates, task.digits, likeness(spectra)).join('') };
    },
  };
}
