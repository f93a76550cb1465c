/** Packed lines, against the texts that they were made from. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { PackedLines, packLines } from '../../../src/store/event-log/packed-lines.ts';

const text = fc.oneof(
  { arbitrary: fc.string(), weight: 4 },
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ maxLength: 40 }).map((part) => part.repeat(100)),
);
/** As a batch has them: the JSON of something, which is never empty and has no line feed. */
const lists = fc.oneof(
  fc.array(text.map((value) => JSON.stringify(value))),
  fc.array(fc.constantFrom('"one"', '"two"', '{"three":3}'), { minLength: 60, maxLength: 300 }),
);

const opened = (packed: Uint8Array<ArrayBuffer>): PackedLines => new PackedLines(packed.buffer);

test('every line is read as it was packed, alone and with all others', () => {
  fc.assert(
    fc.property(lists, fc.infiniteStream(fc.nat()), (lines, places) => {
      const packed = opened(packLines(lines));
      expect(packed.length).toBe(lines.length);
      expect(packed.all()).toEqual(lines);
      for (const place of places.take(lines.length === 0 ? 0 : 10)) {
        expect(packed.at(place % lines.length)).toBe(lines[place % lines.length]);
      }
    }),
  );
});

test('lines that are taken out are gone, and the others keep their order', () => {
  fc.assert(
    fc.property(lists, fc.uniqueArray(fc.nat(300)), fc.uniqueArray(fc.nat(300)), (lines, first, second) => {
      const once = lines.filter((_, line) => !first.includes(line));
      const twice = once.filter((_, line) => !second.includes(line));
      const packed = opened(packLines(lines)).without(new Set(first));
      expect(opened(packed).all()).toEqual(once);
      expect(opened(opened(packed).without(new Set(second))).all()).toEqual(twice);
    }),
  );
});

test('a text that does not repeat takes its own bytes and no more than a few', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: 'binary', minLength: 1 }).map((value) => JSON.stringify(value))),
      (lines) => {
        const bytes = new TextEncoder().encode(lines.join('\n')).length;
        expect(packLines(lines).length).toBeLessThanOrEqual(bytes + 8 + lines.length);
      },
    ),
  );
});

test('a place behind the last line, and a length that no batch has, are refused', () => {
  expect(() => opened(packLines(['1'])).at(1)).toThrow(RangeError);
  const oneBlockOf3GB = Uint8Array.of(1, 1, 0x80, 0x80, 0x80, 0x80, 0x0c, 2, 0, 0);
  expect(() => opened(oneBlockOf3GB).at(0)).toThrow(RangeError);
});
