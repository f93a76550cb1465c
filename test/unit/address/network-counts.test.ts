/** What one isolate counts for the networks of an address. */
import { expect, test } from 'vitest';
import { NetworkCounts } from '../../../src/address/networks.ts';
import { expectRows } from '../../support/rows.ts';

const taken = (counts: NetworkCounts, uses: number, ipAt: (use: number) => string, nowMs = 0): number =>
  Array.from({ length: uses }, (_, use) => counts.take(ipAt(use), nowMs)).filter(Boolean).length;

test('bound the uses of a network, and of the network around it', () =>
  expectRows(
    [
      ['one address', () => '192.0.2.1', 2],
      ['the /24s of a /16', (use: number) => `198.18.${use}.1`, 20],
      ['the /64s of a /56', (use: number) => `2001:db8:0:${use.toString(16)}::1`, 6],
      ['the /56s of a /48', (use: number) => `2001:db8:0:${use.toString(16)}00::1`, 20],
    ],
    ([, ipAt, bound]) => {
      expect(taken(new NetworkCounts(2, 1000), 100, ipAt)).toBe(bound);
    },
  ));

test('a network that is used up takes nothing from the larger one', () => {
  const counts = new NetworkCounts(2, 1000);
  taken(counts, 1000, () => '198.18.0.1');
  expect(counts.hasRoom('198.18.0.1', 0)).toBe(false);
  expect(taken(counts, 100, (use) => `198.18.${use + 1}.1`)).toBe(18);
});

test('a window ends, and another network was never counted', () => {
  const counts = new NetworkCounts(1, 1000);
  expect([counts.take('192.0.2.1', 0), counts.take('192.0.2.2', 0), counts.take('198.51.100.1', 0)]).toEqual([
    true,
    false,
    true,
  ]);
  expect(counts.take('192.0.2.1', 1001)).toBe(true);
});

test('visitors without a known address share one count', () => {
  const counts = new NetworkCounts(1, 1000);
  expect([counts.take(null, 0), counts.take('nonsense', 0)]).toEqual([true, false]);
});

test('each address has a reserve that its neighbours cannot use up, and that uses up nothing of theirs', () => {
  const counts = new NetworkCounts(5, 1000, 2);
  expect(taken(counts, 1000, () => '192.0.2.1')).toBe(7);
  expect(taken(counts, 100, () => '192.0.2.2')).toBe(2);
  expect(counts.hasRoom('192.0.2.3', 0)).toBe(true);
  expect(taken(counts, 2, () => '192.0.2.3', 1001)).toBe(2);
  expect(taken(new NetworkCounts(5, 1000, 2), 100, (use) => `192.0.2.${use % 3}`)).toBe(3 * 2 + 5);
});

test('who earned a session has a reserve of their own, also behind the address of a flood', () => {
  const counts = new NetworkCounts(5, 1000, 2);
  expect(taken(counts, 1000, () => '192.0.2.1')).toBe(7);
  expect([1, 2, 3].map(() => counts.take('192.0.2.1', 0, 'session'))).toEqual([true, true, false]);
  expect(counts.take('192.0.2.1', 0, 'another')).toBe(true);
});

test('a /56 has a reserve of its own, and so has each of its /64s: a household, or 256 phones', () => {
  const counts = new NetworkCounts(1, 1000, 2);
  const phones = 200;
  expect(taken(counts, 10_000, (use) => `2001:db8:0:${(use % phones).toString(16)}::1`)).toBe(2 + 2 * phones + 3);
  expect(taken(counts, 100, () => '2001:db8:0:ff::1')).toBe(2);
  expect(taken(counts, 2, () => '2001:db8:0:100::1')).toBe(2);
});

test('the /64s of a /48 have as many reserves together as the addresses of a /24', () => {
  const counts = new NetworkCounts(1, 1000, 2);
  const ipAt = (use: number): string => `2001:db8:0:${(use % 0x10_00).toString(16)}::1`;
  const households = 16;
  expect(taken(counts, 20_000, ipAt)).toBe(2 * households + 2 * 256 + 10);
});
