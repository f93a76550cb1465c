/** Values to offer while a condition is written: countries by name, beside the words that the fields have. */
import type { KnownValues } from './completions.ts';

const LETTERS = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
/** Groups of countries, and codes for trials. */
const NO_COUNTRY = /^(?:EU|EZ|QO|UN|X[AB]|ZZ)$/;
const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

let countries: (readonly [code: string, name: string])[] | null = null;

export const knownValues: KnownValues = (field) => {
  if (field !== 'country') return [];
  return (countries ??= [...countryCodes(), ['T1', 'Tor']]);
};

function countryCodes(): (readonly [string, string])[] {
  return LETTERS.flatMap((first) => LETTERS.map((second) => first + second)).flatMap((code) => {
    const name = names.of(code);
    // Codes that are no longer used are other codes by now.
    const isCurrent = new Intl.Locale(`und-${code}`).region === code && !NO_COUNTRY.test(code);
    return name === undefined || !isCurrent ? [] : [[code, name] as const];
  });
}
