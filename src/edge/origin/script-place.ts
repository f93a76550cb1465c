/**
 * Where a script belongs in a page, found in its first bytes: after the start of the head, or where a page without one
 * has its first element. Only what may stand before the head is read, as browsers do (HTML section 13.2.5), so nothing
 * in the page itself can mislead the search, however it is encoded, nested or left open.
 */
export type ScriptPlace = number | 'need-more' | 'no-document';

/** What a browser skips: white space, comments, the doctype, processing instructions. */
const SKIPPED = /[\t\n\f\r ]+|<!--(?:-?>|[^]*?--!?>)|<(?:\?|!(?!--))[^>]*>/y;
const TAG = /<(\/?[a-z][^\t\n\f\r />]*)(?=[\t\n\f\r />])/iy;
/** An attribute, or what stands between two. A value may hold what ends a tag elsewhere. */
const ATTRIBUTE =
  /[\t\n\f\r /]+|[^\t\n\f\r />][^\t\n\f\r />=]*(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"[^"]*"|'[^']*'|[^\t\n\f\r "'>][^\t\n\f\r >]*|(?=>))|(?![\t\n\f\r ]*=))/y;
/** The start of a tag or of something skipped that may go on. */
const UNFINISHED = /<(?:[!?][^]*|\/?[a-z]*)?$/iy;
const UTF8_MARK = '\xef\xbb\xbf';

/** `text`: the bytes of the page so far, one character for each. */
export function scriptPlace(text: string): ScriptPlace {
  if (UTF8_MARK.startsWith(text)) return 'need-more';
  let at = text.startsWith(UTF8_MARK) ? UTF8_MARK.length : 0;
  let isDocument = false;
  for (;;) {
    const skipped = matchAt(SKIPPED, text, at);
    if (skipped) {
      isDocument ||= /^<!doctype/i.test(skipped[0]);
      at += skipped[0].length;
      continue;
    }
    if (matchAt(UNFINISHED, text, at) || at === text.length) return 'need-more';
    const tag = matchAt(TAG, text, at);
    const name = tag?.[1]?.toLowerCase();
    if (!tag || (name !== 'html' && name !== 'head')) return isDocument || name === 'body' ? at : 'no-document';
    at += tag[0].length;
    for (let found; (found = matchAt(ATTRIBUTE, text, at));) at += found[0].length;
    if (text[at++] !== '>') return 'need-more';
    if (name === 'head') return at;
    isDocument = true;
  }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
