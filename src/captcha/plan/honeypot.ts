/**
 * A site's honeypot question in a code that form fillers do not read: Morse in dots and dashes, or semaphore as the
 * positions of two flags. The field itself is hidden from people.
 */
import type { SiteSettings } from '../../contract/management/site-settings.ts';

/** A name that form fillers recognise. */
export const HONEYPOT_FIELD = 'email_confirm';
const DEFAULT_QUESTION = 'What is your email?';

const MORSE =
  'a.- b-... c-.-. d-.. e. f..-. g--. h.... i.. j.--- k-.- l.-.. m-- n-. o--- p.--. q--.- r.-. s... t- u..- v...- w.-- x-..- y-.-- z--.. 0----- 1.---- 2..--- 3...-- 4....- 5..... 6-.... 7--... 8---.. 9----. ?..--..';
/** Two flags each, in eighths of a turn from straight down, clockwise. */
const SEMAPHORE =
  'a01 b02 c03 d04 e05 f06 g07 h12 i13 j46 k14 l15 m16 n17 o23 p24 q25 r26 s27 t34 u35 v47 w56 x57 y36 z67';

const tables = { morse: tableOf(MORSE), semaphore: tableOf(SEMAPHORE) };

export function honeypotOf(settings: SiteSettings): { name: string; question: string } | null {
  const { honeypot } = settings;
  if (honeypot?.enabled !== true) return null;
  const table = tables[honeypot.encodingType];
  const letters = Array.from((honeypot.question ?? DEFAULT_QUESTION).toLowerCase());
  // A space becomes a slash; a character without a code stays as it is.
  return {
    name: HONEYPOT_FIELD,
    question: letters.map((letter) => (letter === ' ' ? '/' : (table.get(letter) ?? letter))).join(' '),
  };
}

function tableOf(text: string): ReadonlyMap<string, string> {
  return new Map(text.split(' ').map((entry) => [entry[0]!, entry.slice(1)]));
}
