/** Forms to data, and what is kept of a body: the parsers against naive oracles. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { redactedBody } from '../../../src/service/operations/redacted-body.ts';
import { formObject } from '../../../src/service/http/body/form-object.ts';
import { parseWithSchema } from '../../../src/service/http/body/parse-with-schema.ts';
import { RateLimit } from '../../../src/service/http/rate-limit.ts';
import { expectRows } from '../../support/rows.ts';

type Data = string | Data[] | { [name: string]: Data };

/** Bracket names of nested data, as a browser library writes them. */
function fieldsOf(data: Data, name: string): [string, string][] {
  if (typeof data === 'string') return [[name, data]];
  const members = Array.isArray(data)
    ? data.map((item, index) => [String(index), item] as const)
    : Object.entries(data);
  return members.flatMap(([key, member]) => fieldsOf(member, name === '' ? key : `${name}[${key}]`));
}

const name = fc.stringMatching(/^[a-z][a-zA-Z]{0,8}$/);
const { data } = fc.letrec<{ data: Data }>((tie) => ({
  data: fc.oneof(
    { maxDepth: 4 },
    fc.string(),
    fc.array(tie('data'), { minLength: 1, maxLength: 4 }),
    fc.dictionary(name, tie('data'), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
  ),
}));

test('bracket names come back as the data they were written from, in any order', () => {
  fc.assert(
    fc.property(
      fc.dictionary(name, data, { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
      fc.infiniteStream(fc.nat()),
      (given, random) => {
        const fields = fieldsOf(given, '')
          .map((field) => ({ field, key: random.next().value }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ field }) => field);
        expect(formObject(fields)).toEqual({ ok: true, value: given });
      },
    ),
  );
});

test('any names and values make data or a refusal, and never touch a prototype', () => {
  const part = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', '[', ']', '[]', '[__proto__]', '0'));
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          fc.array(part, { maxLength: 4 }).map((parts) => parts.join('')),
          fc.string(),
        ),
      ),
      (fields) => {
        const read = formObject(fields);
        if (!read.ok) expect(read.error).toMatchObject({ kind: 'form-field-unreadable' });
        expect(Object.keys(Object.prototype)).toEqual([]);
      },
    ),
  );
});

test('a name that is given several times is a list, and never also a group', () => {
  const read = (text: string) => formObject(new URLSearchParams(text));
  expect(read('a=1&b=2&a=3&a=4&c[d]=5&c[d]=6')).toEqual({
    ok: true,
    value: { a: ['1', '3', '4'], b: '2', c: { d: ['5', '6'] } },
  });
  for (const mixed of ['a=1&a=2&a[]=3', 'a[]=3&a=1', 'a=1&a[b]=2']) expect(read(mixed).ok).toBe(false);
});

describe('a form against a schema', () => {
  const schema = z.strictObject({
    text: z.optional(z.string()),
    count: z.optional(z.int()),
    flag: z.optional(z.boolean()),
    either: z.optional(z.union([z.string(), z.int()])),
    list: z.optional(z.array(z.int())),
    inner: z.optional(z.strictObject({ on: z.boolean() })),
  });
  const parse = (value: Record<string, unknown>) => parseWithSchema(schema, { kind: 'form', value });

  test('is read by the types of the schema', () =>
    expectRows(
      [
        [{ text: '7' }, { text: '7' }],
        [{ count: '7' }, { count: 7 }],
        [{ flag: 'true' }, { flag: true }],
        [{ either: '7' }, { either: '7' }],
        [{ list: '[1,2]' }, { list: [1, 2] }],
        [{ list: ['1', '2'] }, { list: [1, 2] }],
        [{ list: '7' }, { list: [7] }],
        [{ inner: '{"on":false}' }, { inner: { on: false } }],
        [{ inner: { on: 'false' } }, { inner: { on: false } }],
      ],
      ([given, wanted]) => {
        expect(parse(given)).toEqual({ ok: true, value: wanted });
      },
    ));

  test('is refused at the field that its type does not allow', () =>
    expectRows(
      [
        [{ count: '' }, 'count'],
        [{ count: ' 7' }, 'count'],
        [{ count: '0x7' }, 'count'],
        [{ flag: 'yes' }, 'flag'],
        [{ inner: '[true]' }, 'inner'],
        [{ inner: '{"__proto__":{"on":true}}' }, 'inner.on'],
        [{ list: '{"0":1}' }, 'list'],
        [{ text: ['a', 'b'] }, 'text'],
        [{ count: ['1', '2'] }, 'count'],
      ],
      ([given, path]) => {
        const details = expect.arrayContaining([expect.objectContaining({ path })]);
        expect(parse(given)).toEqual({ ok: false, error: { kind: 'body-mismatch', details } });
      },
    ));
});

describe('what an audit trail keeps', () => {
  test('leaves secrets out and shortens what is long', () => {
    expect(
      redactedBody({
        secretKey: 's',
        clientJwt: 'j',
        name: 'n'.repeat(300),
        list: Array.from({ length: 12 }, (_, i) => i),
      }),
    ).toEqual({
      secretKey: '[redacted]',
      clientJwt: '[redacted]',
      name: `${'n'.repeat(256)}…`,
      list: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, '… 12 in all'],
    });
  });

  test('is small, whatever was sent', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
        expect(JSON.stringify(redactedBody(value) ?? null).length).toBeLessThan(1_000_000);
      }),
    );
  });
});

test('a key over its limit learns when to come back, and another key is not affected', () => {
  const limit = new RateLimit(3, 'Too many calls');
  const nowMs = 1_800_000_000_000;
  for (let call = 0; call < 3; call++) expect(limit.take('a', nowMs)).toBeNull();
  expect(limit.take('a', nowMs)).toEqual({ kind: 'rate-limited', what: 'Too many calls', retryAfterSeconds: 60 });
  expect(limit.take('b', nowMs)).toBeNull();
  expect(limit.take('a', nowMs + 60_000)).toBeNull();
});

describe('a limit of networks', () => {
  const nowMs = 1_800_000_000_000;
  const taken = (limit: RateLimit, calls: number, ipAt: (call: number) => string): number =>
    Array.from({ length: calls }, (_, call) => limit.takeIn('site', ipAt(call), nowMs)).filter(
      (refused) => refused === null,
    ).length;

  test('is three times as high for a /56 and ten times as high for a /48 and a /16', () => {
    expect(taken(new RateLimit(3), 100, () => '192.0.2.1')).toBe(3);
    expect(taken(new RateLimit(3), 100, (call) => `198.18.${call}.1`)).toBe(30);
    expect(taken(new RateLimit(3), 100, (call) => `2001:db8:0:${call}::1`)).toBe(9);
    expect(taken(new RateLimit(3), 100, (call) => `2001:db8:0:${call.toString(16)}00::1`)).toBe(30);
  });

  test('counts a refused call in no other network', () => {
    const limit = new RateLimit(3);
    expect(taken(limit, 1000, () => '198.18.0.1')).toBe(3);
    expect(taken(limit, 3, () => '198.18.1.1')).toBe(3);
  });

  test('leaves each address and each session twenty calls, and takes nothing from it for them', () => {
    const limit = new RateLimit(5);
    const reserved = (calls: number, ip: string, payer: string | null = null): number =>
      Array.from({ length: calls }, () => limit.takeReserved('site', ip, payer, nowMs)).filter((refused) => !refused)
        .length;
    expect(reserved(20, '192.0.2.9')).toBe(20);
    expect(reserved(1000, '192.0.2.1')).toBe(20 + 5);
    expect(reserved(1000, '192.0.2.2')).toBe(20);
    expect(reserved(1000, '192.0.2.1', 'session')).toBe(20);
    // The /56, the /64, and what each network of the visitor has.
    expect(reserved(1000, '2001:db8:0:1::1')).toBe(20 + 20 + 5);
    expect(reserved(1000, '2001:db8:0:2::1')).toBe(20 + 5);
  });

  test('is counted for each site apart', () => {
    const limit = new RateLimit(1);
    expect(limit.takeIn('one', '192.0.2.1', nowMs)).toBeNull();
    expect(limit.takeIn('one', '192.0.2.1', nowMs)).not.toBeNull();
    expect(limit.takeIn('other', '192.0.2.1', nowMs)).toBeNull();
  });
});
