/**
 * Text that a visitor chose, made safe to read: characters that hide, reorder or imitate others become visible. The
 * result is only ever a text node.
 */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u2028\u2029\u115f\u1160\u3164\uffa0]/gu;

/** Parts of the text: as it is, or the name of one hidden character. */
export interface TextPart {
  text: string;
  isHidden: boolean;
}

/** More characters than this are cut, so that one value cannot make a page slow. */
export const SHOWN_MAX_CHARS = 8192;

export function visibleParts(text: string): TextPart[] {
  const shown = text.slice(0, SHOWN_MAX_CHARS);
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of shown.matchAll(HIDDEN)) {
    if (match.index > end) parts.push({ text: shown.slice(end, match.index), isHidden: false });
    const code = match[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
    parts.push({ text: `U+${code}`, isHidden: true });
    end = match.index + match[0].length;
  }
  if (end < shown.length) parts.push({ text: shown.slice(end), isHidden: false });
  return parts;
}
