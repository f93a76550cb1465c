/**
 * Programs against the recordings without training. The second has the service's table of spoken digits, says each digit
 * itself without noise, and looks for the five places of a recording that are most like those words.
 */
import { SAMPLE_RATE, speak, voices } from '../../src/captcha/visual/audio/speech.ts';
import { drawRandom } from '../../src/captcha/visual/draw-random.ts';
import type { Attack } from './attack.ts';
import { bestWords, overBackground, type Template } from './audio/word-search.ts';
import { samplesOf, spectraOf } from './audio/spectrum.ts';

/** Energy of the quietest that counts, beside a recording's level. */
const FLOOR = 1e-3;
const PACES = [0.9, 1, 1.1] as const;

export const audioAttacks: readonly Attack<'audio'>[] = [
  { name: 'always the same digits', solve: ({ digits }) => ({ digits: '12345'.slice(0, digits) }) },
  searching('clean words over background'),
];

function searching(name: string): Attack<'audio'> {
  let templates: readonly (readonly Template[])[] | undefined;
  return {
    name,
    solve(task) {
      const samples = samplesOf(task);
      const level = Math.sqrt(samples.reduce((sum, value) => sum + value * value, 0) / samples.length);
      const spectra = spectraOf(
        samples.map((value) => value / level / 2),
        task.sampleRate,
        FLOOR,
      );
      templates ??= spokenWords();
      return { digits: bestWords(spectra, templates, task.digits, overBackground(spectra)).join('') };
    },
  };
}

function spokenWords(): Template[][] {
  return voices.map((voice) => {
    const random = drawRandom(new Uint8Array(32).fill(1));
    return Array.from({ length: 10 }, (_, digit) => digit).flatMap((digit) =>
      PACES.map((pace) => {
        const hertz = (voice.pitch[0] + voice.pitch[1]) / 2;
        const samples = speak(digit, voice, { hertz, pace }, random);
        return { digit, spectra: spectraOf(samples, SAMPLE_RATE, FLOOR) };
      }),
    );
  });
}
