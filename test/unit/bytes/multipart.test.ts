import { expect, test } from 'vitest';
import { multipartParts } from '../../../src/bytes/multipart.ts';
import { expectRows } from '../../support/rows.ts';

const TYPE = 'multipart/form-data; boundary=XX';
const PARTS_MAX = 10;
const field = 'Content-Disposition: form-data; name="a"';

/** What a form holds: name and value of each part, a mark for files and for what parsers read differently; or the error. */
function read(body: string, contentType = TYPE, maxParts = PARTS_MAX): string[] | string {
  const bytes = new TextEncoder().encode(body);
  const parts = multipartParts(bytes, contentType, maxParts);
  if (!parts.ok) return parts.error;
  const textOf = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
  return parts.value.map(({ name, isFile, isAmbiguous, start, valueStart, valueEnd }) => {
    expect(textOf(start, start + 4)).toBe('--XX');
    return `${name}=${textOf(valueStart, valueEnd)}${isFile ? ' file' : ''}${isAmbiguous ? ' ambiguous' : ''}`;
  });
}
const form = (head: string, value = '1') => `--XX\r\n${head}\r\n\r\n${value}\r\n--XX--\r\n`;
const headersOf = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: 1`);
const parametersOf = (count: number) => Array.from({ length: count }, (_, index) => `; p${index}=1`);

test('the parts of a form are its names and values', () =>
  expectRows<[string, string, string[]]>(
    [
      ['one field', form(field), ['a=1']],
      ['an empty value', form(field, ''), ['a=']],
      ['a value of line breaks', form(field, '\r\n\r\n'), ['a=\r\n\r\n']],
      ['a value with the boundary within a line', form(field, 'x--XX'), ['a=x--XX']],
      ['a value with another boundary', form(field, '\r\n--XY'), ['a=\r\n--XY']],
      ['two fields of one name', `--XX\r\n${field}\r\n\r\n1\r\n--XX\r\n${field}\r\n\r\n2\r\n--XX--`, ['a=1', 'a=2']],
      ['a line break before the first boundary', `\r\n${form(field)}`, ['a=1']],
      ['spaces and tabs after a boundary', `--XX \t\r\n${field}\r\n\r\n1\r\n--XX-- \t\r\n`, ['a=1']],
      ['a file', form(`${field}; filename="x"`), ['a=1 file']],
      ['a file in another encoding only', form(`${field}; filename*=UTF-8''x`), ['a=1 file']],
      ['a name without quotes', form('content-disposition:form-data;name=a'), ['a=1']],
      ['a name in spaces and tabs', form('Content-Disposition: FORM-DATA \t; \tNAME \t= \t"a" \t; x=y'), ['a=1']],
      ['an empty name', form('Content-Disposition: form-data; name=""'), ['=1']],
      ['an escape in a name', form(String.raw`Content-Disposition: form-data; name="a\"b"`), ['a\\"b=1 ambiguous']],
      ['a transfer encoding that changes nothing', form(`${field}\r\nContent-Transfer-Encoding: 8BIT`), ['a=1']],
      ['a transfer encoding', form(`${field}\r\nContent-Transfer-Encoding: base64`), ['a=1 ambiguous']],
      ['sixteen headers', form([field, ...headersOf(15)].join('\r\n')), ['a=1']],
      ['eight parameters', form(field + parametersOf(7).join('')), ['a=1']],
      ['a head of 8 KiB', form(`${field}\r\nX: ${'x'.repeat(8192 - field.length - 9)}`), ['a=1']],
    ],
    ([, body, parts]) => {
      expect(read(body)).toEqual(parts);
    },
    ([why]) => why,
  ));

test('a form that two parsers could read differently is malformed', () =>
  expectRows(
    [
      ['nothing', ''],
      ['a text before the first boundary', `x\r\n${form(field)}`],
      ['no end', `--XX\r\n${field}\r\n\r\n1`],
      ['no value', `--XX\r\n${field}\r\n`],
      ['half an end', `--XX\r\n${field}\r\n\r\n1\r\n--XX-`],
      ['a text after the end', `${form(field)}x`],
      ['a text behind a boundary', `--XX x\r\n${field}\r\n\r\n1\r\n--XX--`],
      ['a bare line feed before a boundary', `--XX\r\n${field}\r\n\r\n1\n--XX--`],
      ['a bare line feed behind a boundary', `--XX\n${field}\r\n\r\n1\r\n--XX--`],
      ['a bare carriage return behind the head', `--XX\r\n${field}\r\n\r1\r\n--XX--`],
      ['a boundary directly behind the head', `--XX\r\n${field}\r\n\r\n--XX--`],
      ['bare line feeds around the head', `--XX\r\n${field}\n\n1\r\n--XX--`],
      ['a bare line feed within the head', form(`${field}\nX: y`)],
      ['a zero in the head', form(`${field}\r\nX: \0`)],
      ['a line without a name', form(`${field}\r\n: x`)],
      ['a line without a colon', form(`${field}\r\nX`)],
      ['a folded line', form(`${field};\r\n filename="x"`)],
      ['a header twice', form(`${field}\r\ncontent-disposition: form-data; name="b"`)],
      ['no disposition', form('X: y')],
      ['another disposition', form('Content-Disposition: attachment; name="a"')],
      ['no name', form('Content-Disposition: form-data; x="a"')],
      ['a name twice', form(`${field}; NAME="b"`)],
      ['a name in another encoding', form(`${field}; name*=UTF-8''b`)],
      ['a text behind the name', form(`${field} b`)],
      ['a parameter without a name', form(`${field}; ="b"`)],
      ['seventeen headers', form([field, ...headersOf(16)].join('\r\n'))],
      ['nine parameters', form(field + parametersOf(8).join(''))],
      ['a head above 8 KiB', form(`${field}\r\nX: ${'x'.repeat(8192 - field.length - 2)}`)],
    ],
    ([, body]) => {
      expect(read(body)).toBe('malformed');
    },
    ([why]) => why,
  ));

test('the boundary is the only one that the content type names', () =>
  expectRows(
    [
      ['multipart/form-data;boundary=XX', ['a=1']],
      ['multipart/form-data; BOUNDARY = "XX"; x=y', ['a=1']],
      ['multipart/form-data;  \tboundary=XX ;x=y', ['a=1']],
      ['multipart/form-data', 'malformed'],
      ['multipart/form-data; boundary=', 'malformed'],
      ['multipart/form-data; boundary=""', 'malformed'],
      ['multipart/form-data; boundary="XX', 'malformed'],
      ['multipart/form-data; boundary=XX"y', 'malformed'],
      ['multipart/form-data; boundary=XX; boundary=XX', 'malformed'],
      ['multipart/form-data; boundary=XX; boundary', 'malformed'],
      [`multipart/form-data; boundary=${'X'.repeat(71)}`, 'malformed'],
    ],
    ([contentType, parts]) => {
      expect(read(form(field), contentType)).toEqual(parts);
    },
  ));

test('a boundary that reads like a header does not end a head', () => {
  const type = 'multipart/form-data; boundary=XX:y';
  expect(read(`--XX:y\r\n${field}\r\n\r\n1\r\n--XX:y--`, type)).toEqual(['a=1']);
  expect(read(`--XX:y\r\n${field}\r\n--XX:y--`, type)).toBe('malformed');
});

test('a form may have as many parts as are allowed', () => {
  const body = `${`--XX\r\n${field}\r\n\r\n1\r\n`.repeat(2)}--XX--`;
  expect([read(body, TYPE, 2), read(body, TYPE, 1)]).toEqual([['a=1', 'a=1'], 'too-many-parts']);
});
