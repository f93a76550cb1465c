/** How much of the internet a reading adds, by its entries in their order. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { CoveredSpace } from '../../../src/lists/covered-space.ts';
import { keyOfRule, networkKey } from '../../../src/lists/entry-key.ts';
import { expectRows } from '../../support/rows.ts';

function excessOf(keys: readonly string[]): string | null {
  const space = new CoveredSpace();
  for (const key of [...new Set(keys)].toSorted()) space.add(key);
  return space.excess;
}

const networks = (count: number, value: (i: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => keyOfRule({ type: 'ipMask', value: value(i) })!);

test('the excess of a list that covers too much is named, and no other list has one', () =>
  expectRows<[string, string[], string | null]>(
    [
      ['a million addresses', networks(1_000_000, (i) => `20.${i >> 16}.${(i >> 8) & 255}.${i & 255}/32`), null],
      ['a sixteenth of IPv4', networks(16, (i) => `${20 + i}.0.0.0/8`), null],
      [
        'a sixteenth of IPv4 and an address',
        [...networks(16, (i) => `${20 + i}.0.0.0/8`), ...networks(1, () => '9.9.9.9/32')],
        '6 % of all IPv4 addresses',
      ],
      ['all of IPv4, in a few lines', networks(215, (i) => `${1 + i}.0.0.0/8`), '84 % of all IPv4 addresses'],
      ['eight of the widest IPv6 networks', networks(8, (i) => `2a00:${(0x2000 * i).toString(16)}::/19`), null],
      [
        'nine of them',
        networks(9, (i) => `2a0${i >> 3}:${(0x2000 * (i & 7)).toString(16)}::/19`),
        'IPv6 networks of the size of 73728 providers (/32)',
      ],
      ['eight countries', ['cDE', 'cFR', 'cPL', 'cIT', 'cES', 'cNL', 'cBE', 'cAT'], null],
      ['nine countries', ['cDE', 'cFR', 'cPL', 'cIT', 'cES', 'cNL', 'cBE', 'cAT', 'cCH'], '9 countries'],
    ],
    ([, keys, excess]) => {
      expect(excessOf(keys)).toBe(excess);
    },
    ([name]) => name,
  ));

test('networks inside one another count once, like addresses that are counted one by one', () => {
  // Of 256 networks of /8, as many addresses as each has.
  const network = fc.tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 1, max: 8 }));
  fc.assert(
    fc.property(fc.array(network, { maxLength: 40 }), (wanted) => {
      const covered = new Set<number>();
      const keys = wanted.map(([octet, length]) => {
        const first = octet & (0xff << (8 - length)) & 0xff;
        for (let i = 0; i < 2 ** (8 - length); i += 1) covered.add(first + i);
        return networkKey(4, [(first << 24) >>> 0], length);
      });
      const percent = `${Math.round((100 * covered.size) / 256)} % of all IPv4 addresses`;
      expect(excessOf(keys)).toBe(covered.size > 16 ? percent : null);
    }),
  );
});
