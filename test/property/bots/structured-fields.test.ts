/** The parser of structured fields beside `structured-headers`: what it reads, it reads and spells as that library does. */
import * as fc from 'fast-check';
import { isInnerList, parseDictionary as libraryParses, serializeInnerList, serializeItem } from 'structured-headers';
import { expect, test } from 'vitest';
import { parseDictionary } from '../../../src/bots/signatures/structured-fields.ts';
import { runs } from '../../support/properties.ts';

function ours(text: string): Record<string, string> | null {
  try {
    return Object.fromEntries([...parseDictionary(text)].map(([key, { text: canonical }]) => [key, canonical]));
  } catch {
    return null;
  }
}

function theirs(text: string): Record<string, string> | null {
  try {
    const members = [...libraryParses(text)];
    return Object.fromEntries(
      members.map(([key, member]) => [key, isInnerList(member) ? serializeInnerList(member) : serializeItem(member)]),
    );
  } catch {
    return null;
  }
}

const key = fc.stringMatching(/^[a-z*][a-z0-9_.*-]{0,5}$/);
const bare = fc.oneof(
  fc.stringMatching(/^[ !#-[\]-~]{0,8}$/).map((text) => `"${text}"`),
  fc.constantFrom('"a\\"b"', '"\\\\"', '?0', '?1', 'token', '*a/b:c', ':AAAA:', ':YWI=:', ':YW:', '0', '-7'),
  fc.integer().map(String),
);
const space = fc.constantFrom('', ' ', '  ');
const parameters = fc
  .uniqueArray(fc.tuple(key, fc.option(bare), space), { maxLength: 3, selector: ([name]) => name })
  .map((list) => list.map(([name, value, gap]) => `;${gap}${name}${value === null ? '' : `=${value}`}`).join(''));
const item = fc.tuple(bare, parameters).map((parts) => parts.join(''));
const list = fc
  .tuple(fc.array(item, { maxLength: 3 }), space, parameters)
  .map(([items, gap, ending]) => `(${gap}${items.join(` ${gap}`)}${gap})${ending}`);
const member = fc.tuple(key, fc.oneof(item, list)).map(([name, value]) => [name, `${name}=${value}`] as const);
const dictionary = fc
  .uniqueArray(
    fc.oneof(
      member,
      fc.tuple(key, parameters).map(([name, tail]) => [name, name + tail] as const),
    ),
    {
      maxLength: 4,
      selector: ([name]) => name,
    },
  )
  .chain((members) => fc.tuple(fc.constant(members), space))
  .map(([members, gap]) => members.map(([, text]) => text).join(`${gap},${gap}`));

test('well-formed dictionaries are read and spelled alike', () => {
  fc.assert(
    fc.property(dictionary, (text) => {
      const found = theirs(text);
      expect(found).not.toBeNull();
      expect(ours(text)).toEqual(found);
    }),
    { numRuns: runs(2000) },
  );
});

test('any other text is refused, or read as the library reads it', () => {
  const broken = fc
    .tuple(dictionary, fc.nat(), fc.stringMatching(/^[ -~]{0,3}$/), fc.nat(3))
    .map(([text, at, added, dropped]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + added + text.slice(place + dropped);
    });
  fc.assert(
    fc.property(fc.oneof(broken, fc.string({ unit: 'binary' })), (text) => {
      const found = ours(text);
      if (found !== null) expect(found).toEqual(theirs(text));
    }),
    { numRuns: runs(5000) },
  );
});

test('a key twice, of a dictionary or of parameters, is refused', () => {
  for (const text of ['a=1, a=2', 'a=1;b=1;b=2', 'a=("x";k=1;k=2)']) expect(ours(text)).toBeNull();
});

test('long hostile texts are refused in time that grows with their length', () => {
  for (const text of ['"'.repeat(4096), `a="${'\\'.repeat(4090)}`, `a=${'('.repeat(4090)}`, `a${';a'.repeat(2000)}`]) {
    expect(ours(text)).toBeNull();
  }
});
