/** Words of CEL, the language of Anubis's expressions. */
import { NotExpressible } from '../report.ts';
import type { Lexicon } from '../scan.ts';

const QUOTED = /(r?)("""|'''|"|')/y;
const ESCAPED = /\\(?:([\\"'`?])|([nrt])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))/y;
const control: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

export const celLexicon: Lexicon = {
  word: /[A-Za-z_][A-Za-z0-9_]*|\d+(?:\.\d+)?/y,
  signs: [
    '&&',
    '||',
    '==',
    '!=',
    '<=',
    '>=',
    '<',
    '>',
    '!',
    '(',
    ')',
    '{',
    '}',
    '[',
    ']',
    ',',
    '.',
    '?',
    ':',
    '+',
    '-',
    '*',
    '/',
    '%',
  ],
  textAt: (source, offset) => {
    QUOTED.lastIndex = offset;
    const [opening, raw, quote] = QUOTED.exec(source) ?? [];
    return opening === undefined || quote === undefined
      ? null
      : quotedText(source, offset + opening.length, quote, raw === 'r');
  },
};

function quotedText(source: string, start: number, quote: string, isRaw: boolean): ReturnType<Lexicon['textAt']> {
  let value = '';
  let at = start;
  while (!source.startsWith(quote, at)) {
    const char = source.charAt(at);
    if (char === '') throw new NotExpressible(`a text has no closing quote, from character ${start}`);
    if (isRaw || char !== '\\') {
      value += char;
      at += 1;
      continue;
    }
    ESCAPED.lastIndex = at;
    const [whole, sign, letter, ...codes] = ESCAPED.exec(source) ?? [];
    if (whole === undefined) throw new NotExpressible(`unknown escape at character ${at + 1}`);
    const code = codes.find((one) => one !== undefined);
    value += sign ?? (letter === undefined ? String.fromCharCode(Number.parseInt(code!, 16)) : control[letter]!);
    at += whole.length;
  }
  return { value, raw: source.slice(start, at), end: at + quote.length };
}
