/** What is offered while a condition is written. The parser agrees with all of it. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { completionsAt, withCompletion } from '../../../src/console/views/policies/completions.ts';
import { parseExpression } from '../../../src/policies/text/parse.ts';
import { expectRows } from '../../support/rows.ts';

/** `|` is the caret. */
function at(text: string) {
  const caret = text.indexOf('|');
  return completionsAt(text.replace('|', ''), caret);
}
const labels = (text: string) => at(text)?.options.map(({ label }) => label) ?? [];

describe('at the caret are offered', () => {
  test('the words that may stand there', () =>
    expectRows(
      [
        ['pa|', ['path', 'pathType']],
        ['path |', ['equals', 'in', 'startsWith', 'endsWith', 'contains', 'matches', 'exists']],
        ['path st|', ['startsWith']],
        ['asn |', ['equals', 'in', 'greaterThan', 'exists']],
        ['cookie|', ['cookie["…"]']],
        ['cookie |', ['["']],
        ['header["acc|', ['accept', 'accept-language']],
        ['bot["|', ['behaviour', 'proof']],
        ['bot["proof"] equals |', ['range', 'dns', 'signature', 'claimed', 'impostor']],
        ['method in ["P|', ['POST', 'PUT', 'PATCH']],
        ['country in ["germ|', ['DE – Germany']],
        ['country in ["DE"|', [',', ']']],
        ['country equals "DE" |', ['and', 'or']],
        ['(country equals "DE" |', ['and', 'or', ')']],
        ['country equals "DE" and (no|', ['not']],
        ['ip |', ['equals', 'in', 'ipIn', 'exists']],
        ['asn not |', ['equals', 'in', 'greaterThan', 'exists']],
        ['pathType != |', ['html', 'json']],
        // Nothing is known, or something is wrong before.
        ['path startsWith "|', []],
        ['paht |', []],
        ['path equals /a |', []],
        ['method startsWith "P|', []],
      ],
      ([text, expected]) => {
        expect(labels(text)).toEqual(expected);
      },
    ));

  test('countries by their codes, each once', () => {
    const codes = labels('country equals "|').map((label) => label.slice(0, 2));
    expect(codes).toContain('DE');
    expect(codes).toContain('T1');
    for (const code of ['DD', 'EU', 'UK', 'ZZ']) expect(codes).not.toContain(code);
    expect(new Set(codes).size).toBe(codes.length);
  });

  test('what continues the text when it is taken', () =>
    expectRows(
      [
        ['pa|th exists', 'path', 'path exists'],
        ['method equals "P|"', 'PUT', 'method equals "PUT" '],
        ['method in ["GET"|', ']', 'method in ["GET"] '],
        ['method equals "GET"|', 'and', 'method equals "GET" and '],
        ['path exists an|', 'and', 'path exists and '],
        ['header["|', 'origin', 'header["origin"] '],
      ],
      ([text, label, expected]) => {
        const found = at(text)!;
        const option = found.options.find((one) => one.label === label)!;
        const taken = withCompletion(text.replace('|', ''), found, option);
        expect(taken.text).toBe(expected);
        expect(taken.text.slice(0, taken.caret)).toBe(taken.text.slice(0, found.from) + option.insert);
      },
    ));
});

/** Where nothing is offered, somebody types. */
const typed: Record<string, string> = { ip: '"192.0.2.1"', asn: '64496', riskScore: '0.5', path: '"/a"' };

test('whatever is chosen, the parser goes on behind it', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(200), { minLength: 1, maxLength: 40 }), (choices) => {
      let text = '';
      for (const choice of choices) {
        const found = completionsAt(text, text.length);
        if (found === null) {
          const field = /([a-zA-Z]+)(?:\["[^"]*"\])? \w+ (?:\[[^\]]*)?$/.exec(text)?.[1] ?? '';
          text += text.endsWith('["') ? 'name"] ' : (typed[field] ?? '"word"');
        } else {
          text = withCompletion(text, found, found.options[choice % found.options.length]!).text;
        }
        const parsed = parseExpression(text);
        const isSoFarRight =
          parsed.ok ||
          parsed.error.message.endsWith('found the end') ||
          parsed.error.message.includes('no closing quote');
        // More than the bounds allow is refused at its place.
        if (!isSoFarRight && !/nested deeper|more than/.test(parsed.error.message)) {
          throw new Error(`${text}: ${parsed.error.message}`);
        }
      }
    }),
  );
});

test('a caret anywhere in any text offers what stands inside of the text', () => {
  const piece = fc.constantFrom(
    'path',
    'equals',
    '"a',
    '"',
    '[',
    ']',
    '(',
    ')',
    ' ',
    'in',
    'bot',
    ',',
    'and',
    '5',
    '\\',
    '/',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), fc.nat(60), (pieces, place) => {
      const text = pieces.join('');
      const caret = Math.min(place, text.length);
      const found = completionsAt(text, caret);
      if (found === null) return;
      expect(found.from).toBeLessThanOrEqual(caret);
      expect(found.to).toBeGreaterThanOrEqual(caret);
      expect(found.to).toBeLessThanOrEqual(text.length);
    }),
  );
});
