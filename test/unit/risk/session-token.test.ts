/** What a session is tied to, and the JWT that carries it. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mintSessionJwt, splitSessionCookie, verifySessionJwt } from '../../../src/risk/session-token.ts';
import type { SessionClaims } from '../../../src/risk/session-token.ts';
import { addressPrefix, visitorBinding } from '../../../src/address/visitor-binding.ts';
import { formatV4, formatV6 } from '../../../src/address/ip.ts';

const word = fc.oneof(fc.nat({ max: 0xffffffff }), fc.constantFrom(0, 1, 0xffff, 0x10000, 0xffffffff));

describe('the network a visitor is tied to', () => {
  test.each([
    ['192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['::1', '::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['::', '::/64'],
    [null, 'none'],
  ])('of %s is %s', (ip, prefix) => {
    expect(addressPrefix(ip)).toBe(prefix);
  });

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

  test('a user agent or a network that differs gives another binding', async () => {
    const binding = await visitorBinding('192.0.2.1', 'Mozilla/5.0');
    expect(binding).toMatch(/^[A-Za-z0-9_-]{22}$/);
    expect(await visitorBinding('192.0.2.200', 'Mozilla/5.0')).toBe(binding);
    expect(await visitorBinding('192.0.3.1', 'Mozilla/5.0')).not.toBe(binding);
    expect(await visitorBinding('192.0.2.1', 'curl/8')).not.toBe(binding);
    expect(await visitorBinding(null, 'Mozilla/5.0')).not.toBe(binding);
  });
});

describe('a session JWT', () => {
  const key = new Uint8Array(32).fill(7);
  const now = 1_800_000_000_000;
  const claims: SessionClaims = {
    jti: 'jti-1',
    sub: 'inst_1',
    iat: now / 1000,
    exp: now / 1000 + 300,
    sxp: now / 1000 + 3600,
    risk: 0.25,
    bnd: 'binding',
  };
  const keyOf = (kid: string) => (kid === 'w1' ? key : null);

  test('has one spelling: blanks, padding or spare bits in the signature make it another text', async () => {
    const jwt = await mintSessionJwt(key, 'w1', claims);
    const spareBits = String.fromCharCode(jwt.charCodeAt(jwt.length - 1) + 1);
    const spellings = [`${jwt.slice(0, -5)} ${jwt.slice(-5)}`, `${jwt}=`, `${jwt}\t`, jwt.slice(0, -1) + spareBits];
    const readings = await Promise.all(spellings.map((text) => verifySessionJwt(text, keyOf, 'inst_1', now)));
    expect(readings).toEqual(spellings.map(() => 'malformed'));
    expect(await verifySessionJwt(jwt, keyOf, 'inst_1', now)).toMatchObject({ jti: 'jti-1' });
  });

  test('gives back its claims for its instance, key and time', async () => {
    const jwt = await mintSessionJwt(key, 'w1', claims);
    expect(await verifySessionJwt(jwt, keyOf, 'inst_1', now + 299_000)).toEqual(claims);
    expect(await verifySessionJwt(jwt, keyOf, 'inst_1', now + 400_000)).toBe('expired');
    expect(await verifySessionJwt(jwt, keyOf, 'inst_1', now + 400_000, true)).toEqual(claims);
    expect(await verifySessionJwt(jwt, keyOf, 'inst_2', now)).toBe('malformed');
    expect(await verifySessionJwt(jwt, () => null, 'inst_1', now)).toBe('bad-signature');
    expect(await verifySessionJwt(jwt, () => new Uint8Array(32), 'inst_1', now)).toBe('bad-signature');
  });

  test('with any one character changed is no session', async () => {
    const jwt = await mintSessionJwt(key, 'w1', claims);
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: jwt.length - 2 }), fc.constantFrom('A', 'b', '0', '-', '.'), async (at, put) => {
        fc.pre(jwt[at] !== put);
        const changed = jwt.slice(0, at) + put + jwt.slice(at + 1);
        expect(typeof (await verifySessionJwt(changed, keyOf, 'inst_1', now))).toBe('string');
      }),
    );
  });

  test('lacking a claim is malformed', async () => {
    for (const name of ['jti', 'sxp', 'risk', 'bnd'] as const) {
      const lacking: Partial<SessionClaims> = { ...claims };
      delete lacking[name];
      const jwt = await mintSessionJwt(key, 'w1', lacking as SessionClaims);
      expect(await verifySessionJwt(jwt, keyOf, 'inst_1', now)).toBe('malformed');
    }
  });
});

test.each([
  ['abc|x.y.z', { jti: 'abc', jwt: 'x.y.z' }],
  ['abc', { jti: 'abc', jwt: null }],
  ['abc|', { jti: 'abc', jwt: '' }],
  ['|x', null],
  ['a b|x', null],
  ['a;b', null],
  ['a'.repeat(257), null],
])('the cookie %s reads as %o', (value, wanted) => {
  expect(splitSessionCookie(value)).toEqual(wanted);
});
