/**
 * A compiled file is named by its hash, and edges of several releases read it, so its bytes may change only together
 * with the name of its format. The hashes are of files that were compiled before.
 */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Decision, decisions } from '../../../src/contract/vocabulary.ts';
import { SNAPSHOT_MAGIC } from '../../../src/rules/layout.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { compile } from './rulesets.ts';

const COUNT = 5000;
/** The same numbers in every run. */
const number = (i: number, bound: number): number => (Math.imul(i ^ 0x5bd1e995, 0x9e3779b1) >>> 8) % bound;
const hex = (i: number, digits: number): string =>
  number(i, 2 ** 24)
    .toString(16)
    .padStart(digits, '0');

const values: Record<EdgeRule['type'], (i: number) => string> = {
  ip: (i) =>
    i % 3 === 0 ? `2001:db8:${hex(i, 6).slice(2)}::${i.toString(16)}` : `10.${i % 7}.${i % 251}.${number(i, 256)}`,
  ipMask: (i) =>
    i % 3 === 0 ? `2001:db8:${hex(i, 6).slice(2)}::/48` : `10.${number(i, 16) * 16}.0.0/${12 + number(i, 4)}`,
  asn: (i) => String(number(i, 4000)),
  countryCode: (i) => ['DE', 'FR', 'US', 'T1', 'XX'][i % 5]!,
  ja4Hash: (i) => `t13d1516h2_${hex(i, 12)}_${hex(i + 1, 12)}`,
  userAgent: (i) =>
    `${['bot', 'Crawler', 'é', 'x'][i % 4]}${number(i, 3000).toString(36)}`.toLowerCase().repeat(1 + (i % 3)),
};

function* rules(types: readonly EdgeRule['type'][], isPlain: (i: number) => boolean): Generator<EdgeRule> {
  for (let i = 0; i < COUNT; i++) {
    const type = types[i % types.length]!;
    const verdict: Decision = decisions[number(i, 3)]!;
    const extras: Partial<EdgeRule> = isPlain(i)
      ? {}
      : { expiry: 1_700_000_000 + number(i, 1000), ...(i % 2 === 0 ? { rollout: i % 101 } : { mode: 'monitor' }) };
    yield { type, value: values[type](i), verdict, ...extras };
  }
}

const all = Object.keys(values) as EdgeRule['type'][];
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

test('the hashes here belong to the name of the format', () => {
  expect(SNAPSHOT_MAGIC).toBe('GHRULES2');
});

test.each<[string, EdgeRule['type'][], (i: number) => boolean, string]>([
  [
    'all types, some with a side row',
    all,
    (i) => i % 3 !== 0,
    '005a82fd171319be6d8bd76d38f0eb758814f0ea12aa5edef2eccf236f300037',
  ],
  [
    'all types, none with a side row',
    all,
    () => true,
    '3792f38c58aed492d6231f8dc12e8ae612f0b8d09e665168e388445806d9fe52',
  ],
  [
    'two types, all with side rows',
    ['ja4Hash', 'asn'],
    () => false,
    '737af8a18f9c9c32849c730fcc458dc3ea56c27068dc8536acf61929119d8471',
  ],
  [
    'user agents only',
    ['userAgent'],
    (i) => i % 2 === 0,
    'd9383402effde1c0b4660a0c631758a924fa9df6b1c633b2f3fcb4f71bf7216b',
  ],
])('a file with %s has the same bytes in every release', (_, types, isPlain, hash) => {
  expect(sha256(compile(rules(types, isPlain)))).toBe(hash);
});

test('a file without rules has the same bytes in every release', () => {
  expect(sha256(compile([]))).toBe('ed7d0e9488d904e026ad03d04638796603fb00fd0f042d8a2b4ebe39a5d72e7a');
});
