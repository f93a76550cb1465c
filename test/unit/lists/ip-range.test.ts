import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatCidr, parseIp } from '../../../src/address/ip.ts';
import { networksOfRange } from '../../../src/lists/read-value.ts';
import { expectRows } from '../../support/rows.ts';

const networks = (first: string, last: string): string[] | undefined =>
  networksOfRange(parseIp(first)!, parseIp(last)!)?.map(formatCidr);

describe('a range', () => {
  test('is covered exactly', () =>
    expectRows(
      [
        ['0.0.0.0', '255.255.255.255', ['0.0.0.0/0']],
        ['1.2.3.4', '1.2.3.4', ['1.2.3.4/32']],
        ['1.2.3.1', '1.2.3.6', ['1.2.3.1/32', '1.2.3.2/31', '1.2.3.4/31', '1.2.3.6/32']],
        ['2001:db8::', '2001:db8::ffff', ['2001:db8::/112']],
        ['::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['::/0']],
      ],
      ([first, last, expected]) => {
        expect(networks(first, last)).toEqual(expected);
      },
    ));

  test('backwards, or of two families, is none', () => {
    expect(networks('1.2.3.5', '1.2.3.4')).toBe(undefined);
    expect(networks('1.2.3.4', '::5')).toBe(undefined);
  });

  test('of the worst ends has as many networks as bits allow', () => {
    expect(networks('0.0.0.1', '255.255.255.254')?.length).toBe(62);
    expect(networks('::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe')?.length).toBe(254);
  });

  test('of IPv6 is covered without gaps and without more', () => {
    const address = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n });
    const wordsOf = (number: bigint) => [96n, 64n, 32n, 0n].map((shift) => Number((number >> shift) & 0xffff_ffffn));
    const numberOf = (words: readonly number[]) => words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
    fc.assert(
      fc.property(address, address, (one, other) => {
        const [first, last] = one < other ? [one, other] : [other, one];
        let next = first;
        for (const { words, prefixLength } of networksOfRange(
          { family: 6, words: wordsOf(first) },
          { family: 6, words: wordsOf(last) },
        )!) {
          const size = 2n ** BigInt(128 - prefixLength);
          expect(numberOf(words)).toBe(next);
          expect(next % size).toBe(0n);
          next += size;
        }
        expect(next - 1n).toBe(last);
      }),
    );
  });

  test('is covered without gaps and without more', () => {
    const word = fc.integer({ min: 0, max: 0xffff_ffff });
    fc.assert(
      fc.property(word, word, (one, other) => {
        const [first, last] = one < other ? [one, other] : [other, one];
        let next = first;
        for (const { words, prefixLength } of networksOfRange(
          { family: 4, words: [first] },
          { family: 4, words: [last] },
        )!) {
          expect(words[0]).toBe(next);
          next += 2 ** (32 - prefixLength);
        }
        expect(next - 1).toBe(last);
      }),
    );
  });
});
