/**
 * Rules and requests from a small set of values, so that they match each other: a few ranges of addresses, short words
 * of a small alphabet, and numbers around a few limits.
 */
import * as fc from 'fast-check';
import { decisions } from '../../../src/contract/vocabulary.ts';
import { type OracleAddress, type OracleRule, type OracleSignals, longText } from './oracle.ts';

const v4Homes = [0x0a000000n, 0x0a0000ffn, 0xc0000200n, 0n, 0xffffffffn, 0x7fffffffn, 0x80000000n];
const v6Homes = [
  0x20010db8_00000000_00000000_00000001n,
  0x20010db8_ffffffff_ffffffff_ffffffffn,
  // The 6to4 address of 10.0.0.1, and an address just below the mapped block.
  0x20020a00_00010000_00000000_00000000n,
  0x00000000_00000000_0000fffe_0a000001n,
  0n,
  (1n << 128n) - 1n,
];

/** A home with some of its low bits changed. */
export const address: fc.Arbitrary<OracleAddress> = fc.oneof(
  fc
    .record({
      home: fc.constantFrom(...v4Homes),
      bits: fc.integer({ min: 0, max: 32 }),
      noise: fc.bigInt(0n, 0xffffffffn),
    })
    .map(({ home, bits, noise }) => ({ family: 4 as const, bits: home ^ (noise & ((1n << BigInt(bits)) - 1n)) })),
  fc
    .record({
      home: fc.constantFrom(...v6Homes),
      bits: fc.integer({ min: 0, max: 128 }),
      noise: fc.bigInt(0n, (1n << 128n) - 1n),
    })
    .map(({ home, bits, noise }) => ({ family: 6 as const, bits: home ^ (noise & ((1n << BigInt(bits)) - 1n)) }))
    // The engine turns mapped addresses into IPv4 and the oracle does not. They have tests of their own.
    .filter(({ bits }) => bits >> 32n !== 0xffffn),
);

const chars = ['a', 'b', 'A', '/', ' ', '1', 'é', 'É', 'Σ', 'ς', 'я', 'Я', 'K', 'İ', '😀'];
const word = (maxLength: number): fc.Arbitrary<string> =>
  fc.oneof(
    fc.array(fc.constantFrom('a', 'b', 'A', '/'), { minLength: 1, maxLength }).map((parts) => parts.join('')),
    fc.array(fc.constantFrom(...chars), { minLength: 1, maxLength }).map((parts) => parts.join('')),
    fc.constantFrom(
      'aaaaaaaaaaaab',
      'aaaaaaaaaaaac',
      'abababababab1',
      'Mozilla/5.0',
      'bot',
      'googlebot',
      'MOZILLA/5.0 (a',
    ),
  );

const ja4 = fc
  .tuple(
    fc.constantFrom('t13d1516h2', 'q13d0310h3', 't12i150700'),
    fc.constantFrom('8daaf6152771', '8daaf6152772'),
    fc.constantFrom('02713d6af862', 'ffffffffffff', '000000000000'),
  )
  .map((parts) => parts.join('_'));
const asn = fc.constantFrom(0, 1, 64_496, 65_536, 4_294_967_295);
const country = fc.constantFrom('DE', 'DK', 'US', 'T1', 'XX', 'AD');

const what: fc.Arbitrary<Pick<OracleRule, 'type' | 'value' | 'prefix'>> = fc.oneof(
  {
    weight: 3,
    arbitrary: address.map((a) => ({
      type: 'ip' as const,
      value: '',
      prefix: { ...a, length: a.family === 4 ? 32 : 128 },
    })),
  },
  {
    weight: 6,
    arbitrary: fc.tuple(address, fc.integer({ min: 0, max: 128 })).map(([a, cut]) => {
      const size = a.family === 4 ? 32 : 128;
      const length = a.family === 4 ? cut >> 2 : cut;
      const host = BigInt(size - length);
      return {
        type: 'ipMask' as const,
        value: '',
        prefix: { family: a.family, bits: (a.bits >> host) << host, length },
      };
    }),
  },
  { weight: 1, arbitrary: asn.map((value) => ({ type: 'asn' as const, value: String(value) })) },
  { weight: 1, arbitrary: country.map((value) => ({ type: 'countryCode' as const, value })) },
  { weight: 1, arbitrary: ja4.map((value) => ({ type: 'ja4Hash' as const, value })) },
  {
    weight: 5,
    arbitrary: word(6)
      .filter((text) => text.trim() !== '')
      .map((value) => ({ type: 'userAgent' as const, value })),
  },
);

/** The canonical `value` of address rules comes from the engine. */
export const rule: fc.Arbitrary<OracleRule> = fc
  .record(
    {
      what,
      verdict: fc.constantFrom(...decisions),
      mode: fc.constantFrom('enforce' as const, 'monitor' as const),
      expiry: fc.constantFrom(0, 99, 100, 101, 4_000_000_000),
      rollout: fc.constantFrom(0, 0.01, 50, 99.99, 100),
    },
    { requiredKeys: ['what', 'verdict'] },
  )
  .map(({ what: body, ...rest }) => ({ ...body, ...rest }));

export const userAgent: fc.Arbitrary<string> = fc.oneof(
  fc.constant(''),
  fc.array(word(6), { maxLength: 8 }).map((words) => words.join('')),
);

/** The facts about a visitor other than the user agent. */
export const visitor: fc.Arbitrary<Omit<OracleSignals, 'userAgent'>> = fc
  .record({
    address: fc.option(address, { freq: 20 }),
    asn: fc.option(asn),
    countryCode: fc.option(country),
    ja4: fc.option(
      fc.oneof(
        ja4,
        ja4.map((text) => text.toUpperCase()),
        fc.constant('nonsense'),
      ),
    ),
    rolloutBucket: fc.constantFrom(0, 1, 4999, 5000, 9998, 9999),
  })
  .map((facts) => ({ ...facts, ip: facts.address && longText(facts.address) }));
