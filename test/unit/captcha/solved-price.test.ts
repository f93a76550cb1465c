/** What is solved makes challenges dearer, step by step, for its networks. What is only asked for costs nobody anything. */
import { describe, expect, test } from 'vitest';
import { restDifficulty } from '../../../src/captcha/plan/level-prices.ts';
import { type Payer, SolvedPrice } from '../../../src/captcha/plan/solved-price.ts';
import {
  CAPTCHA_TARIFF,
  CLEARANCE_TARIFF,
  SESSION_TARIFF,
  sessionDifficulty,
} from '../../../src/captcha/plan/tariffs.ts';
import { mintSha256 } from '../../../src/captcha/pow/pow-sha256.ts';
import { levelOf, squaringsOf } from '../../../src/captcha/pow/rsw-key.ts';
import { expectRows } from '../../support/rows.ts';

const NOW = Date.UTC(2026, 10, 20, 12);
const ONE = '192.0.2.1';
const NEIGHBOUR = '192.0.2.2';

type IpAt = (index: number) => string;

const captchas = () => new SolvedPrice(CAPTCHA_TARIFF);
const sessions = () => new SolvedPrice(SESSION_TARIFF);
const clearances = () => new SolvedPrice(CAPTCHA_TARIFF, CLEARANCE_TARIFF);
const at = (ip: string, session: string | null = null): Payer => ({ scope: 'site', ip, session });

let ids = 0;
/** `count` challenges that are asked for and solved one after another, each at the price of its moment. */
function solve(price: SolvedPrice, count: number, ipAt: IpAt = () => ONE, everyMs = 0, session?: string): void {
  for (let index = 0; index < count; index++) {
    const nowMs = NOW + index * everyMs;
    const payer = at(ipAt(index), session);
    const halfSteps = price.halfSteps(payer, nowMs);
    const solved = price.solve(payer, { id: `${ids++}`, halfSteps }, nowMs);
    expect(solved).toEqual({ isNew: true, isTooCheap: false });
  }
}

function priceAfter(price: SolvedPrice, count: number, ipAt: IpAt = () => ONE): number {
  solve(price, count, ipAt);
  return price.halfSteps(at(ipAt(count)), NOW);
}

describe('what is solved', () => {
  test('makes each kind of challenge dearer by its tariff', () =>
    expectRows(
      [
        [captchas, 29, 0],
        [captchas, 30, 1],
        [captchas, 60, 2],
        [captchas, 120, 3],
        [captchas, 240, 4],
        [captchas, 5000, 4],
        [sessions, 29, 0],
        [sessions, 30, 3],
        [sessions, 60, 6],
        [sessions, 120, 9],
        [sessions, 5000, 9],
        [clearances, 19, 0],
        [clearances, 20, 3],
        [clearances, 40, 6],
        [clearances, 5000, 6],
      ],
      ([price, count, halfSteps]) => expect(priceAfter(price(), count)).toBe(halfSteps),
    ));

  test('costs a person of the same address nothing where it is one a second', () => {
    const price = captchas();
    solve(price, 3600, undefined, 1000);
    expect(price.halfSteps(at(ONE), NOW + 3_600_000)).toBe(0);
  });

  test('is forgotten as time passes', () => {
    const dearer = (price: SolvedPrice, minutes: number): number => price.halfSteps(at(ONE), NOW + minutes * 60_000);
    const captcha = captchas();
    const clearance = clearances();
    solve(captcha, 1000);
    solve(clearance, 1000);
    expect([0, 2, 5].map((minutes) => dearer(captcha, minutes))).toEqual([4, 3, 0]);
    expect([0, 6, 16].map((minutes) => dearer(clearance, minutes))).toEqual([6, 3, 0]);
  });

  test('of an address leaves the clearances of its neighbours at the price of a captcha', () => {
    const price = clearances();
    solve(price, 1000);
    expect(price.halfSteps(at(NEIGHBOUR), NOW)).toBe(4);
    expect(price.halfSteps(at('198.51.100.1'), NOW)).toBe(0);
    expect(price.halfSteps({ ...at(ONE), scope: 'another' }, NOW)).toBe(0);
  });

  const hops: [string, IpAt, number][] = [
    ['over the addresses of a /24', (index) => `198.18.0.${index % 256}`, 1],
    ['over the /64s of a /56', (index) => `2001:db8:0:10${(index % 256).toString(16).padStart(2, '0')}::1`, 3],
    ['over the /64s of a /48', (index) => `2001:db8:0:${index.toString(16)}::1`, 10],
    ['over the /24s of a /16', (index) => `198.18.${index % 256}.1`, 10],
  ];

  test.each(hops)('%s costs more, from a larger number on', (_, ipAt, times) => {
    const afterSolving = (count: number): number => priceAfter(captchas(), count, ipAt);
    expect(afterSolving(30 * times - 1)).toBe(0);
    expect(afterSolving(30 * times)).toBe(1);
    expect(afterSolving(240 * times)).toBe(4);
  });

  test('over the 256 networks of one /56 makes its clearances dearer from three times the number on', () => {
    const ipAt: IpAt = (index) => `2001:db8:0:10${(index % 256).toString(16).padStart(2, '0')}::1`;
    const afterSolving = (count: number): number => priceAfter(clearances(), count, ipAt);
    expect([59, 60, 119, 120].map(afterSolving)).toEqual([0, 3, 3, 6]);
  });

  test('makes sessions of a larger network four times as dear at most', () => {
    const price = sessions();
    solve(price, 5000, (index) => `198.18.${index % 256}.1`);
    expect(price.halfSteps(at('198.18.3.1'), NOW)).toBe(6);
    expect(priceAfter(sessions(), 5000)).toBe(9);
  });

  test('by ten people a second of one carrier never costs them more', () => {
    const price = captchas();
    const ipAt: IpAt = (index) => `198.18.${(index * 7) % 256}.${index % 200}`;
    solve(price, 3600, ipAt, 100);
    expect(price.halfSteps(at(ipAt(0)), NOW + 360_000)).toBe(0);
  });

  test('counts once, however often it is sent, and is good again', () => {
    const price = captchas();
    const send = () => price.solve(at(ONE), { id: 'one', halfSteps: 0 }, NOW);
    expect(send()).toEqual({ isNew: true, isTooCheap: false });
    for (let sent = 0; sent < 1000; sent++) expect(send()).toEqual({ isNew: false, isTooCheap: false });
    expect(price.halfSteps(at(NEIGHBOUR), NOW)).toBe(0);
    solve(price, 300);
    expect(send()).toEqual({ isNew: false, isTooCheap: false });
  });

  test('by strangers at the address costs a visitor with a session nothing', () => {
    for (const price of [captchas(), clearances()]) {
      solve(price, 1000);
      expect(price.halfSteps(at(ONE, 'session'), NOW)).toBe(0);
    }
  });

  test('by a session counts for that session, and makes nothing dearer for its neighbours', () => {
    const price = captchas();
    solve(price, 3, undefined, 0, 'session');
    expect(price.halfSteps(at(ONE, 'session'), NOW)).toBe(1);
    expect(price.halfSteps(at(ONE, 'another'), NOW)).toBe(0);
    solve(price, 300, undefined, 0, 'session');
    expect(price.halfSteps(at(ONE), NOW)).toBe(0);
    expect(price.halfSteps(at(NEIGHBOUR), NOW)).toBe(0);
    const clearance = new SolvedPrice(CLEARANCE_TARIFF);
    solve(clearance, 19, undefined, 0, 'session');
    expect(clearance.halfSteps(at(ONE, 'session'), NOW)).toBe(0);
    solve(clearance, 1, undefined, 0, 'session');
    expect(clearance.halfSteps(at(ONE, 'session'), NOW)).toBe(3);
    expect(clearance.halfSteps(at(ONE), NOW)).toBe(0);
  });
});

describe('a stock that was asked for at the base price', () => {
  test('counts until the price is two steps higher', () =>
    expectRows(
      [
        [captchas, 60],
        [sessions, 60],
        [clearances, 40],
      ],
      ([price, most]) => {
        const shop = price();
        const isGood = (_: unknown, index: number) =>
          !shop.solve(at(`192.0.2.1`), { id: `stock ${index}`, halfSteps: 0 }, NOW).isTooCheap;
        expect(Array.from({ length: 500 }).filter(isGood)).toHaveLength(most);
      },
    ));

  test('counts nowhere beyond, and is new work when it is sent for the first time', () => {
    const price = captchas();
    solve(price, 60);
    const send = () => price.solve(at(ONE), { id: 'one', halfSteps: 0 }, NOW);
    expect(send()).toEqual({ isNew: true, isTooCheap: true });
    expect(send()).toEqual({ isNew: false, isTooCheap: true });
    expect(price.solve(at(ONE), { id: 'one', halfSteps: 2 }, NOW)).toEqual({ isNew: true, isTooCheap: false });
  });

  test('is good again when the price has fallen', () => {
    const price = captchas();
    solve(price, 60);
    const send = (nowMs: number) => price.solve(at(ONE), { id: 'one', halfSteps: 0 }, nowMs).isTooCheap;
    expect([send(NOW), send(NOW + 60_000)]).toEqual([true, false]);
  });
});

test('a person is asked for the rest twice at most, however fast the price rises', () => {
  for (const price of [captchas(), sessions(), clearances()]) {
    let halfSteps = 0;
    let repeats = 0;
    for (let burst = 0; burst < 100; burst++) {
      solve(price, 20);
      if (!price.solve(at(ONE), { id: `person ${burst}`, halfSteps }, NOW).isTooCheap) continue;
      halfSteps = price.halfSteps(at(ONE), NOW);
      repeats += 1;
    }
    expect(repeats).toBeGreaterThanOrEqual(1);
    expect(repeats).toBeLessThanOrEqual(2);
  }
});

describe('the rest of a price that has risen', () => {
  const squarings = (difficulty: number): number => squaringsOf(levelOf(difficulty));

  test('is what is missing, and at most a quarter of it more', () => {
    for (let done = 1; done <= 9; done += 0.5) {
      for (let price = done + 1; price <= 10; price += 0.5) {
        const missing = squarings(price) - squarings(done);
        const rest = squarings(restDifficulty(price, done));
        // One squaring of each work is rounded.
        expect(rest).toBeGreaterThanOrEqual(Math.min(missing, squarings(1)) - 3);
        if (missing >= squarings(1)) expect(rest).toBeGreaterThanOrEqual(missing - 3);
        expect(rest).toBeLessThanOrEqual(Math.max(squarings(1), 1.26 * missing + 3));
      }
    }
  });

  test('is the least work where the price was the highest before', () => {
    expect(restDifficulty(10, 10)).toBe(1);
    expect(restDifficulty(10, 9.9)).toBeGreaterThanOrEqual(1);
  });
});

test('a session costs twice as much at each step, and eight times as much at most', () => {
  const squarings = (halfSteps: number): number => squaringsOf(levelOf(sessionDifficulty(halfSteps)));
  expect([0, 3, 6, 9, 12].map(squarings)).toEqual([150_000, 300_000, 600_000, 1_200_000, 1_200_000]);
});

test('a flood of networks pushes out none that is busy', () => {
  const price = captchas();
  solve(price, 240);
  for (let index = 0; index < 120_000; index++) {
    price.solve({ ...at(NEIGHBOUR), scope: `flood ${index}` }, { id: `flood ${index}`, halfSteps: 0 }, NOW);
    if (index % 10_000 === 0) expect(price.halfSteps(at(ONE), NOW)).toBe(4);
  }
  expect(price.halfSteps(at(ONE), NOW)).toBe(4);
});

test('a clock that goes back does not lower the price', () => {
  const price = captchas();
  solve(price, 240);
  expect(price.halfSteps(at(ONE), NOW - 600_000)).toBe(4);
});

test('an old phone without BigInt has computed the dearest session before its challenge ends', () => {
  const { count, bits } = mintSha256(squaringsOf(levelOf(sessionDifficulty(Infinity))));
  const HASHES_PER_SECOND = 300_000;
  const CHALLENGE_SECONDS = 300;
  expect((count * 2 ** bits) / HASHES_PER_SECOND).toBeLessThan(0.8 * CHALLENGE_SECONDS);
});
