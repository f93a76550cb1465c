/**
 * Words of Cloudflare's Rules language. Names of fields have dots, and addresses, networks, ranges and lists (`$name`)
 * stand without quotes, so all of these are words here. `r"…"` and `r#"…"#` are texts without escapes.
 */
import type { Lexicon } from '../scan.ts';
import { NotExpressible } from '../report.ts';

const RAW_TEXT = /r(#{0,8})"/y;
const ESCAPED = /\\(?:x([0-9A-Fa-f]{2})|([0-7]{3})|(["\\]))/y;

export const cloudflareLexicon: Lexicon = {
  word: /[$A-Za-z0-9_:][$A-Za-z0-9_.:/]*(?:-[A-Za-z0-9_.]+)*/y,
  signs: ['&&', '||', '^^', '==', '!=', '<=', '>=', '<', '>', '~', '!', '(', ')', '{', '}', '[', ']', ',', '*', '&'],
  textAt: (source, offset) => {
    RAW_TEXT.lastIndex = offset;
    const raw = RAW_TEXT.exec(source);
    if (raw) return rawText(source, offset + raw[0].length, `"${raw[1]}`);
    return source.charAt(offset) === '"' ? quotedText(source, offset + 1) : null;
  },
};

function rawText(source: string, start: number, closing: string): ReturnType<Lexicon['textAt']> {
  const end = source.indexOf(closing, start);
  if (end < 0) throw new NotExpressible(`a text has no closing quote, from character ${start}`);
  const value = source.slice(start, end);
  return { value, raw: value, end: end + closing.length };
}

function quotedText(source: string, start: number): ReturnType<Lexicon['textAt']> {
  let value = '';
  let at = start;
  for (;;) {
    const char = source.charAt(at);
    if (char === '') throw new NotExpressible(`a text has no closing quote, from character ${start}`);
    if (char === '"') return { value, raw: source.slice(start, at), end: at + 1 };
    if (char !== '\\') {
      value += char;
      at += 1;
      continue;
    }
    ESCAPED.lastIndex = at;
    const [whole, hex, octal, sign] = ESCAPED.exec(source) ?? [];
    if (whole === undefined) {
      // Regular expressions have escapes of their own.
      value += source.slice(at, at + 2);
      at += 2;
    } else {
      value += sign ?? String.fromCharCode(hex === undefined ? Number.parseInt(octal!, 8) : Number.parseInt(hex, 16));
      at += whole.length;
    }
  }
}
