/** A burst costs its sender more, step by step, costs other visitors nothing, and is forgotten soon. */
import { expect, test } from 'vitest';
import { networksOf } from '../../../src/address/networks.ts';
import { BurstPrice } from '../../../src/captcha/plan/burst-price.ts';
import { expectRows } from '../../support/rows.ts';

const NOW = Date.UTC(2026, 10, 20, 12);

const SITE = 'site';
const one = networksOf('192.0.2.1');

/** The price of the last of `count` challenges, for one visitor or for each next one. */
function burst(price: BurstPrice, count: number, everyMs = 0, ipAt = (_index: number): string => '192.0.2.1'): number {
  let steps = 0;
  for (let index = 0; index < count; index++) {
    steps = price.take(SITE, networksOf(ipAt(index)), NOW + index * everyMs);
  }
  return steps;
}

test('challenges at once cost a half step more for each doubling, and four at most', () =>
  expectRows(
    [
      [30, 0],
      [31, 1],
      [61, 2],
      [121, 3],
      [241, 4],
      [5000, 4],
    ],
    ([count, steps]) => {
      expect(burst(new BurstPrice(), count)).toBe(steps);
    },
  ));

test('one challenge a second never costs more', () => {
  expect(burst(new BurstPrice(), 3600, 1000)).toBe(0);
});

test('a burst is forgotten as time passes', () => {
  const price = new BurstPrice();
  burst(price, 1000);
  expect(price.take(SITE, one, NOW + 30_000)).toBe(4);
  expect(price.take(SITE, one, NOW + 200_000)).toBe(2);
  expect(price.take(SITE, one, NOW + 300_000)).toBe(0);
});

test('a burst of one network does not change the price of another', () => {
  const price = new BurstPrice();
  burst(price, 1000);
  expect(price.take(SITE, networksOf('198.51.100.1'), NOW)).toBe(0);
});

test('a burst at one site does not change the price of another', () => {
  const price = new BurstPrice();
  burst(price, 1000);
  expect(price.take('another', one, NOW)).toBe(0);
});

const hops: [string, (index: number) => string, number][] = [
  ['over the /64s of a /56', (index) => `2001:db8:0:10${(index % 256).toString(16).padStart(2, '0')}::1`, 3],
  ['over the /64s of a /48', (index) => `2001:db8:0:${index.toString(16)}::1`, 10],
  ['over the /24s of a /16', (index) => `198.18.${index % 256}.1`, 10],
];

test.each(hops)('hopping %s costs more as well, from a larger number on', (_, ipAt, times) => {
  const full = (from: number, every: number): number => burst(new BurstPrice(), from * every, 0, ipAt);
  expect(full(30, times)).toBe(0);
  expect(burst(new BurstPrice(), 30 * times + 1, 0, ipAt)).toBe(1);
  expect(burst(new BurstPrice(), 240 * times + 1, 0, ipAt)).toBe(4);
});

test('a larger network adds no more steps than it may', () => {
  const price = new BurstPrice(2);
  expect(burst(price, 5000, 0, (index) => `198.18.${index % 256}.1`)).toBe(2);
  expect(burst(new BurstPrice(2), 5000)).toBe(4);
});

test('ten people a second of one carrier never cost each other more', () => {
  expect(burst(new BurstPrice(), 3600, 100, (index) => `198.18.${(index * 7) % 256}.${index % 200}`)).toBe(0);
});

test('a flood of networks pushes out none that is busy', () => {
  const price = new BurstPrice();
  burst(price, 241);
  for (let index = 0; index < 120_000; index++) {
    price.take(SITE, [{ prefix: `flood ${index}`, times: 1 }], NOW);
    if (index % 10_000 === 0) expect(price.take(SITE, one, NOW)).toBe(4);
  }
  expect(price.take(SITE, one, NOW)).toBe(4);
});

test('a clock that goes back does not lower the price', () => {
  const price = new BurstPrice();
  burst(price, 241);
  expect(price.take(SITE, one, NOW - 600_000)).toBe(4);
});
