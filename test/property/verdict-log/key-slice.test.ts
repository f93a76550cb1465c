/** Keys of a sealed segment: any text is found again with its rows and its place, and no other text is. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeySlice, packSlice } from '../../../src/store/event-log/columns/key-slice.ts';
import {
  compareKey,
  isCut,
  keyBytes,
  storedKeyText,
  prefixBounds,
} from '../../../src/store/event-log/columns/key-text.ts';
import { packRising, unpackRising } from '../../../src/store/event-log/packed-numbers.ts';

const compareBytes = (one: Uint8Array, other: Uint8Array): number => compareKey(one, one.length, other);
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
const rows = fc.uniqueArray(fc.nat(65_535), { maxLength: 60 }).map((list) => list.sort((a, b) => a - b));
const keys = fc
  .uniqueArray(fc.tuple(text.map(storedKeyText), rows), { selector: ([key]) => key, maxLength: 80 })
  .map((given) => given.toSorted(([one], [other]) => (one < other ? -1 : 1)));

test('rising numbers are unpacked as they were packed', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(2 ** 41)), (list) => {
      const rising = list.toSorted((a, b) => a - b);
      expect(unpackRising(packRising(rising))).toEqual(rising);
    }),
  );
});

test('key bytes sort as their texts do, and have the same prefixes', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      const [a, b] = [keyBytes(one), keyBytes(other)];
      expect(Math.sign(compareBytes(a, b))).toBe(one === other ? 0 : one < other ? -1 : 1);
      const { from, to } = prefixBounds(other);
      const isWithin =
        compareBytes(keyBytes(storedKeyText(one)), from) >= 0 && compareBytes(keyBytes(storedKeyText(one)), to) < 0;
      if (!isCut(other)) expect(isWithin).toBe(one.startsWith(other));
      else if (one.startsWith(other)) expect(isWithin).toBe(true);
    }),
  );
});

test('uncut texts have keys that differ from each other and from those of cut texts', () => {
  fc.assert(
    fc.property(text, text, (one, other) => {
      if (one !== other && !(isCut(one) && isCut(other))) expect(storedKeyText(one)).not.toBe(storedKeyText(other));
    }),
  );
});

test('every key of a slice is found at its place, with its rows and what stands beside them', () => {
  const beside = [Uint16Array.from({ length: 65_536 }, (_, row) => row ^ 0x1234)];
  fc.assert(
    fc.property(keys, fc.array(text, { maxLength: 5 }), (given, others) => {
      const before = { places: 7, postings: 100, classes: Uint32Array.of(60, 40) };
      const packed = packSlice(
        given.map(([key, held]) => [keyBytes(key), held]),
        beside,
        before,
      );
      const slice = new KeySlice(packed.slice().buffer);
      expect(slice.before).toEqual(before);
      for (const wanted of [...given.map(([key]) => key), ...others.map(storedKeyText)]) {
        const place = given.filter(([key]) => key < wanted).length;
        const held = given.find(([key]) => key === wanted)?.[1];
        const found = slice.seek(keyBytes(wanted));
        expect([found.isHeld, found.place]).toEqual([held !== undefined, 7 + place]);
        expect([...slice.column(0).subarray(found.from, found.to)]).toEqual(held ?? []);
        expect([...slice.column(1).subarray(found.from, found.to)]).toEqual((held ?? []).map((row) => row ^ 0x1234));
        expect(slice.startsAfter(keyBytes(wanted))).toBe(given.every(([key]) => key > wanted));
      }
    }),
  );
});
