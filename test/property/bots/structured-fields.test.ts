/** Structured fields of signatures: what is written is read and spelled canonically, and hostile text is refused. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  FIELD_MAX_CHARS,
  parseDictionary,
  parseItem,
  serialized,
} from '../../../src/bots/signatures/structured-fields.ts';
import { runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';

/** A text, and how it is spelled canonically. */
type Written = readonly [text: string, canonical: string];

function read(text: string): [key: string, canonical: string][] | null {
  try {
    return [...parseDictionary(text)].map(([key, member]) => [key, serialized(member)]);
  } catch {
    return null;
  }
}

const asIs = (text: string): Written => [text, text];
const key = fc.stringMatching(/^[a-z*][a-z0-9_.*-]{0,5}$/);
const bare = fc.oneof(
  fc.stringMatching(/^[ !#-[\]-~]{0,8}$/).map((text) => asIs(`"${text}"`)),
  fc.constantFrom('"a\\"b"', '"\\\\"', '"100%"', '"a;b,c"', '?0', 'token', '*a/b:c', ':AAAA:', '0', '-7').map(asIs),
  fc.constantFrom<Written[]>([':YW:', ':YQ==:'], [':YWI:', ':YWI=:'], ['-0', '0'], ['007', '7']),
  fc.maxSafeInteger().map((value) => asIs(String(value % 1e15))),
);
const space = fc.constantFrom('', ' ', '  ');
const parameters = fc
  .uniqueArray(fc.tuple(key, fc.option(bare), space), { maxLength: 3, selector: ([name]) => name })
  .map((list): Written => {
    const spelled = (at: 0 | 1, gap: (space: string) => string) =>
      list.map(([name, value, blank]) => `;${gap(blank)}${name}${value === null ? '' : `=${value[at]}`}`).join('');
    return [spelled(0, (blank) => blank), spelled(1, () => '')];
  });
const joined = (...parts: Written[]): Written => [parts.map(([a]) => a).join(''), parts.map(([, b]) => b).join('')];
const item = fc.tuple(bare, parameters).map((parts) => joined(...parts));
const list = fc
  .tuple(fc.array(item, { maxLength: 3 }), space, parameters)
  .map(([items, gap, ending]) =>
    joined(
      [`(${gap}${items.map(([text]) => text).join(` ${gap}`)}${gap})`, `(${items.map(([, text]) => text).join(' ')})`],
      ending,
    ),
  );
const member = fc.oneof(
  fc.tuple(key, fc.oneof(item, list)).map(([name, [text, spelled]]) => [name, `${name}=${text}`, spelled] as const),
  fc.tuple(key, parameters).map(([name, [text, spelled]]) => [name, name + text, `?1${spelled}`] as const),
);
const members = fc.uniqueArray(member, { maxLength: 4, selector: ([name]) => name });
const written = (parts: readonly (readonly [string, string, string])[], gap = ''): string =>
  parts.map(([, text]) => text).join(`${gap},${gap}`);

test('well-formed dictionaries are read and spelled canonically', () => {
  fc.assert(
    fc.property(members, fc.constantFrom('', ' ', '\t', ' \t '), (parts, gap) => {
      expect(read(written(parts, gap))).toEqual(parts.map(([name, , spelled]) => [name, spelled]));
    }),
    { numRuns: runs(2000) },
  );
});

test('any other text is refused, or its canonical text is read alike', () => {
  const broken = fc
    .tuple(members, fc.nat(), fc.stringMatching(/^[ -~]{0,3}$/), fc.nat(3))
    .map(([parts, at, added, dropped]) => {
      const text = written(parts, ' ');
      const place = at % (text.length + 1);
      return text.slice(0, place) + added + text.slice(place + dropped);
    });
  fc.assert(
    fc.property(fc.oneof(broken, fc.string({ unit: 'binary' })), (text) => {
      const found = read(text);
      if (found !== null) expect(read(found.map(([name, spelled]) => `${name}=${spelled}`).join(', '))).toEqual(found);
    }),
    { numRuns: runs(5000) },
  );
});

test('a member twice is a repeated key, whatever stands before, after and between', () => {
  fc.assert(
    fc.property(members, fc.nat(), member, (parts, at, [, , value]) => {
      fc.pre(parts.length > 0);
      const [name] = parts[at % parts.length]!;
      const text = written([...parts, [name, `${name}=${value}`, value]]);
      expect(() => parseDictionary(text)).toThrow(RangeError);
    }),
    { numRuns: runs(2000) },
  );
});

test('a key twice is refused', () =>
  expectRows(['a=1, a=2', 'a=1;b=1;b=2', 'a=("x";k=1;k=2)', 'a=("x");k;k', 'a="\\",", a=1', 'a, b=",;", a'], (text) => {
    expect(() => parseDictionary(text)).toThrow(RangeError);
  }));

test('a parameter of an item twice is refused', () => {
  expect(() => parseItem('"https://agent.test";type=a;type=b')).toThrow(RangeError);
  expect(serialized(parseItem(' "https://agent.test"; type=a '))).toBe('"https://agent.test";type=a');
});

test('what the grammar does not allow is refused', () =>
  expectRows(
    [
      ['a list in a list', 'a=(("x"))'],
      ['a list without an end', 'a=("x" "y"'],
      ['items that touch', 'a=("x""y")'],
      ['a comma at the end', 'a=1,'],
      ['two commas', 'a=1,,b=2'],
      ['a key in capitals', 'A=1'],
      ['no value', 'a='],
      ['an integer of 16 digits', 'a=1234567890123456'],
      ['an integer of a thousand digits', `a=${'9'.repeat(1000)}`],
      ['an integer with an exponent', 'a=1e9'],
      ['a hexadecimal integer', 'a=0x10'],
      ['a plus sign', 'a=+1'],
      ['two minus signs', 'a=--1'],
      ['a decimal', 'a=1.5'],
      ['a decimal that is an integer', 'a=("x");created=1735689600.0'],
      ['a date', 'a=@1735689600'],
      ['a display string', 'a=%"x"'],
      ['a display string that hides a key', 'a=%"\\", a="x"'],
      ['a string without an end', 'a="x'],
      ['an escape of another character', 'a="\\n"'],
      ['a byte above ASCII', 'a="é"'],
      ['a line break in a string', 'a="\n"'],
      ['bytes without an end', 'a=:AAAA'],
      ['bytes of the other alphabet', 'a=:-_-_:'],
      ['a blank in bytes', 'a=:AA AA:'],
      ['padding in front', 'a=:=AAA:'],
      ['bytes of a single character', 'a=:A:'],
      ['a boolean of another digit', 'a=?2'],
    ],
    ([, text]) => {
      expect(read(text)).toBeNull();
    },
  ));

test('a field has at most 250 keys, members and parameters together', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => `k${at}`).join(',');
  expect(read(many(250))).toHaveLength(250);
  expect(read(many(251))).toBeNull();
  expect(read(`a${many(250).replaceAll(',', ';').slice(2)}`)).not.toBeNull();
  expect(read(`a;${many(251).replaceAll(',', ';')}`)).toBeNull();
});

test('long hostile texts are refused in time that grows with their length', () => {
  const length = FIELD_MAX_CHARS * 100;
  const repeated = (text: string) => text.repeat(length / text.length);
  for (const part of ['"', '\\"', '"\\"', '%"\\"', '(', ';a', ',', ':', '-', '@', '"",', '=1.']) {
    expect(read(repeated(part)), part).toBeNull();
    expect(read(`a="${repeated(part)}`), `a="${part}`).toBeNull();
  }
});
