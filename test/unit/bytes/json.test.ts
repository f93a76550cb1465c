import { expect, test } from 'vitest';
import { isJsonObject, parseJson } from '../../../src/bytes/json.ts';
import { expectRows } from '../../support/rows.ts';

test('JSON is read from a text or from bytes, and what does not parse is null', () =>
  expectRows<[text: string, value: unknown]>(
    [
      ['{"a":[1]}', { a: [1] }],
      ['"é"', 'é'],
      ['null', null],
      ['{"a":', null],
      ['', null],
    ],
    ([text, value]) => {
      expect(parseJson(text)).toEqual(value);
      expect(parseJson(new TextEncoder().encode(text))).toEqual(value);
    },
  ));

test('nothing is null as well', () => {
  expect(parseJson(null)).toBeNull();
});

test('an object is neither null nor an array nor a plain value', () => {
  expect(isJsonObject({})).toBe(true);
  expect([null, [], 'a', 1, true, undefined].filter((value) => isJsonObject(value))).toEqual([]);
});
