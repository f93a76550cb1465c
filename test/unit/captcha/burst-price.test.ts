/** A burst costs more, step by step, for whoever makes it and nobody else, and not for long. */
import { expect, test } from 'vitest';
import { BurstPrice } from '../../../src/captcha/plan/burst-price.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

function burst(price: BurstPrice, key: string, count: number, from: number, everyMs: number): number {
  let steps = 0;
  for (let index = 0; index < count; index++) steps = price.take(key, from + index * everyMs);
  return steps;
}

test.each([
  [30, 0],
  [31, 1],
  [61, 2],
  [121, 3],
  [241, 4],
  [5000, 4],
])('%d challenges at once cost %d half steps more', (count, steps) => {
  expect(burst(new BurstPrice(), 'a', count, NOW, 0)).toBe(steps);
});

test('costs nothing at a challenge a second, however long', () => {
  expect(burst(new BurstPrice(), 'a', 3600, NOW, 1000)).toBe(0);
});

test('is forgiven as time passes', () => {
  const price = new BurstPrice();
  burst(price, 'a', 1000, NOW, 0);
  expect(price.take('a', NOW + 30_000)).toBe(4);
  expect(price.take('a', NOW + 200_000)).toBe(2);
  expect(price.take('a', NOW + 300_000)).toBe(0);
});

test('is nobody else’s', () => {
  const price = new BurstPrice();
  burst(price, 'a', 1000, NOW, 0);
  expect(price.take('b', NOW)).toBe(0);
});

test('does not grow cheaper by a clock that goes back', () => {
  const price = new BurstPrice();
  burst(price, 'a', 241, NOW, 0);
  expect(price.take('a', NOW - 600_000)).toBe(4);
});
