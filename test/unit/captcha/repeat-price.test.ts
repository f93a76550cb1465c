/** Clearance after clearance costs the address that asks more, and nobody else. */
import { expect, test } from 'vitest';
import { RepeatPrice } from '../../../src/captcha/plan/repeat-price.ts';
import { expectRows } from '../../support/rows.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const SITE = 'site';

/** The half steps of the last of so many challenges. */
function lastOf(price: RepeatPrice, count: number, ip = '192.0.2.1'): number {
  let steps = 0;
  for (let at = 0; at < count; at++) steps = price.ask(SITE, ip, NOW);
  return steps;
}

test('an allowance of clearances costs the least, the next one twice as much, and more four times', () =>
  expectRows(
    [
      [20, 0],
      [21, 3],
      [40, 3],
      [41, 6],
      [500, 6],
    ],
    ([count, steps]) => expect(lastOf(new RepeatPrice(), count)).toBe(steps),
  ));

test('another address, another site and another window begin anew', () => {
  const price = new RepeatPrice();
  lastOf(price, 100);
  expect(price.ask(SITE, '192.0.2.2', NOW)).toBe(0);
  expect(price.ask('another', '192.0.2.1', NOW)).toBe(0);
  expect(price.ask(SITE, '192.0.2.1', NOW + 599_000)).toBe(6);
  expect(price.ask(SITE, '192.0.2.1', NOW + 600_000)).toBe(0);
});

test('a /64 is one address', () => {
  const price = new RepeatPrice();
  lastOf(price, 20, '2001:db8:0:1::1');
  expect(price.ask(SITE, '2001:db8:0:1::2', NOW)).toBe(3);
  expect(price.ask(SITE, '2001:db8:0:2::1', NOW)).toBe(0);
});
