/** JA4 fingerprints: their grammar, and that packing loses nothing. */
import { describe, expect, test } from 'vitest';
import { canonicalJa4, firstJa4Word, JA4_WORDS, packJa4, unpackJa4 } from '../../../src/address/ja4.ts';
import { expectRows } from '../../support/rows.ts';

const REAL = 't13d1516h2_8daaf6152771_02713d6af862';
const LOW = 'q00i000000_000000000000_000000000000';
const HIGH = 'd99d9999zz_ffffffffffff_ffffffffffff';

const packed = (text: string): string | null => {
  const words = new Uint32Array(JA4_WORDS + 1);
  return packJa4(text, words, 1) ? unpackJa4(words, 1) : null;
};

describe('the canonical form', () => {
  test('is the text in lower case', () =>
    expectRows(
      [REAL, LOW, HIGH, 'ts3d1516h2_8daaf6152771_02713d6af862', 'td1i1516h2_8daaf6152771_02713d6af862'],
      (text) => {
        expect(canonicalJa4(text.toUpperCase())).toBe(text);
      },
    ));

  test('does not exist for a malformed text', () =>
    expectRows<[string, string | null]>(
      [
        ['nothing', null],
        ['a character before it', `x${REAL}`],
        ['a character after it', `${REAL}x`],
        ['another transport', `x${REAL.slice(1)}`],
        ['a version that does not exist', REAL.replace('t13', 'td4')],
        ['another mark for the name', REAL.replace('13d', '13x')],
        ['letters in a number', REAL.replace('1516', '15x6')],
        ['a hash that is too short', REAL.replace('8d', '8')],
        ['a hash that is not hex', REAL.replace('8d', '8g')],
        ['the Kelvin sign', REAL.replace('h2', '\u212A2')],
      ],
      ([, text]) => {
        expect(canonicalJa4(text)).toBeNull();
      },
    ));
});

describe('packing', () => {
  test.each([REAL, LOW, HIGH])('%s loses nothing, in either case', (text) => {
    expect(packed(text)).toBe(text);
    expect(packed(text.toUpperCase())).toBe(text);
    const words = new Uint32Array(JA4_WORDS);
    packJa4(text, words);
    expect(firstJa4Word(text)).toBe(words[0]);
  });

  test('refuses any other character at any place, and any other length', () => {
    for (const replacement of ['-', '\u0080', '\u0100', '/', '{']) {
      for (let at = 0; at < REAL.length; at++) {
        const text = REAL.slice(0, at) + replacement + REAL.slice(at + 1);
        expect(packed(text), text).toBeNull();
        if (at >= 11 && at < 19) expect(firstJa4Word(text), text).toBe(-1);
      }
    }
    for (const at of [11, 16, 17, 22, 24, 29, 30, 35]) {
      expect(packed(`${REAL.slice(0, at)}g${REAL.slice(at + 1)}`)).toBeNull();
    }
    for (const text of ['', `${REAL}0`, REAL.slice(0, -1), REAL.replace('_', '0'), REAL.replace(/_(?=0)/, '0')]) {
      expect(packed(text), text).toBeNull();
    }
    expect([firstJa4Word(''), firstJa4Word(`${REAL}0`), firstJa4Word(REAL.replace('_8d', '_8g'))]).toEqual([
      -1, -1, -1,
    ]);
  });
});
