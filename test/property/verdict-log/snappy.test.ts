/** Snappy that is unpacked as far as it is read: every beginning is the one of the whole, and damage is one error. */
import * as fc from 'fast-check';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { describe, expect, test } from 'vitest';
import { UnreadableSegmentError } from '../../../src/store/event-log/parquet/byte-cursor.ts';
import { SnappyBytes } from '../../../src/store/event-log/parquet/snappy.ts';

/** Runs that repeat at near and at far distances, and bytes that do not. */
const contents = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.tuple(fc.constantFrom('a', '/shop/items/', 'x'.repeat(90)), fc.integer({ min: 1, max: 40 })),
    ),
    { maxLength: 30 },
  )
  .map((parts) =>
    Uint8Array.from(
      parts.flatMap((part) =>
        part instanceof Uint8Array ? [...part] : [...new TextEncoder().encode(part[0].repeat(part[1]))],
      ),
    ),
  );

describe('Snappy', () => {
  test('is unpacked as far as it is read, in any steps', () => {
    fc.assert(
      fc.property(contents, fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (whole, steps) => {
        const unpacking = new SnappyBytes(snappyCompress(whole), whole.length);
        for (const step of [...steps, 1]) {
          const end = Math.floor(step * whole.length);
          unpacking.unpackTo(end);
          expect(unpacking.bytes.subarray(0, end)).toEqual(whole.subarray(0, end));
        }
        expect(() => unpacking.unpackTo(whole.length + 1)).toThrow(UnreadableSegmentError);
      }),
    );
  });

  test('is refused with one error when it is damaged or cut off', () => {
    fc.assert(
      fc.property(contents, fc.nat(), fc.nat({ max: 255 }), fc.boolean(), (whole, place, byte, isCut) => {
        const data = snappyCompress(whole);
        const at = place % data.length;
        const damaged = isCut ? data.slice(0, at) : data.with(at, byte);
        const unpacking = new SnappyBytes(damaged, whole.length);
        try {
          unpacking.unpackTo(whole.length);
          expect(unpacking.bytes).toHaveLength(whole.length);
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableSegmentError);
        }
      }),
    );
  });
});
