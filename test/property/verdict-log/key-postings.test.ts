/** Keys of a sealed segment: any text is found again with its rows and its place, and no other text is. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  compareKey,
  isCut,
  keyBytes,
  keyText,
  packKeyChunks,
  packRows,
  unpackRows,
  visitKeys,
} from '../../../src/store/event-log/columns/key-postings.ts';

const unit = fc.oneof(
  fc.constantFrom('/', 'a', 'b', 'ä', '\uffff', '\ud83d', '\ude00', '\0'),
  fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
);
const text = fc.oneof(
  fc.array(unit, { maxLength: 12 }).map((units) => units.join('')),
  fc
    .tuple(fc.constantFrom('x', 'é', '\uffff'), fc.integer({ min: 120, max: 140 }), fc.array(unit, { maxLength: 3 }))
    .map(([char, length, units]) => char.repeat(length) + units.join('')),
);
const rows = fc.uniqueArray(fc.nat(65_535), { minLength: 0, maxLength: 300 }).map((list) => list.sort((a, b) => a - b));

test('row numbers are unpacked as they were packed', () => {
  fc.assert(
    fc.property(rows, (list) => {
      expect(unpackRows(Uint8Array.from(packRows(list)))).toEqual(list);
    }),
  );
});

test('key bytes sort as their texts do, and have the same prefixes', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const [a, b] = [keyBytes(one), keyBytes(other)];
      expect(Math.sign(compareKey(a, a.length, b))).toBe(one === other ? 0 : one < other ? -1 : 1);
      expect(compareKey(a.subarray(0, b.length), Math.min(a.length, b.length), b) === 0).toBe(one.startsWith(other));
    }),
  );
});

test('uncut texts have keys that differ from each other and from those of cut texts', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      if (one !== other && !(isCut(one) && isCut(other))) expect(keyText(one)).not.toBe(keyText(other));
    }),
  );
});

test('every key is visited once, in order, at its place and with its rows', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(text.map(keyText), rows), { selector: ([key]) => key, maxLength: 80 }),
      (given) => {
        const keys = given.toSorted(([one], [other]) => (one < other ? -1 : 1));
        const met: [number[], number[]][] = [];
        for (const { first, data } of packKeyChunks(keys)) {
          const before = met.length;
          const behind = visitKeys(data, (key, length, held) => {
            if (met.length === before) expect([...first]).toEqual([...key.subarray(0, length)]);
            met.push([[...key.subarray(0, length)], held()]);
            return true;
          });
          expect(behind).toBe(met.length);
          expect(visitKeys(data, () => false)).toBe(before);
        }
        expect(met).toEqual(keys.map(([key, list]) => [[...keyBytes(key)], list]));
      },
    ),
  );
});
