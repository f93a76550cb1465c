/** A burst costs its sender more, step by step, costs other visitors nothing until it is solved, and is forgotten soon. */
import { describe, expect, test } from 'vitest';
import { BurstPrice } from '../../../src/captcha/plan/burst-price.ts';
import { expectRows } from '../../support/rows.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const SITE = 'site';
const ONE = '192.0.2.1';
const NEIGHBOUR = '192.0.2.2';

type IpAt = (index: number) => string;

/** The price of the last of `count` challenges that are asked for, of one visitor or of each next one. */
function asked(price: BurstPrice, count: number, everyMs = 0, ipAt: IpAt = () => ONE): number {
  let steps = 0;
  for (let index = 0; index < count; index++) steps = price.ask(SITE, ipAt(index), NOW + index * everyMs);
  return steps;
}

let ids = 0;
/** How many of `count` challenges count that are asked for and solved one after another. */
function solved(price: BurstPrice, count: number, everyMs = 0, ipAt: IpAt = () => ONE): number {
  let counted = 0;
  for (let index = 0; index < count; index++) {
    const nowMs = NOW + index * everyMs;
    const steps = price.ask(SITE, ipAt(index), nowMs);
    if (price.solve(SITE, ipAt(index), { id: `${ids++}`, steps }, nowMs) === 'counted') counted += 1;
  }
  return counted;
}

describe('who asks', () => {
  test('pays a half step more for each doubling, and four at most', () =>
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
        expect(asked(new BurstPrice(), count)).toBe(steps);
      },
    ));

  test('once a second never pays more', () => {
    expect(asked(new BurstPrice(), 3600, 1000)).toBe(0);
  });

  test('is forgotten as time passes', () => {
    const price = new BurstPrice();
    asked(price, 1000);
    expect(price.ask(SITE, ONE, NOW + 30_000)).toBe(4);
    expect(price.ask(SITE, ONE, NOW + 200_000)).toBe(2);
    expect(price.ask(SITE, ONE, NOW + 300_000)).toBe(0);
  });

  test('does not change the price of a neighbour, of another network or of another site', () => {
    const price = new BurstPrice();
    asked(price, 1000);
    asked(price, 1000, 0, (index) => `192.0.2.${3 + (index % 250)}`);
    asked(price, 1000, 0, () => '2001:db8:0:1::1');
    for (const ip of [NEIGHBOUR, '198.51.100.1', '2001:db8:0:2::1']) expect(price.ask(SITE, ip, NOW)).toBe(0);
    expect(price.ask('another', ONE, NOW)).toBe(0);
  });

  test('from anywhere in one /64 is one visitor', () => {
    expect(asked(new BurstPrice(), 241, 0, (index) => `2001:db8::${index.toString(16)}`)).toBe(4);
  });
});

describe('what is solved', () => {
  const hops: [string, IpAt, number][] = [
    ['over the addresses of a /24', (index) => `198.18.0.${index % 256}`, 1],
    ['over the /64s of a /56', (index) => `2001:db8:0:10${(index % 256).toString(16).padStart(2, '0')}::1`, 3],
    ['over the /64s of a /48', (index) => `2001:db8:0:${index.toString(16)}::1`, 10],
    ['over the /24s of a /16', (index) => `198.18.${index % 256}.1`, 10],
  ];

  test.each(hops)('%s costs more, from a larger number on', (_, ipAt, times) => {
    const afterSolving = (count: number): number => {
      const price = new BurstPrice();
      expect(solved(price, count, 0, ipAt)).toBe(count);
      return price.ask(SITE, ipAt(count), NOW);
    };
    expect(afterSolving(30 * times - 1)).toBe(0);
    expect(afterSolving(30 * times)).toBe(1);
    expect(afterSolving(240 * times)).toBe(4);
  });

  test('raises the price of a larger network by no more steps than it may', () => {
    const price = new BurstPrice(2);
    solved(price, 5000, 0, (index) => `198.18.${index % 256}.1`);
    expect(price.ask(SITE, '198.18.3.1', NOW)).toBe(2);
    const near = new BurstPrice(2);
    solved(near, 5000);
    expect(near.ask(SITE, NEIGHBOUR, NOW)).toBe(4);
  });

  test('by ten people a second of one carrier never costs them more', () => {
    const price = new BurstPrice();
    const ipAt: IpAt = (index) => `198.18.${(index * 7) % 256}.${index % 200}`;
    expect(solved(price, 3600, 100, ipAt)).toBe(3600);
    expect(price.ask(SITE, ipAt(0), NOW + 360_000)).toBe(0);
  });

  test('counts once, however often it is sent, and is good again', () => {
    const price = new BurstPrice();
    const send = () => price.solve(SITE, ONE, { id: 'one', steps: 0 }, NOW);
    expect(send()).toBe('counted');
    for (let sent = 0; sent < 1000; sent++) expect(send()).toBe('again');
    expect(price.ask(SITE, NEIGHBOUR, NOW)).toBe(0);
    solved(price, 300);
    expect(send()).toBe('again');
  });

  test('of a stock that was asked for at the low price counts up to a price of two steps more', () => {
    const price = new BurstPrice();
    const stock = Array.from({ length: 500 }, (_, index) => {
      const ip = `192.0.2.${index % 250}`;
      return { ip, work: { id: `stock ${index}`, steps: price.ask(SITE, ip, NOW) } };
    });
    expect(new Set(stock.map(({ work }) => work.steps))).toEqual(new Set([0]));
    const counted = stock.filter(({ ip, work }) => price.solve(SITE, ip, work, NOW + 60_000) === 'counted');
    expect(counted).toHaveLength(60);
    expect(price.ask(SITE, '192.0.2.251', NOW + 60_000)).toBe(2);
  });
});

test('a flood of networks pushes out none that is busy', () => {
  const price = new BurstPrice();
  asked(price, 241);
  for (let index = 0; index < 120_000; index++) {
    price.ask(`flood ${index}`, NEIGHBOUR, NOW);
    if (index % 10_000 === 0) expect(price.ask(SITE, ONE, NOW)).toBe(4);
  }
  expect(price.ask(SITE, ONE, NOW)).toBe(4);
});

test('a clock that goes back does not lower the price', () => {
  const price = new BurstPrice();
  asked(price, 241);
  expect(price.ask(SITE, ONE, NOW - 600_000)).toBe(4);
});
