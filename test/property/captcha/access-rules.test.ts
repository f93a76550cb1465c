/** Compiled rules choose the same rule as a naive reading of the list, in any order. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type AccessRule,
  type AccessVisitor,
  compileAccessRules,
  matchAccessRule,
} from '../../../src/captcha/plan/access-rules.ts';
import { canonicalValue } from '../../../src/rules/canonical.ts';
import { parseCidr, parseIp } from '../../../src/address/ip.ts';
import { runs } from '../../support/properties.ts';

const ips = ['192.0.2.1', '192.0.2.200', '198.51.100.7', '2001:db8::1', '2001:db8:1::1'];
const values = {
  ip: fc.constantFrom(...ips),
  ipMask: fc.constantFrom(
    '192.0.2.0/24',
    '192.0.2.128/25',
    '0.0.0.0/0',
    '2001:db8::/32',
    '2001:db8:1::/48',
    '::/0',
    '192.0.2.1/32',
  ),
  userId: fc.constantFrom('a', 'b'),
  ja4Hash: fc.constantFrom('t13d1516h2_8daaf6152771_a278895b5b6a', 't13d1516h2_8daaf6152771_a278895b5b6b'),
  userAgent: fc.constantFrom('One', 'one', 'Two'),
  countryCode: fc.constantFrom('DE', 'FR'),
  asn: fc.constantFrom('64496', '64497'),
};
type Field = keyof typeof values;
const fields = Object.keys(values) as Field[];

const rule: fc.Arbitrary<AccessRule> = fc
  .record({
    chosen: fc.subarray(fields, { minLength: 1 }),
    texts: fc.record(values),
    type: fc.constantFrom('block', 'restrict'),
    restriction: fc.constantFrom(
      {},
      { captchaType: 'pow' as const },
      { captchaType: 'image' as const },
      { captchaType: 'puzzle' as const },
    ),
    expiry: fc.constantFrom(50, 150),
    userScopeHash: fc.uuid(),
  })
  .map(({ chosen, texts, type, ...rest }) => ({
    ...rest,
    type,
    restriction: type === 'block' ? {} : rest.restriction,
    conditions: chosen.map((field) => {
      const canonical = field === 'userId' || field === 'userAgent' ? null : canonicalValue(field, texts[field]);
      return { field, value: canonical?.ok === true ? canonical.value : texts[field] };
    }),
  }));

const visitor: fc.Arbitrary<AccessVisitor> = fc.record({
  ip: fc.option(fc.constantFrom(...ips)),
  userIds: fc.array(values.userId, { maxLength: 2 }),
  ja4: fc.option(values.ja4Hash),
  userAgent: values.userAgent,
  country: fc.option(values.countryCode),
  asn: fc.option(fc.constantFrom(64_496, 64_497)),
});

function holds({ field, value }: AccessRule['conditions'][number], seen: AccessVisitor): boolean {
  switch (field) {
    case 'ip':
      return seen.ip === value;
    case 'ipMask':
      return seen.ip !== null && inPrefix(seen.ip, value);
    case 'userId':
      return seen.userIds.includes(value);
    case 'ja4Hash':
      return seen.ja4 === value;
    case 'userAgent':
      return seen.userAgent === value;
    case 'countryCode':
      return seen.country === value;
    case 'asn':
      return String(seen.asn) === value;
  }
}

/** Bit by bit, which is slow and hard to get wrong. */
function inPrefix(ip: string, mask: string): boolean {
  const [address, prefix] = [parseIp(ip)!, parseCidr(mask)!];
  if (address.family !== prefix.family) return false;
  const bits = (words: readonly number[]): string => words.map((word) => word.toString(2).padStart(32, '0')).join('');
  return bits(address.words).slice(0, prefix.prefixLength) === bits(prefix.words).slice(0, prefix.prefixLength);
}

const rank = { block: 3, image: 2, puzzle: 1.5, pow: 1, none: 0 };
const rankOf = (one: AccessRule): number =>
  one.type === 'block' ? rank.block : rank[(one.restriction.captchaType ?? 'none') as keyof typeof rank];

function naive(rules: readonly AccessRule[], seen: AccessVisitor): string | null {
  const matching = rules.filter(
    (one) => one.expiry > 100 && one.conditions.every((condition) => holds(condition, seen)),
  );
  const sorted = matching.toSorted(
    (a, b) =>
      b.conditions.length - a.conditions.length ||
      rankOf(b) - rankOf(a) ||
      (a.userScopeHash < b.userScopeHash ? -1 : 1),
  );
  return sorted[0]?.userScopeHash ?? null;
}

describe('compiled access rules', () => {
  test('choose the rule that a plain reading of all rules chooses', () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 30 }), visitor, (rules, seen) => {
        const found = matchAccessRule(compileAccessRules(rules), seen, 100);
        expect(found?.userScopeHash ?? null).toBe(naive(rules, seen));
      }),
      { numRuns: runs(2000) },
    );
  });

  test('choose the same rule in any order of the list', () => {
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 20 }), visitor, (rules, seen) => {
        const forwards = matchAccessRule(compileAccessRules(rules), seen, 100);
        const backwards = matchAccessRule(compileAccessRules(rules.toReversed()), seen, 100);
        expect(backwards).toEqual(forwards);
      }),
    );
  });

  test('never match on a rule without conditions', () => {
    const empty: AccessRule = { userScopeHash: 'x', type: 'block', conditions: [], restriction: {}, expiry: 1000 };
    const seen = { ip: '192.0.2.1', userIds: [], ja4: null, userAgent: '', country: null, asn: null };
    expect(matchAccessRule(compileAccessRules([empty]), seen, 0)).toBeNull();
  });
});
