/** A burst costs its sender more, step by step, costs other visitors nothing, and is forgotten soon. */
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

test('one challenge a second never costs more', () => {
  expect(burst(new BurstPrice(), 'a', 3600, NOW, 1000)).toBe(0);
});

test('a burst is forgotten as time passes', () => {
  const price = new BurstPrice();
  burst(price, 'a', 1000, NOW, 0);
  expect(price.take('a', NOW + 30_000)).toBe(4);
  expect(price.take('a', NOW + 200_000)).toBe(2);
  expect(price.take('a', NOW + 300_000)).toBe(0);
});

test('a burst of one network does not change the price of another', () => {
  const price = new BurstPrice();
  burst(price, 'a', 1000, NOW, 0);
  expect(price.take('b', NOW)).toBe(0);
});

test('a clock that goes back does not lower the price', () => {
  const price = new BurstPrice();
  burst(price, 'a', 241, NOW, 0);
  expect(price.take('a', NOW - 600_000)).toBe(4);
});
