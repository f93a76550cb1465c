/** Tokens as forms, frameworks and attackers send them. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readToken } from '../../../packages/server/src/verify/read-token.ts';
import { expectRows } from '../../support/rows.ts';

const longest = 'a'.repeat(131_072);

test('a token is read from a form’s field and from parsed JSON, and refused in any other form', () =>
  expectRows<[string, unknown, string | null]>(
    [
      ['the widget’s JSON', '{"token":"t"}', 't'],
      ['the bare token', 't', 't'],
      ['a parsed object', { token: 't' }, 't'],
      ['two fields, one of them empty', ['', '{"token":"t"}'], 't'],
      ['the longest token', longest, longest],
      ['nothing', undefined, null],
      ['null', null, null],
      ['an empty field', '', null],
      ['an empty token', '{"token":""}', null],
      ['a longer token', `${longest}a`, null],
      ['a megabyte', 'a'.repeat(1_000_000), null],
      ['a megabyte of JSON', `{"token":"${'a'.repeat(1_000_000)}"}`, null],
      ['half a character', '\ud800', null],
      ['half a character in JSON', '{"token":"t\\ud800"}', null],
      ['JSON that breaks off', '{"token":"t"', null],
      ['a token that is a list', { token: ['t'] }, null],
      ['a token that is an object', '{"token":{"token":"t"}}', null],
      ['an inherited token', Object.create({ token: 't' }), null],
      ['a token of __proto__', '{"__proto__":{"token":"t"}}', null],
      ['a file', new Blob(['t']), null],
      ['a number', 1, null],
      ['a function', () => 't', null],
      ['a token behind a hundred empty fields', [...Array<string>(100).fill(''), 't'], null],
    ],
    ([, value, token]) => {
      expect(readToken(value).token).toBe(token);
    },
  ));

test('anything at all is read without an error', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.json()), (value) => {
      const { token } = readToken(value);
      expect(token === null || (typeof token === 'string' && token !== '')).toBe(true);
    }),
  );
});
