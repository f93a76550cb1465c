/** Counts per key in a window. */
import { expect, test } from 'vitest';
import { WindowCounts } from '../../../src/bytes/window-counts.ts';

test('a key has as many uses as the window allows, and its neighbour has its own', () => {
  const counts = new WindowCounts(2, 1000);
  expect([counts.take('a', 0), counts.take('a', 1), counts.take('a', 2)]).toEqual([true, true, false]);
  expect(counts.take('b', 2)).toBe(true);
});

test('asking for room counts nothing', () => {
  const counts = new WindowCounts(1, 1000);
  expect([counts.hasRoom('a', 0), counts.hasRoom('a', 0), counts.take('a', 0), counts.hasRoom('a', 0)]).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('a used-up key has room again after its window', () => {
  const counts = new WindowCounts(1, 1000);
  counts.take('a', 0);
  expect(counts.hasRoom('a', 1000)).toBe(false);
  expect(counts.hasRoom('a', 1001)).toBe(true);
  expect(counts.take('a', 1001)).toBe(true);
});

test('a key that is used in part has room in its window', () => {
  const counts = new WindowCounts(2, 1000);
  counts.take('a', 0);
  expect(counts.hasRoom('a', 1)).toBe(true);
  counts.take('a', 1);
  expect(counts.hasRoom('a', 2)).toBe(false);
});
