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
        '1da601a9a3a8c69054692768677690f070ec9eb18ea8051a9511a8dcc9c0361b',
      ],
      [
        'all types, none with a side row',
        all,
        () => true,
        '52bbfbd68383ffb9bc4e4a544d3826ff21d05f859515be28c913a07b87e93166',
      ],
      [
        'two types, all with side rows',
        ['ja4Hash', 'asn'],
        () => false,
        'ac1c53e7d718ad68bcc622543b6e3867a12eeefb22d3afdd5438f5fe390bc79f',
      ],
      [
        'user agents only',
        ['userAgent'],
        (i) => i % 2 === 0,
        'd6cd3e7244da77b3526e5da1733ecaece11d834cc851f99afc1938aec494b33d',
      ],
    ],
    ([, types, isPlain, hash]) => {
      expect(sha256(compile(rules(types, isPlain)))).toBe(hash);
    },
  ));

test('a file without rules has the same bytes in every release', () => {
  expect(sha256(compile([]))).toBe('6900013af80c1305f2415effb1c3d60b65277d3668d1d72a35175f8a596c6766');
});
