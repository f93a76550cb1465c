/** The packed form of a rollup bucket, against the map it was made from. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Counts } from '../../../src/store/event-log/shard-rpc.ts';
import {
  PACKED_MINUTES,
  decodeCounts,
  encodeCounts,
  encodeMinutes,
  splitMinutes,
} from '../../../src/store/event-log/shard/rollup-codec.ts';

const count = fc.oneof(fc.nat(200), fc.nat({ max: Number.MAX_SAFE_INTEGER }));
const buckets = fc
  .uniqueArray(fc.tuple(fc.nat({ max: 2 ** 40 }), fc.tuple(count, count, count)), { selector: ([id]) => id })
  .map((entries) => new Map<number, Counts>(entries));

function decoded(bytes: Uint8Array): Map<number, Counts> {
  const counts = new Map<number, Counts>();
  decodeCounts(bytes, (id, ...value) => counts.set(id, value));
  return counts;
}

test('counts are unpacked as they were packed, by rising id', () => {
  fc.assert(
    fc.property(buckets, (counts) => {
      const nonzero = [...counts].filter(([, value]) => value.some((number) => number > 0));
      const result = decoded(encodeCounts(counts));
      expect([...result]).toEqual(nonzero.toSorted(([a], [b]) => a - b));
    }),
  );
});

test('a removed value leaves no trace', () => {
  expect(
    decoded(
      encodeCounts(
        new Map([
          [7, [0, -1, 0]],
          [9, [0, 2, 0]],
        ]),
      ),
    ),
  ).toEqual(new Map([[9, [0, 2, 0]]]));
});

test('minutes come out of a packed row as they went in, in order of time', () => {
  const minutes = fc.uniqueArray(fc.tuple(fc.nat({ max: PACKED_MINUTES - 1 }), buckets), { selector: ([at]) => at });
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 30 }), minutes, (first, packed) => {
      const row = encodeMinutes(first, new Map(packed.map(([at, counts]) => [first + at, counts])));
      const result: [number, Map<number, Counts>][] = [];
      splitMinutes(first, row.slice().buffer, (minute, bucket) => result.push([minute, decoded(bucket)]));
      const expected = packed
        .map(([at, counts]): [number, Map<number, Counts>] => [first + at, decoded(encodeCounts(counts))])
        .filter(([, counts]) => counts.size > 0);
      expect(result).toEqual(expected.toSorted(([a], [b]) => a - b));
    }),
  );
});
