import { expect, test } from 'vitest';
import { ROLLOUT_BUCKETS, rolloutBucket } from '../../../src/rules/decision-table.ts';

test('puts a visitor in the same bucket every time', () => {
  expect(rolloutBucket('visitor')).toBe(rolloutBucket('visitor'));
  // Must not change: another number would move the visitors of every rollout that is running.
  expect([rolloutBucket(''), rolloutBucket('192.0.2.7'), rolloutBucket('посетитель')]).toMatchInlineSnapshot(`
    [
      8923,
      2475,
      7249,
    ]
  `);
});

test('spreads visitors evenly', () => {
  const counts = new Uint32Array(100);
  for (let i = 0; i < 100_000; i++) {
    const bucket = rolloutBucket(`visitor-${i}`);
    expect(bucket >= 0 && bucket < ROLLOUT_BUCKETS && Number.isInteger(bucket)).toBe(true);
    const percent = Math.floor(bucket / 100);
    counts[percent] = (counts[percent] ?? 0) + 1;
  }
  // 1,000 each, within five standard deviations.
  expect(Math.min(...counts)).toBeGreaterThan(840);
  expect(Math.max(...counts)).toBeLessThan(1160);
});
