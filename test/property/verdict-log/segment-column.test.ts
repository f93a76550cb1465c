/** A column of sealed rows: every row has its text again, and tests of the dictionary find what tests of rows find. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ColumnBuilder, ColumnKeys, openPlaces } from '../../../src/store/event-log/columns/column.ts';
import {
  contains,
  type FieldTest,
  has,
  is,
  passingRows,
  passTable,
  where,
} from '../../../src/store/event-log/columns/field-test.ts';

type Value = string | number | boolean | null | string[];

const word = fc.constantFrom('', 'vpn', 'VPN', 'Ünï\n', '"vpn"', '\\', '1', 'true');
const value: fc.Arbitrary<Value> = fc.oneof(
  word,
  fc.string(),
  fc.nat(3000),
  fc.boolean(),
  fc.constant(null),
  fc.array(word, { maxLength: 3 }),
);
/** Also more distinct values than a place of one byte has numbers for. */
const column = fc.oneof(
  fc.array(value, { minLength: 1, maxLength: 150 }),
  fc.nat(600).map((length) => Array.from({ length: length + 1 }, (_, row): Value => row % 400)),
);

function sealed(values: readonly Value[]): { keys: ColumnKeys; places: Uint8Array | Uint16Array } {
  const builder = new ColumnBuilder();
  for (const one of values) builder.add(JSON.stringify(one));
  const packed = builder.packed();
  const places = openPlaces(packed.places.slice().buffer, values.length);
  return { keys: new ColumnKeys(packed.keys.slice().buffer), places };
}

test('each row has its text again', () => {
  fc.assert(
    fc.property(column, (values) => {
      const { keys, places } = sealed(values);
      expect(Array.from(places, (place) => keys.textAt(place))).toEqual(values.map((one) => JSON.stringify(one)));
      expect(keys.text.split('\n')).toEqual([...new Set(values.map((one) => JSON.stringify(one)))]);
    }),
  );
});

const shown = (one: Value): string[] => (one === null || typeof one === 'boolean' ? [] : [one].flat().map(String));
const tests: [string, (text: string) => FieldTest, (one: Value, text: string) => boolean][] = [
  ['is', (text) => is(text), (one, text) => one === text],
  [
    'contains',
    (text) => contains(text),
    (one, text) => shown(one).some((part) => part.toLowerCase().includes(text.toLowerCase())),
  ],
  ['where', (text) => where((one) => one === text), (one, text) => one === text],
];

test.each(tests)('“%s” passes the rows that a test of every row passes', (_, make, holds) => {
  fc.assert(
    fc.property(column, word, (values, text) => {
      const { keys, places } = sealed(values);
      const table = passTable(make(text), keys.text);
      const expected = values.map((one) => (holds(one, text) ? 1 : 0));
      expect(Array.from(places, (place) => table?.[place] ?? 0)).toEqual(expected);
      expect(table === null ? 0 : passingRows(table, keys.counts)).toBe(expected.filter(Boolean).length);
    }),
  );
});

test.each([true, false])('an item that a list must have (%s) is found as in every row', (wanted) => {
  fc.assert(
    fc.property(fc.array(fc.array(word, { maxLength: 3 }), { minLength: 1 }), word, (lists, item) => {
      const { keys, places } = sealed(lists);
      const table = passTable(has(item, wanted), keys.text);
      expect(Array.from(places, (place) => table?.[place] ?? 0)).toEqual(
        lists.map((list) => (list.includes(item) === wanted ? 1 : 0)),
      );
    }),
  );
});
