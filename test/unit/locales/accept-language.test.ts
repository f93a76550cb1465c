/** Which language a page is in, for real and for hostile `Accept-Language` headers. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isFirstChoice, pickLanguage } from '../../../src/locales/accept-language.ts';
import { pageLanguages } from '../../../src/locales/pages.generated.ts';
import { expectRows } from '../../support/rows.ts';

describe('the language of a page', () => {
  test('is the first translated one of Accept-Language', () =>
    expectRows(
      [
        ['de-AT,de;q=0.9,en;q=0.8', 'de'],
        ['en;q=0.5, fr;q=0.9', 'fr'],
        ['xx, iw', 'he'],
        ['iw-IL', 'he'],
        ['zh-Hant-TW', 'zh'],
        ['fr;q=0, de', 'de'],
        ['*', 'en'],
        ['und', 'en'],
        ['', 'en'],
        [null, 'en'],
        ['de;q=abc, it', 'it'],
        ['__proto__, constructor, toString', 'en'],
        ['\u0000\uffff;;;,,,', 'en'],
      ],
      ([header, tag]) => {
        expect(pickLanguage(header, pageLanguages).tag).toBe(tag);
      },
    ));

  test('is always one that has a translation', () => {
    const part = fc.constantFrom('de', 'fr-CA', 'xx', 'constructor', ';q=', '0.5', '1', ',', ' ', '-', '\u0000');
    fc.assert(
      fc.property(fc.string({ unit: part }), (header) => {
        expect(Object.keys(pageLanguages)).toContain(pickLanguage(header, pageLanguages).tag);
      }),
    );
  });
});

test('English is the first choice only where no other language comes before it', () =>
  expectRows(
    [
      [null, true],
      ['*', true],
      ['en', true],
      ['en-GB, de;q=0.9', true],
      ['de, en;q=0.9', false],
      ['de;q=0.5, en;q=0.9', true],
    ],
    ([header, expected]) => {
      expect(isFirstChoice('en', header)).toBe(expected);
    },
  ));
