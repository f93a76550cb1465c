import { describe, expect, test } from 'vitest';
import type { EdgeRuleType } from '../../../src/contract/vocabulary.ts';
import { USER_AGENT_VALUE_MAX_CHARS, canonicalValue } from '../../../src/rules/canonical.ts';
import { expectRows } from '../../support/rows.ts';

const JA4 = 't13d1516h2_8daaf6152771_02713d6af862';

describe('a rule value', () => {
  test('becomes canonical', () =>
    expectRows<[EdgeRuleType, string | number, string]>(
      [
        ['ip', '::FFFF:1.2.3.4', '1.2.3.4'],
        ['ip', '2001:DB8::0', '2001:db8::'],
        ['ipMask', '1.2.3.4/24', '1.2.3.0/24'],
        ['ipMask', '1.2.3.4/0', '0.0.0.0/0'],
        ['asn', 'AS64496', '64496'],
        ['asn', 'as64496', '64496'],
        ['asn', '0', '0'],
        ['asn', 4_294_967_295, '4294967295'],
        ['countryCode', 'de', 'DE'],
        ['countryCode', 't1', 'T1'],
        ['countryCode', 'xx', 'XX'],
        ['ja4Hash', JA4.toUpperCase(), JA4],
        ['ja4Hash', 'qd1i000000_000000000000_000000000000', 'qd1i000000_000000000000_000000000000'],
        ['userAgent', 'GoogleBot', 'googlebot'],
        ['userAgent', ' Bot ', ' bot '],
        ['userAgent', 'ЯНДЕКС', 'яндекс'],
        ['userAgent', 'ΟΔΟΣ', 'οδοσ'],
      ],
      ([type, value, canonical]) => {
        expect(canonicalValue(type, value)).toEqual({ ok: true, value: canonical });
      },
    ));

  test('of another form is refused with a reason', () =>
    expectRows<[EdgeRuleType, string | number]>(
      [
        ['ip', '1.2.3.0/24'],
        ['ip', '1.2.3'],
        ['ip', 16_909_060],
        ['ipMask', '1.2.3.4'],
        ['ipMask', '1.2.3.4/33'],
        ['asn', '-1'],
        ['asn', '064496'],
        ['asn', '1.10'],
        ['asn', '4294967296'],
        ['asn', 'AS'],
        ['asn', 1.5],
        ['asn', Number.NaN],
        ['countryCode', 'UK'],
        ['countryCode', 'D'],
        ['countryCode', 'DEU'],
        ['countryCode', ''],
        ['countryCode', 'ıt'],
        ['ja4Hash', JA4.slice(1)],
        ['ja4Hash', `${JA4}0`],
        ['ja4Hash', JA4.replace('8', 'g')],
        ['ja4Hash', JA4.replace('t', 'x')],
        // The Kelvin sign, which becomes a plain k in lower case.
        ['ja4Hash', JA4.replace('h2', '\u212a2')],
        ['userAgent', ''],
        ['userAgent', ' \t'],
        ['userAgent', 'a\nb'],
        ['userAgent', 'a\u0000'],
        ['userAgent', '\ud800'],
        ['userAgent', 'x'.repeat(USER_AGENT_VALUE_MAX_CHARS + 1)],
        ['userAgent', 7],
      ],
      ([type, value]) => {
        expect(canonicalValue(type, value)).toEqual({ ok: false, error: expect.stringMatching(/^(is|has|must)/) });
      },
    ));

  test('in canonical form is its own canonical value', () => {
    for (const [type, value] of [
      ['ip', '::ffff:1.2.3.4'],
      ['ipMask', 'ffff::/3'],
      ['asn', 'AS7'],
      ['countryCode', 'fr'],
      ['ja4Hash', JA4],
      ['userAgent', 'İ K ß ς'],
    ] as const) {
      const once = canonicalValue(type, value);
      expect(once.ok && canonicalValue(type, once.value)).toEqual(once);
    }
  });
});
