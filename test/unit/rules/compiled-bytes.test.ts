/**
 * A compiled file is named by its hash, and edges of several releases read it, so its bytes may change only together
 * with the name of its format. The hashes are of files that were compiled before.
 */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { type Decision, decisions } from '../../../src/contract/vocabulary.ts';
import { rulesetFormats } from '../../../src/contract/edge/formats.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { expectRows } from '../../support/rows.ts';
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
  expect(rulesetFormats[0]).toBe('GHRULES3');
});

test('a file has the same bytes in every release', () =>
  expectRows<[string, EdgeRule['type'][], (i: number) => boolean, string]>(
    [
      [
        'all types, some with a side row',
        all,
        (i) => i % 3 !== 0,
        'eba995fd9a545bc15a9ef90831fc0e11712be8cd266a2cf8004d3362c5d50b1f',
      ],
      [
        'all types, none with a side row',
        all,
        () => true,
        'a6f18112ef6966888b86193fb2b1c3d16c591f76ea5b5d2d52b1c0fe7216da7a',
      ],
      [
        'two types, all with side rows',
        ['ja4Hash', 'asn'],
        () => false,
        'da9afd54d32e3eca3606cd87b69f0da1d2ff57b4d2f20cbbbc4317c270eb9486',
      ],
      [
        'user agents only',
        ['userAgent'],
        (i) => i % 2 === 0,
        '74bdb54ffb40ae1693a538567f979d3096dffda8ab6d5e1c8fda208b0ac3c1da',
      ],
    ],
    ([, types, isPlain, hash]) => {
      expect(sha256(compile(rules(types, isPlain)))).toBe(hash);
    },
  ));

test('a file without rules has the same bytes in every release', () => {
  expect(sha256(compile([]))).toBe('cf92eb47dc8c680122074af4bf72bcf7c119c0592dc91f3f36691dd454eb9c88');
});
