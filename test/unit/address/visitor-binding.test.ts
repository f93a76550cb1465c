/** The network and the user agent that a session and a clearance are bound to. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatV4, formatV6 } from '../../../src/address/ip.ts';
import { addressPrefix } from '../../../src/address/networks.ts';
import { visitorBinding } from '../../../src/address/visitor-binding.ts';
import { expectRows } from '../../support/rows.ts';

const word = fc.oneof(fc.nat({ max: 0xffffffff }), fc.constantFrom(0, 1, 0xffff, 0x10000, 0xffffffff));

describe('the network that a visitor is bound to', () => {
  test('is the /24 or /64 of the address', () =>
    expectRows(
      [
        ['192.0.2.77', '192.0.2.0/24'],
        ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
        ['2001:db8::1', '2001:db8::/64'],
        ['::1', '::/64'],
        ['2001:db8:1:2::', '2001:db8:1:2::/64'],
        ['::', '::/64'],
        [null, 'none'],
      ],
      ([ip, prefix]) => {
        expect(addressPrefix(ip)).toBe(prefix);
      },
    ));

  test('is the same for two addresses exactly when their /24 or /64 is the same', () => {
    const v4 = word.map((value) => ({ text: formatV4(value), network: `${value >>> 8}` }));
    const v6 = fc
      .tuple(fc.integer({ min: 1, max: 0xffff_ffff }), word, word, word)
      .map((words) => ({ text: formatV6(...words), network: `${words[0]}:${words[1]}` }));
    const address = fc.oneof(v4, v6);
    fc.assert(
      fc.property(address, address, (a, b) => {
        expect(addressPrefix(a.text) === addressPrefix(b.text)).toBe(a.network === b.network);
      }),
    );
    fc.assert(
      fc.property(word, word, fc.tuple(word, word, word, word), (host, network, [w0, w1, w2, w3]) => {
        expect(addressPrefix(formatV4((network & 0xffff_ff00) | (host & 255)))).toBe(addressPrefix(formatV4(network)));
        expect(addressPrefix(formatV6(w0 | 1, w1, host, network))).toBe(addressPrefix(formatV6(w0 | 1, w1, w2, w3)));
      }),
    );
  });

  test('another user agent or another network gives another binding', async () => {
    const binding = await visitorBinding('192.0.2.1', 'Mozilla/5.0');
    expect(binding).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(await visitorBinding('192.0.2.200', 'Mozilla/5.0')).toBe(binding);
    expect(await visitorBinding('192.0.3.1', 'Mozilla/5.0')).not.toBe(binding);
    expect(await visitorBinding('192.0.2.1', 'curl/8')).not.toBe(binding);
    expect(await visitorBinding(null, 'Mozilla/5.0')).not.toBe(binding);
  });
});
