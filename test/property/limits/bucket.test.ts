/** The bucket against the same arithmetic in fractions, and its bounds at every clock. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drained, emptyBucket, filled, takeBucket } from '../../../src/limits/bucket.ts';

const meter = fc.record({
  count: fc.integer({ min: 1, max: 1_000_000 }),
  windowMs: fc.integer({ min: 1, max: 86_400 }).map((seconds) => seconds * 1000),
});
const asks = fc.array(
  fc.record({ afterMs: fc.integer({ min: 0, max: 100_000 }), asked: fc.integer({ min: 1, max: 2_000_000 }) }),
  { minLength: 1, maxLength: 60 },
);

describe('a bucket', () => {
  test('holds what fractions say, and its numbers stay whole', () => {
    fc.assert(
      fc.property(meter, asks, (given, all) => {
        const { count, windowMs } = given;
        let bucket = emptyBucket;
        let nowMs = 1_700_000_000_000;
        // In uses times milliseconds, as big whole numbers.
        let level = 0n;
        for (const { afterMs, asked } of all) {
          nowMs += afterMs;
          level = bigger(0n, level - BigInt(afterMs) * BigInt(count));
          const room = (BigInt(count) * BigInt(windowMs) - level) / BigInt(windowMs);
          const fits = Math.min(asked, Number(room));
          const taking = takeBucket(bucket, given, asked, nowMs);
          expect([taking.granted, taking.remaining]).toEqual([fits, Number(room) - fits]);
          level += BigInt(fits) * BigInt(windowMs);
          bucket = taking.bucket;
          expect(BigInt(bucket.level)).toBe(level);
          expect(Number.isSafeInteger(bucket.level)).toBe(true);
        }
      }),
    );
  });

  test('says when the next use fits, not earlier and not later', () => {
    fc.assert(
      fc.property(meter, (given) => {
        const full = takeBucket(emptyBucket, given, given.count, 1_000_000);
        expect(full).toMatchObject({ granted: given.count, remaining: 0 });
        const atMs = 1_000_000 + full.retryAfterMs;
        expect(takeBucket(full.bucket, given, 1, atMs).granted).toBe(1);
        expect(takeBucket(full.bucket, given, 1, atMs - 1).granted).toBe(0);
      }),
    );
  });

  test('a clock that goes back takes nothing out, and the bucket goes on from there', () => {
    fc.assert(
      fc.property(meter, fc.integer({ min: 1, max: 10 ** 9 }), (given, backMs) => {
        const { bucket } = takeBucket(emptyBucket, given, given.count, 1_700_000_000_000);
        const back = drained(bucket, given, 1_700_000_000_000 - backMs);
        expect(back.level).toBe(bucket.level);
        expect(drained(back, given, back.atMs + given.windowMs).level).toBe(0);
      }),
    );
  });

  test('takes in more than it holds where it is told to, and lets nothing through until that has drained', () => {
    const given = { count: 10, windowMs: 1000 };
    const bucket = filled(emptyBucket, given, 25, 5000);
    expect(takeBucket(bucket, given, 1, 5000)).toMatchObject({ granted: 0, retryAfterMs: 1600 });
    expect(takeBucket(bucket, given, 1, 6600).granted).toBe(1);
    expect(filled(bucket, given, Number.MAX_SAFE_INTEGER, 5000).level).toBe(Number.MAX_SAFE_INTEGER);
  });
});

function bigger(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
