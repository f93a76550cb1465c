/** The bytes that a user agent is searched as. */
import { expect, test } from 'vitest';
import { foldCase, foldToBinary, foldedBytes } from '../../../src/rules/user-agent-fold.ts';
import { expectRows } from '../../support/rows.ts';

test('a text is folded to the UTF-8 bytes of its lower case, in every length that UTF-8 has', () =>
  expectRows<[text: string, folded: string]>(
    [
      ['', ''],
      ['GoogleBot/2.1 @[`{', 'googlebot/2.1 @[`{'],
      ['ÜBER \u0080 \u07ff', 'über \u0080 \u07ff'],
      ['\u0800 爬虫 \ud7ff', '\u0800 爬虫 \ud7ff'],
      // Behind the surrogates: private use, letters of full width, the last of three bytes.
      ['\ue000 ＢＯＴ \uffff', '\ue000 ｂｏｔ \uffff'],
      ['🤖 \u{10400} \u{10ffff}', '🤖 \u{10428} \u{10ffff}'],
      // It becomes two characters.
      ['\u0130', 'i\u0307'],
    ],
    ([text, folded]) => {
      const bytes = new TextEncoder().encode(folded);
      expect(foldCase(text)).toBe(folded);
      expect([...foldedBytes(text)]).toEqual([...bytes]);
      expect(foldToBinary(text)).toBe(String.fromCharCode(...bytes));
    },
  ));

test('half a surrogate pair becomes the replacement character', () => {
  const replaced = new TextEncoder().encode('a\ufffdb\ufffd\ufffd');
  expect([...foldedBytes('A\ud800B\udc00\udfff')]).toEqual([...replaced]);
  expect([...foldedBytes('A\ud7ffB\udbff\ud800')]).toEqual([...new TextEncoder().encode('a\ud7ffb\ufffd\ufffd')]);
});

test('a text of many chunks keeps all of its bytes', () => {
  const text = 'é'.repeat(5000);
  expect(Buffer.from(foldToBinary(text), 'latin1').toString()).toBe(text);
});
