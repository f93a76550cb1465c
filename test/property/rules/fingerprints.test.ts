/** Sets of JA4 fingerprints against a `Set` of their texts, below and above the size up to which a bitmap filters. */
import { expect, test } from 'vitest';
import { createRuleset } from '../../../src/rules/ruleset.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { propertySeed, runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';
import { match, snapshotOf } from '../../unit/rules/rulesets.ts';
import { type Random, randomFrom } from './random.ts';

const ASKED = runs(4000);

const hex = (random: Random, digits: number): string =>
  Array.from({ length: digits }, () => random.below(16).toString(16)).join('');

const fingerprintOf = (random: Random): string => `t13d1516h2_${hex(random, 12)}_${hex(random, 12)}`;

/** Most changes leave the first four digits of the hash, which the bitmap has. */
function changed(random: Random, fingerprint: string): string {
  const at = random.pick([11, 14, 15, 18, 19, 22, 24, 35]);
  return fingerprint.slice(0, at) + hex(random, 1) + fingerprint.slice(at + 1);
}

test('of any number of fingerprints exactly those match', () =>
  expectRows([1, 40, 3000, 32_768, 32_769], (count) => {
    const random = randomFrom(propertySeed + count);
    const listed = Array.from({ length: count }, () => fingerprintOf(random));
    const known = new Set(listed);
    const rules = listed.map((value): EdgeRule => ({ type: 'ja4Hash', value, verdict: 'block' }));
    const ruleset = createRuleset(snapshotOf(rules), null);
    const wrong = Array.from({ length: ASKED }, (_, i) => {
      const near = random.pick(listed);
      const ja4 = [near, changed(random, near), fingerprintOf(random), near.toUpperCase()][i % 4]!;
      const isKnown = known.has(ja4.toLowerCase());
      return (match(ruleset, { ja4 }).client !== null) === isKnown ? [] : [ja4];
    });
    expect(wrong.flat()).toEqual([]);
  }));
