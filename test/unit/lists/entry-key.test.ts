import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatCidr, parseCidr, prefixOf } from '../../../src/address/ip.ts';
import { type EntryValue, keyOfRule, keysIn, ruleOfKey } from '../../../src/lists/entry-key.ts';
import { expectRows } from '../../support/rows.ts';

const word = fc.integer({ min: 0, max: 0xffff_ffff });
const network = (family: 4 | 6): fc.Arbitrary<EntryValue> =>
  fc
    .tuple(
      fc.array(word, { minLength: family === 4 ? 1 : 4, maxLength: family === 4 ? 1 : 4 }),
      fc.nat(family === 4 ? 32 : 128),
    )
    .map(([words, length]) => ({ type: 'ipMask', value: formatCidr(prefixOf({ family, words }, length)) }));
const entry: fc.Arbitrary<EntryValue> = fc.oneof(
  network(4),
  network(6),
  word.map((asn): EntryValue => ({ type: 'asn', value: String(asn) })),
  fc.constantFrom('DE', 'T1', 'XX').map((value): EntryValue => ({ type: 'countryCode', value })),
);

describe('the key of an entry', () => {
  test('leads back to the entry', () => {
    fc.assert(
      fc.property(entry, (one) => {
        const key = keyOfRule(one);
        expect(key).not.toBe(null);
        expect(ruleOfKey(key!)).toEqual(one);
      }),
    );
  });

  test('sorts networks by address, a wider one before those inside it', () => {
    fc.assert(
      fc.property(fc.array(network(4), { minLength: 2 }), (entries) => {
        const byKey = entries.map((one) => keyOfRule(one)!).toSorted();
        const byValue = entries
          .map(({ value }) => parseCidr(value)!)
          .toSorted((a, b) => a.words[0]! - b.words[0]! || a.prefixLength - b.prefixLength);
        expect(byKey.map((key) => ruleOfKey(key).value)).toEqual(byValue.map(formatCidr));
      }),
    );
  });

  test('needs no separator', () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const keys = entries.map((one) => keyOfRule(one)!);
        expect([...keysIn(keys.join(''))]).toEqual(keys);
      }),
    );
  });

  test('does not exist for rules that lists cannot have', () => {
    expect(keyOfRule({ type: 'ip', value: '192.0.2.7' })).toBe(null);
    expect(keyOfRule({ type: 'userAgent', value: 'curl' })).toBe(null);
    expect(keyOfRule({ type: 'ja4Hash', value: 't13d1516h2_8daaf6152771_02713d6af862' })).toBe(null);
  });

  test('is refused when it is malformed', () =>
    expectRows(['x', '4c0000200', '4c00002002', 'cD', '4c000020018a'], (text) => {
      expect(() => [...keysIn(text)].map(ruleOfKey)).toThrow(TypeError);
    }));
});
