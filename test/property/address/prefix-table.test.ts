/** The prefix table against a scan of big integers, which shares no code with it. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseCidr } from '../../../src/address/ip.ts';
import { PrefixMap } from '../../../src/address/prefix-table.ts';
import { runs } from '../../support/properties.ts';
import { address } from '../rules/arbitraries.ts';
import { holds, longText } from '../rules/oracle.ts';

const prefix = address.chain((home) =>
  fc.integer({ min: 0, max: home.family === 4 ? 32 : 128 }).map((length) => ({ ...home, length })),
);

test('finds the prefixes that contain an address, longest first, as a scan does', () => {
  fc.assert(
    fc.property(fc.array(prefix, { maxLength: 12 }), address, (prefixes, visitor) => {
      const lookup = new PrefixMap(
        prefixes.map((each, index) => [parseCidr(`${longText(each)}/${each.length}`)!, index] as const),
      );
      const wanted = prefixes
        .map((each, index) => ({ each, index }))
        .filter(({ each }) => holds(each, visitor))
        .toSorted((a, b) => b.each.length - a.each.length || a.index - b.index)
        .map(({ index }) => index);
      expect(lookup.all(longText(visitor))).toEqual(wanted);
      expect(lookup.longest(longText(visitor))).toBe(wanted[0] ?? null);
    }),
    { numRuns: runs(1000) },
  );
});

test('finds nothing for a text that is no address', () => {
  const lookup = new PrefixMap([[parseCidr('0.0.0.0/0')!, 'every IPv4 address']]);
  expect(lookup.longest('192.0.2.1')).toBe('every IPv4 address');
  for (const text of ['', 'localhost', '192.0.2', '::1']) {
    expect(lookup.longest(text)).toBeNull();
    expect(lookup.all(text)).toEqual([]);
  }
});
