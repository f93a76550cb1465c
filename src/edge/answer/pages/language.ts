/**
 * Picks the page's language from `Accept-Language` (RFC 9110 12.5.4): quality order, exact tag, then
 * its base language; anything malformed is skipped (a tag like `und` once crashed a peer), and with
 * nothing left the page speaks English.
 */
import type { PageLanguages, PageMessages } from '../../../locales/messages.ts';

/** Real headers hold a handful; a long one is not worth reading. */
const HEADER_MAX_CHARS = 256;
const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(['ar', 'he', 'fa']);
/** The code Java-based browsers still send for Hebrew. */
const aliases: Readonly<Record<string, string>> = { iw: 'he' };

export interface LocalisedMessages {
  language: { tag: string; direction: 'ltr' | 'rtl' };
  messages: PageMessages;
}

/** `languages` has English at least. */
export function pickLanguage(acceptLanguage: string | null, languages: PageLanguages): LocalisedMessages {
  const tag = wanted(acceptLanguage).find((candidate) => Object.hasOwn(languages, candidate)) ?? 'en';
  return {
    language: { tag, direction: RIGHT_TO_LEFT.has(tag) ? 'rtl' : 'ltr' },
    messages: languages[tag]!,
  };
}

/** Whether a page in `tag` is what they asked for, or at least nothing else was asked for. */
export function isFirstChoice(tag: string, acceptLanguage: string | null): boolean {
  const tags = wanted(acceptLanguage);
  return tags.length === 0 || tags[0] === tag || tags[1] === tag;
}

/** Lower-case tags, best first, each followed by its base language. */
function wanted(acceptLanguage: string | null): string[] {
  const ranges = (acceptLanguage ?? '').slice(0, HEADER_MAX_CHARS).toLowerCase().split(',');
  const ranked = ranges.flatMap((range) => {
    const match = /^\s*([a-z]{2,3})((?:-[a-z0-9]{1,8})*)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/.exec(range);
    if (match === null) return [];
    const quality = Number(match[3] ?? '1');
    return quality > 0 ? [{ base: match[1]!, rest: match[2]!, quality }] : [];
  });
  ranked.sort((a, b) => b.quality - a.quality);
  return ranked.flatMap(({ base, rest }) => {
    const known = aliases[base] ?? base;
    return rest === '' ? [known] : [known + rest, known];
  });
}
