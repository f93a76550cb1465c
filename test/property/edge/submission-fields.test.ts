/** A field found in the bytes of a body is the field that parsing the whole body would find. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FieldName, urlencoded } from '../../../src/edge/submission/field-name.ts';
import { fieldPath, jsonMembers, urlencodedFields } from '../../../src/edge/submission/find-field.ts';
import { withoutJsonField, withoutUrlencodedField } from '../../../src/edge/submission/strip-field.ts';
import { expectRows } from '../../support/rows.ts';

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));
const textOf = (bytes: Uint8Array) => Buffer.from(bytes).toString();

const name = fc.constantFrom('a', 'token', '0', '2', 'captcha-response', 'b.c');
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('"', '\\', '\\"', '{"a":1}', ',', ']}', 'ü', '\u2028'),
);
/**
 * Names of fields, without backslashes. After `JSON.parse` in Node 24 (V8 13.6) has read a name with a backslash, it
 * can return that name for another escaped one, so it cannot serve as the oracle. workerd is not affected.
 */
const anyName = fc.oneof(
  name,
  text.filter((key) => !key.includes('\\')),
);
const document = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    fc.oneof(text, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(anyName, tie('value'), { maxKeys: 5 }),
  ),
})).value;
const indent = fc.constantFrom('', ' ', '\t', '\n');

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (holder, step) =>
      typeof holder === 'object' && holder !== null && Object.hasOwn(holder, step)
        ? (holder as Record<string, unknown>)[step]
        : undefined,
    value,
  );
}

describe('a JSON document', () => {
  test('holds at a path the value that JSON.parse finds there, however it is written', () => {
    fc.assert(
      fc.property(document, fc.array(name, { minLength: 1, maxLength: 3 }), indent, (value, path, space) => {
        const json = JSON.stringify(value, null, space);
        const body = bytesOf(space === '\n' ? `\n${json}\n` : json);
        const members = [...jsonMembers(body, fieldPath(path))];
        const expected = valueAt(JSON.parse(json), path);
        expect(members).toHaveLength(expected === undefined ? 0 : 1);
        for (const { valueStart, end } of members) {
          expect(JSON.parse(textOf(body.subarray(valueStart, end)))).toEqual(expected);
        }
      }),
    );
  });

  test('loses that field and nothing else', () => {
    fc.assert(
      fc.property(fc.dictionary(anyName, document, { maxKeys: 6 }), name, indent, (value, member, space) => {
        const json = JSON.stringify(value, null, space);
        const expected = JSON.parse(json) as Record<string, unknown>;
        delete expected[member];
        expect(JSON.parse(textOf(withoutJsonField(bytesOf(json), [member])))).toEqual(expected);
      }),
    );
  });

  test('with a field written twice holds the value that JSON.parse finds, and loses both', () => {
    const body = bytesOf('{ "t":"first", "a":1e400 , "t" : "last"\n}');
    const last = [...jsonMembers(body, fieldPath(['t']))].at(-1)!;
    expect(textOf(body.subarray(last.valueStart, last.end))).toBe('"last"');
    expect(textOf(withoutJsonField(body, ['t']))).toBe('{  "a":1e400 \n}');
    expect(textOf(withoutJsonField(bytesOf('{"t":1,"t":2}'), ['t']))).toBe('{}');
  });

  test('holds at a path each value that the path leads to', () =>
    expectRows(
      [
        ['{"a":{"t":1},"b":[{"t":2}],"a":{"x":[{}],"t":3}}', ['1', '3']],
        ['{"a":{"t":1},"a":4,"a":{"t":5,},"a":[{"t":6}]}', ['1', '5']],
        ['{"a":[{"t":1}],"a":{"a":{"t":2}},"a":{"t":{"t":3}} , "a" : { "t" : 4', ['{"t":3}', '4']],
        ['{"a":{"t":1,t:2},"a":{"t":"3" "t":4},"a":{"t" "t":5},"a":{"t":6}}', ['1', '"3"', '6']],
        ['{"a":{"t":1},x:{"a":{"t":2}}}', ['1']],
      ],
      ([json, values]) => {
        const body = bytesOf(json);
        const found = jsonMembers(body, fieldPath(['a', 't']));
        expect(found.map(({ valueStart, end }) => textOf(body.subarray(valueStart, end)).trim())).toEqual(values);
      },
    ));

  test.each([
    [String.raw`{"\\":1,"t":2,"\"":3}`, String.raw`{"\\":1,"\"":3}`],
    [String.raw`{"\\t":1,"\u0074":2,"t\\":3}`, String.raw`{"\\t":1,"t\\":3}`],
    [String.raw`{"\"t\"":1,"t":"\\","\\\"t":3}`, String.raw`{"\"t\"":1,"\\\"t":3}`],
  ])('with backslashes in its names, %s, loses only the field', (json, kept) => {
    expect(textOf(withoutJsonField(bytesOf(json), ['t']))).toBe(kept);
  });

  test('that is invalid never throws', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', ',', ':', '\\', 'a', '1', ' ') }),
        (broken) => {
          for (const { start, valueStart, end } of jsonMembers(bytesOf(broken), fieldPath(['a', '1']))) {
            expect(start <= valueStart && valueStart <= end && end <= broken.length).toBe(true);
          }
          withoutJsonField(bytesOf(broken), ['a']);
        },
      ),
    );
  });
});

describe('an urlencoded form', () => {
  /** With the leading `?` that URLSearchParams drops, so that it keeps one that belongs to the body. */
  const parsed = (body: string) => new URLSearchParams(`?${body}`);

  const piece = fc.oneof(
    name,
    fc.string({ maxLength: 4 }),
    fc.constantFrom('%', '%4', '+', '%2D', 'captcha%2dresponse'),
  );
  const form = fc
    .array(fc.tuple(piece, fc.option(piece)), { maxLength: 8 })
    .map((pairs) => pairs.map(([key, value]) => (value === null ? key : `${key}=${value}`)).join('&'));

  test('holds under a name the value that URLSearchParams finds there', () => {
    fc.assert(
      fc.property(form, name, (body, field) => {
        const bytes = bytesOf(body);
        const found = [...urlencodedFields(bytes, FieldName.exact(field))].map(({ valueStart, end }) =>
          new URLSearchParams(`v=${textOf(bytes.subarray(valueStart, end))}`).get('v'),
        );
        expect(found).toEqual(parsed(body).getAll(field));
      }),
    );
  });

  /** Without characters above ASCII: beside escapes that are no UTF-8, Node reads them wrong. */
  test('has the text of a value that URLSearchParams reads there', () => {
    const escape = fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
    const value = fc
      .array(fc.oneof(escape, piece, fc.constantFrom('%C3%A9', '%ef%bb%bf', '%F0%9F%98%80')))
      .map((pieces) => pieces.join('').replaceAll('&', ''));
    fc.assert(
      fc.property(value, (written) => {
        const bytes = bytesOf(`v=${written}`);
        expect(urlencoded.text(bytes, 2, bytes.length)).toBe(parsed(`v=${written}`).get('v'));
      }),
    );
  });

  test('has the text of a value in UTF-8, written as it is or with escapes', () => {
    const bytes = bytesOf('\ufeffé+%C3%A9%c3');
    expect(urlencoded.text(bytes, 0, bytes.length)).toBe('\ufeffé é\ufffd');
  });

  test('loses that name and nothing else', () => {
    fc.assert(
      fc.property(form, name, (body, field) => {
        const expected = [...parsed(body)].filter(([key]) => key !== field);
        const kept = textOf(withoutUrlencodedField(bytesOf(body), field));
        expect([...parsed(kept)]).toEqual(expected);
      }),
    );
  });
});
