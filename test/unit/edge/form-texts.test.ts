/** Which texts of a form's field count for limits by user: however origins write its name, and how often it stands there. */
import { describe, expect, test } from 'vitest';
import { UNREAD_TEXT, fieldTexts, urlencodedTexts } from '../../../src/edge/submission/form-users.ts';
import { expectRows } from '../../support/rows.ts';

const TIMES = 900;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
const forms: [type: string, body: (values: string[]) => string][] = [
  [FORM, (values) => values.map((value) => `email=${value}`).join('&')],
  [JSON_TYPE, (values) => `{${values.map((value) => `"email":"${value}"`).join(',')}}`],
];

describe.each(forms)('%s', (type, body) => {
  const read = (values: string[], field = 'email') => fieldTexts(type, bytesOf(body(values)), field);

  test('has every text of a field that stands there a few times', () => {
    expect(read(['a', 'b', 'c'])).toEqual(['a', 'b', 'c']);
    const twenty = Array.from({ length: 20 }, (_, at) => `v${at}`);
    expect(read(twenty)).toEqual(twenty);
    expect(read([])).toEqual([]);
  });

  test('has the first and the last texts of a field that stands there nine hundred times', () => {
    const texts = read(['first', ...Array.from({ length: TIMES }, () => ''), 'last']);
    expect(texts.at(0)).toBe('first');
    expect(texts.at(-1)).toBe('last');
    expect(texts.length).toBeLessThan(64);
  });
});

test('a field of a form is found in every spelling that a reader takes for its name', () =>
  expectRows(
    [
      ['%65mail=a&emai%6C=b&email2=c&e+mail=e&email%=f&email=g', ['a', 'b', 'g']],
      // ASP.NET and PHP.
      [
        'eMail=a&+email=b&%20%20EMAIL=c&email%00x=d&email%00%ff=e&email[]=f&email[x]=g',
        ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
      ],
      ['xemail=a&emails=b&email.x=c&email', ['']],
      [`${'+'.repeat(100)}email=a&email[${'x'.repeat(100)}=b`, ['a', 'b']],
    ],
    ([body, texts]) => {
      expect(fieldTexts(FORM, bytesOf(body), 'email')).toEqual(texts);
    },
  ));

test('the names that PHP makes of a field are the field, and so is a field with brackets', () => {
  const body = bytesOf('user.email=a&user+email=b&user_email=c&User%2eEmail=d&useremail=e&user[email]=f');
  expect(urlencodedTexts(body, 'user_email')).toEqual(['a', 'b', 'c', 'd']);
  expect(urlencodedTexts(body, 'user.email')).toEqual(['a', 'b', 'c', 'd']);
  expect(urlencodedTexts(body, 'user[email]')).toEqual(['f']);
  expect(urlencodedTexts(bytesOf('user[email=g&user[email]x=h'), 'user_email')).toEqual(['g']);
  expect(urlencodedTexts(bytesOf('user[email]x=h'), 'user[email]')).toEqual(['h']);
});

test('a field of JSON is found in every spelling that a reader takes for its name, whatever the type', () =>
  expectRows(
    [
      [String.raw`{"\u0065mail":"a","email\u0000":"b","Email":"c","emai":"d","email":"e"}`, ['a', 'b', 'c', 'e']],
      ['{"email":12345}', ['12345']],
      ['{"email":["a",7]}', ['a', '7']],
      ['\ufeff {"email":"a"}', ['a']],
    ],
    ([body, texts]) => {
      expect(fieldTexts(JSON_TYPE, bytesOf(body), 'email')).toEqual(texts);
      expect(fieldTexts('text/plain', bytesOf(body), 'email')).toEqual(texts);
      expect(fieldTexts(FORM, bytesOf(body), 'email')).toEqual(texts);
    },
  ));

test('a value that is too long to read is the same for everybody', () => {
  const long = `{"email":"${' '.repeat(1_100_000)}a"}`;
  const texts = fieldTexts(JSON_TYPE, bytesOf(long), 'email');
  expect(texts).toEqual([UNREAD_TEXT]);
});

test('of a value that is no text, the names are told without an error', () =>
  expectRows(
    [
      ['an object', '{"toString":1}', [UNREAD_TEXT]],
      ['lists in lists', `${'['.repeat(4000)}${']'.repeat(4000)}`, [UNREAD_TEXT, UNREAD_TEXT]],
      ['a long list', `[${'1,'.repeat(200_000)}1]`, [UNREAD_TEXT]],
      ['a short list', '["a",{},"b"]', ['a', 'b']],
      ['nothing', 'null', [UNREAD_TEXT]],
    ],
    ([, value, texts]) => {
      expect(fieldTexts(JSON_TYPE, bytesOf(`{"email":${value}}`), 'email')).toEqual(texts);
    },
    ([name]) => name,
  ));

test('a field in letters that Go folds is the field', () => {
  expect(fieldTexts(JSON_TYPE, bytesOf('{"u\u017fer":"a"}'), 'user')).toEqual(['a']);
});

test('a path leads through objects in any letter case', () => {
  expect(fieldTexts(JSON_TYPE, bytesOf('{"User":{"EMAIL":"a"}}'), 'user.email')).toEqual(['a']);
});

const mark = 'b'.repeat(30);
const boundary = `multipart/form-data; boundary=${mark}`;
const part = (name: string, value: string) =>
  `--${mark}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

test('a multipart form has its field, and without its last boundary something that cannot be read', () => {
  const body = `${part('email', 'a')}${part('Email', 'b')}${part('email2', 'c')}`;
  expect(fieldTexts(boundary, bytesOf(`${body}--${mark}--`), 'email')).toEqual(['a', 'b']);
  expect(fieldTexts(boundary, bytesOf(body), 'email')).toEqual([UNREAD_TEXT]);
});

test('a body that a reader may decode otherwise is something that cannot be read', () =>
  expectRows(
    [
      ['UTF-16 with its mark', Buffer.from('\ufeff{"email":"a"}', 'utf16le')],
      ['UTF-16 without', Buffer.from('{"email":"a"}', 'utf16le')],
      ['UTF-16 that begins with a zero', Buffer.from('{"email":"a"}', 'utf16le').swap16()],
      ['no JSON', Buffer.from('/**/{"email":"a"}')],
    ],
    ([, body]) => {
      expect(fieldTexts(JSON_TYPE, new Uint8Array(body), 'email').at(0)).toBe(UNREAD_TEXT);
    },
  ));

test('a body that is no form names nobody', () => {
  expect(fieldTexts('image/png', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 0xff, 0xfe]), 'email')).toEqual([]);
  expect(fieldTexts(JSON_TYPE, new Uint8Array(), 'email')).toEqual([]);
  expect(fieldTexts(JSON_TYPE, bytesOf('{"other":1}'), 'email')).toEqual([]);
});
