/**
 * What a hostile body costs, counted: how often its bytes are read, and how many texts are made of them. A time would
 * depend on the machine. Both must grow with the body at most, and the texts be few.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { multipartParts } from '../../../src/bytes/multipart.ts';
import { FieldName } from '../../../src/edge/submission/field-name.ts';
import { jsonMembers, urlencodedFields } from '../../../src/edge/submission/find-field.ts';
import { fieldTexts, UNREAD_TEXT } from '../../../src/edge/submission/form-users.ts';
import { bodyForOrigin, readSubmission, type SubmissionKind } from '../../../src/edge/submission/read-submission.ts';
import { expectRows } from '../../support/rows.ts';

const KIB = 1024;
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const MULTIPART = 'multipart/form-data; boundary=XX';
const LONG = 'a'.repeat(70);
const HEAD = '--XX\r\nContent-Disposition: form-data';
const part = (name: string) => `${HEAD}; name="${name}"\r\n\r\n\r\n`;

/** `unit` repeated between a beginning and an end. */
const shapes: [name: string, type: string, unit: string, before?: string, after?: string][] = [
  ['names with a broken escape', FORM, '%aaaaaaaaaaaaaaa&'],
  ['escaped names', FORM, '%65mai%6c2=1&'],
  ['names above ASCII', FORM, '%C3%A9=1&'],
  ['empty pairs', FORM, 'a&'],
  ['pairs of the user', FORM, 'email=a&'],
  ['pairs of the token', FORM, 'captcha-response=a&'],
  ['one long value', FORM, '%41', 'email='],
  ['one long name of spaces', FORM, '+'],
  ['parameters of a part', MULTIPART, '; a=b', HEAD, '\r\n\r\nx\r\n--XX--\r\n'],
  ['quotes in the name of a part', MULTIPART, String.raw`\"`, `${HEAD}; name="`, '"\r\n\r\nx\r\n--XX--\r\n'],
  ['parts', MULTIPART, part('a'), '', '--XX--\r\n'],
  ['parts with names above ASCII', MULTIPART, part('é'.repeat(300)), '', '--XX--\r\n'],
  ['parts with names of ligatures', MULTIPART, part('\ufdfa'.repeat(100)), '', '--XX--\r\n'],
  ['escapes in the names of parts', MULTIPART, part(String.raw`\a`.repeat(100)), '', '--XX--\r\n'],
  ['lines of a part', MULTIPART, '\r\n', `${HEAD}; name="a"\r\n\r\n`, '\r\n--XX--\r\n'],
  [
    'lines that are nearly a boundary',
    `multipart/form-data; boundary=${LONG}`,
    `\r\n--${LONG.slice(1)}`,
    `--${LONG}\r\nContent-Disposition: form-data; name="a"\r\n\r\n`,
  ],
  ['escaped names of JSON', JSON_TYPE, String.raw`"\u0065mai":1,`, '{', '"a":1}'],
  ['names of JSON above ASCII', JSON_TYPE, String.raw`"\u00e9":1,`, '{', '"a":1}'],
  ['empty names of JSON', JSON_TYPE, '"":0,', '{', '"a":1}'],
  ['quotes in a text of JSON', JSON_TYPE, String.raw`\"`, '{"a":"', '"}'],
  ['users of JSON', JSON_TYPE, '"email":0,', '{', '"a":1}'],
  ['tokens of JSON', JSON_TYPE, '"captcha-response":"",', '{', '"a":1}'],
  ['objects in objects', JSON_TYPE, '{"a":'],
  ['spaces of JSON', JSON_TYPE, ' "a" : 1 , ', '{', '"a":1}'],
  ['open brackets', JSON_TYPE, '['],
];

/** Of the texts that a reader may make, and of their characters, however large the body is. */
const TEXTS_MAX = 4500;
const CHARS_MAX = 3 * KIB * KIB;
const READS_PER_BYTE_MAX = 6;

function bodyOf(size: number, unit: string, before = '', after = ''): Uint8Array<ArrayBuffer> {
  const times = Math.floor((size - before.length - after.length) / unit.length);
  return new Uint8Array(Buffer.from(before + unit.repeat(times) + after));
}

/** The bytes, and how often one of them was read. */
function counted(bytes: Uint8Array<ArrayBuffer>): { body: Uint8Array<ArrayBuffer>; reads: () => number } {
  let reads = 0;
  const body = new Proxy(bytes, {
    get(target, key) {
      if (typeof key === 'string' && key <= '9') reads++;
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { body, reads: () => reads };
}

/** Spies on everything that makes a text of bytes, or changes one: how many there were, and how long. */
function countTexts(): () => { texts: number; chars: number } {
  vi.restoreAllMocks();
  const spies = [
    vi.spyOn(TextDecoder.prototype, 'decode'),
    vi.spyOn(String.prototype, 'normalize'),
    vi.spyOn(JSON, 'parse'),
    vi.spyOn(Response.prototype, 'formData'),
  ];
  return () => {
    const results: unknown[] = spies.flatMap(({ mock }) => mock.results.map(({ value }): unknown => value));
    const texts = results.filter((result) => typeof result === 'string');
    return { texts: results.length, chars: texts.reduce((sum, text) => sum + text.length, 0) };
  };
}

const settings = { tokenField: 'captcha-response', jsonPath: '', forwardToken: false };
const kinds: Record<string, SubmissionKind> = { [FORM]: 'urlencoded', [JSON_TYPE]: 'json' };
const readers: [name: string, read: (type: string, body: Uint8Array<ArrayBuffer>) => unknown][] = [
  [
    'the token of a challenged form',
    (type, body) => {
      const request = new Request('https://site.test/', {
        method: 'POST',
        headers: { 'content-type': type },
        body: '',
      });
      return readSubmission(
        request,
        settings,
        { take: () => true, lend: () => undefined, keep: () => undefined },
        body,
      );
    },
  ],
  ['the user of a limited form', (type, body) => fieldTexts(type, body, 'email')],
  ['the user at a long path', (type, body) => fieldTexts(type, body, 'a.'.repeat(16))],
  [
    'the form without its token',
    (contentType, body) =>
      bodyForOrigin({ kind: kinds[contentType] ?? 'multipart', contentType, body, token: null }, settings),
  ],
];

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(readers)('to read %s', (_, read) => {
  test('every shape costs a few passes over the bytes', () =>
    expectRows(
      shapes,
      async ([, type, ...shape]) => {
        const work = async (size: number) => {
          const { body, reads } = counted(bodyOf(size, ...shape));
          await read(type, body);
          return reads();
        };
        const half = await work(4 * KIB);
        const whole = await work(8 * KIB);
        expect(half).toBeLessThanOrEqual(READS_PER_BYTE_MAX * 4 * KIB);
        expect(whole).toBeLessThanOrEqual(Math.max(2.1 * half, KIB));
      },
      ([name]) => name,
    ));

  test('2 MiB of every shape make few texts', () =>
    expectRows(
      shapes,
      async ([, type, ...shape]) => {
        const body = bodyOf(2 * KIB * KIB, ...shape);
        const texts = countTexts();
        await read(type, body);
        expect(texts().texts).toBeLessThanOrEqual(TEXTS_MAX);
        expect(texts().chars).toBeLessThanOrEqual(CHARS_MAX);
      },
      ([name]) => name,
    ));
});

test('a user whose field stands behind more names above ASCII than are compared counts as one that cannot be read', () => {
  const pairs = `${'%C3%A9=1&'.repeat(2000)}%EF%BD%85mail=alice`;
  expect(fieldTexts(FORM, new Uint8Array(Buffer.from(pairs)), 'email')).toEqual([UNREAD_TEXT]);
  const few = '%C3%A9=1&%EF%BD%85mail=alice';
  expect(fieldTexts(FORM, new Uint8Array(Buffer.from(few)), 'email')).toEqual(['alice']);
});

test.each([
  [FORM, 'email=&', '', 'email=alice'],
  [JSON_TYPE, '"email":"",', '{', '"email":"alice"}'],
])('a field of %s that stands there more often than is counted cannot be read to its end', (type, ...shape) => {
  const texts = fieldTexts(type, bodyOf(4 * KIB * KIB, ...shape), 'email');
  expect(texts.at(-1)).toBe(UNREAD_TEXT);
  expect(texts).not.toContain('alice');
});

test('a field that stands there a hundred thousand times is found a thousand times', () => {
  const name = () => FieldName.loose('email');
  const pairs = bodyOf(KIB * KIB, 'email=&');
  const members = bodyOf(KIB * KIB, '"email":0,', '{', '"a":1}');
  expect(urlencodedFields(pairs, name())).toHaveLength(1000);
  expect(jsonMembers(members, [{ name: name(), place: null }])).toHaveLength(1000);
});

test('a form has its parts as a browser and as a library of a program write them', async () => {
  const data = new FormData();
  data.append('name', 'Ä "quoted"');
  data.append('file', new Blob(['\r\n--XX\r\n\0']), 'a b.txt');
  data.append('empty', '');
  const request = new Request('https://site.test/', { method: 'POST', body: data });
  const bytes = new Uint8Array(await request.arrayBuffer());
  const parts = multipartParts(bytes, request.headers.get('content-type')!, 10);
  expect(parts.ok && parts.value.map(({ name, isFile }) => [name, isFile])).toEqual([
    ['name', false],
    ['file', true],
    ['empty', false],
  ]);
  const values = parts.ok
    ? parts.value.map(({ valueStart, valueEnd }) => Buffer.from(bytes.subarray(valueStart, valueEnd)).toString())
    : [];
  expect(values).toEqual(['Ä "quoted"', '\r\n--XX\r\n\0', '']);
});

test.each([
  ['in base64', `${HEAD}; name="email"\r\nContent-Transfer-Encoding: base64\r\n\r\nYQ==\r\n--XX--`],
  ['with a backslash in its name', `${HEAD}; name="em\\ail"\r\n\r\na\r\n--XX--`],
  ['as a file', `${HEAD}; name="email"; filename="x"\r\n\r\na\r\n--XX--`],
])('a user %s cannot be read', (_, body) => {
  expect(fieldTexts(MULTIPART, new Uint8Array(Buffer.from(body)), 'email')).toEqual([UNREAD_TEXT]);
});
