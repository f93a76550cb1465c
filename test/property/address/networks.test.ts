/** The networks of an address against big integers, which share no code with them. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { addressPrefix, neighboursOf, networksOf } from '../../../src/address/networks.ts';
import { address } from '../rules/arbitraries.ts';
import { holds, longText } from '../rules/oracle.ts';
import { parseCidr } from '../../../src/address/ip.ts';
import { runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';

const lengths = { 4: [24, 16], 6: [64, 56, 48] } as const;

test('begin with the network that sessions are bound to, and each next one is larger and has a larger bound', () => {
  fc.assert(
    fc.property(address, (visitor) => {
      const networks = networksOf(longText(visitor));
      const prefixes = networks.map(({ prefix }) => parseCidr(prefix)!);
      expect(prefixes.map(({ prefixLength }) => prefixLength)).toEqual(lengths[visitor.family]);
      expect(networks[0]!.prefix).toBe(addressPrefix(longText(visitor)));
      const bounds = networks.map(({ times }) => times);
      expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
      expect(bounds[0]).toBe(1);
    }),
    { numRuns: runs(1000) },
  );
});

test('are shared by exactly the addresses that agree in so many bits', () => {
  fc.assert(
    fc.property(address, address, (one, other) => {
      const [ours, theirs] = [networksOf(longText(one)), networksOf(longText(other))];
      for (const [level, length] of lengths[one.family].entries()) {
        const isShared = one.family === other.family && holds({ ...one, length }, other);
        expect(ours[level]!.prefix === theirs[level]?.prefix).toBe(isShared);
      }
    }),
    { numRuns: runs(1000) },
  );
});

test('an address has its networks, from the nearest to the widest', () =>
  expectRows(
    [
      ['192.0.2.77', ['192.0.2.0/24', '192.0.0.0/16']],
      ['::ffff:192.0.2.77', ['192.0.2.0/24', '192.0.0.0/16']],
      ['2001:db8:1:2345::9', ['2001:db8:1:2345::/64', '2001:db8:1:2300::/56', '2001:db8:1::/48']],
      ['not an address', ['none']],
      [null, ['none']],
    ],
    ([ip, prefixes]) => {
      expect(networksOf(ip).map(({ prefix }) => prefix)).toEqual(prefixes);
    },
  ));

test('neighbours share a /24 or /56, and around it a /16 or /48', () => {
  fc.assert(
    fc.property(address, address, (one, other) => {
      const [ours, theirs] = [neighboursOf(longText(one)), neighboursOf(longText(other))];
      const isShared = (v4: number, v6: number): boolean =>
        holds({ ...one, length: one.family === 4 ? v4 : v6 }, other);
      expect(ours.near === theirs.near).toBe(isShared(24, 56));
      expect(ours.around === theirs.around).toBe(isShared(16, 48));
    }),
    { numRuns: runs(1000) },
  );
  expect(neighboursOf(null)).toEqual({ near: 'none', around: 'none' });
});
