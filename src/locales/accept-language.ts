/**
 * Reads `Accept-Language` (RFC 9110, section 12.5.4): by quality, each tag before its base language. Malformed ranges
 * are skipped, so that no header can fail a request.
 */
import { type Localised, localised, tagsFor } from './language.ts';

/** Real headers name a handful of languages; reading more only costs time. */
const HEADER_MAX_CHARS = 256;
const RANGE = /^\s*([a-z]{2,3}(?:-[a-z0-9]{1,8})*)\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?$/;

/** The code that Java-based browsers still send for Hebrew. */
const OLD_HEBREW = /^iw\b/;

/** The best translation for this header. `languages` holds English at least. */
export function pickLanguage<Messages>(
  acceptLanguage: string | null,
  languages: Readonly<Record<string, Messages>>,
): Localised<Messages> {
  return localised(acceptedTags(acceptLanguage), languages);
}

/** Whether the visitor prefers `tag` to every other language, or names none. */
export function isFirstChoice(tag: string, acceptLanguage: string | null): boolean {
  const tags = acceptedTags(acceptLanguage);
  return tags.length === 0 || tags.slice(0, 2).includes(tag);
}

/** Lower-case tags, best first, each followed by its base language. */
function acceptedTags(acceptLanguage: string | null): string[] {
  const ranges = (acceptLanguage ?? '').slice(0, HEADER_MAX_CHARS).toLowerCase().split(',');
  const ranked = ranges.flatMap((range) => {
    const [, tag, quality = '1'] = RANGE.exec(range) ?? [];
    return tag === undefined || Number(quality) === 0 ? [] : [{ tag, quality: Number(quality) }];
  });
  return ranked.sort((a, b) => b.quality - a.quality).flatMap(({ tag }) => tagsFor(tag.replace(OLD_HEBREW, 'he')));
}
