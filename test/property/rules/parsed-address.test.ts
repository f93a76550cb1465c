/** An address that was parsed already, as the edge hands it over, matches what its text matches. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readIp } from '../../../src/address/ip.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';
import { match, rulesetOf } from '../../unit/rules/rulesets.ts';
import { address } from './arbitraries.ts';
import { longText } from './oracle.ts';

const networks = ['10.0.0.0/8', '192.0.2.0/24', '0.0.0.0/1', '2001:db8::/32', '2001:db8::/126', '::/0', '0.0.0.0/0'];
const rules: EdgeRule[] = [
  ...networks.map((value): EdgeRule => ({ type: 'ipMask', value, verdict: 'block' })),
  ...['10.0.0.1', '192.0.2.0', '255.255.255.255', '2001:db8::1', '::'].map((value): EdgeRule => ({
    type: 'ip',
    value,
    verdict: 'allow',
  })),
];

test('a parsed address matches the same rules as its text', () => {
  const ruleset = rulesetOf(rules);
  fc.assert(
    fc.property(address, fc.boolean(), (visitor, isMapped) => {
      const given = isMapped && visitor.family === 4 ? `::ffff:${longText(visitor)}` : longText(visitor);
      const read = readIp(given)!;
      const byText = match(ruleset, { ip: read.text });
      expect(byText.fired.length).toBeGreaterThan(0);
      expect(match(ruleset, { ip: read.text, parsedIp: read.parsed })).toEqual(byText);
      expect(match(ruleset, { ip: given })).toEqual(byText);
    }),
    { numRuns: runs(2000) },
  );
});

test('a text that is malformed is no address', () =>
  expectRows([null, '', '1.2.3', 'localhost', '1.2.3.4.5', '[::1]'], (text) => {
    expect(readIp(text)).toBe(null);
  }));
