/** Ranges of record numbers, and the hashes kept of the last ones, against plain sets. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  addRange,
  countOf,
  type NumberRange,
  numbersIn,
  overlapOf,
  rangesOf,
} from '../../../src/store/event-log/number-ranges.ts';
import { packHashes, unpackHashes } from '../../../src/store/event-log/shard/number-hashes.ts';

const range = fc.tuple(fc.nat(60), fc.nat(12)).map(([first, more]): NumberRange => [first, first + more]);

test('ranges hold what a set of numbers holds, sorted and apart', () => {
  fc.assert(
    fc.property(fc.array(range, { maxLength: 20 }), range, (added, sought) => {
      const ranges: NumberRange[] = [];
      const numbers = new Set<number>();
      for (const one of added) {
        addRange(ranges, one);
        for (const number of numbersIn([one])) numbers.add(number);
      }
      const sorted = [...numbers].sort((a, b) => a - b);
      expect(ranges).toEqual(rangesOf(sorted));
      expect(countOf(ranges)).toBe(numbers.size);
      const [first, last] = sought;
      expect([...numbersIn(overlapOf(ranges, sought))]).toEqual(sorted.filter((at) => at >= first && at <= last));
    }),
  );
});

test('the hashes of the last numbers come back, and no more than are kept', () => {
  const runs = fc.array(fc.tuple(fc.nat({ max: 2 ** 50 }), fc.array(fc.nat({ max: 2 ** 32 - 1 }), { minLength: 1 })), {
    maxLength: 8,
  });
  fc.assert(
    fc.property(runs, fc.nat(2100), (made, long) => {
      const all = [{ first: 7, hashes: new Uint32Array(long).fill(9) }].concat(
        made.map(([first, hashes]) => ({ first, hashes: Uint32Array.from(hashes) })),
      );
      const pairs = (of: readonly { first: number; hashes: Uint32Array }[]): [number, number][] =>
        of.flatMap(({ first, hashes }) => [...hashes].map((hash, at): [number, number] => [first + at, hash]));
      expect(pairs(unpackHashes(packHashes(all).buffer as ArrayBuffer))).toEqual(pairs(all).slice(-2048));
    }),
  );
});
