/**
 * Lists whose author knows the hashes and bounds of the engine. What they may cost is counted in reads, not in time.
 */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { bucketIndexLength, SortedKeys, writeBucketIndex } from '../../../src/address/sorted-keys.ts';
import { Hits } from '../../../src/rules/hits.ts';
import { readSnapshot } from '../../../src/rules/layout.ts';
import { NumberTable } from '../../../src/rules/number-table.ts';
import { SubstringMatcher } from '../../../src/rules/substring-match.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { collidingNumbers, compile, firedIds, rulesetOf } from './rulesets.ts';

const agent = (value: string): EdgeRule => ({ type: 'userAgent', value, verdict: 'block' });
const reads = { count: 0 };

/** The array itself, with every read of an element counted. */
function counted<T extends Uint8Array | Uint32Array>(array: T): T {
  return new Proxy(array, {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) reads.count++;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
}

function readsOf(act: () => void): number {
  reads.count = 0;
  act();
  return reads.count;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe('AS numbers that all hash to one place', () => {
  const numbers = collidingNumbers(20_000);

  test('are loaded with a few reads each', () => {
    const RealArray = Uint32Array;
    vi.stubGlobal('Uint32Array', function (this: unknown, length: number) {
      return counted(new RealArray(length));
    });
    expect(readsOf(() => new NumberTable(numbers))).toBeLessThan(10 * numbers.length);
  });

  test('are found with a few reads each, and so is a number that is not among them', () => {
    const table = new NumberTable(counted(numbers));
    let most = 0;
    for (const [entry, number] of numbers.entries()) {
      most = Math.max(
        most,
        readsOf(() => expect(table.entryOf(number)).toBe(entry)),
      );
    }
    const absent = numbers[7]! + 1;
    expect(numbers.includes(absent)).toBe(false);
    most = Math.max(
      most,
      readsOf(() => expect(table.entryOf(absent)).toBe(-1)),
    );
    expect(most).toBeLessThan(30);
  });
});

test('user agent rules whose beginnings all hash to one place match like others', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
  const names: string[] = [];
  for (const a of letters)
    for (const b of letters)
      for (const c of letters)
        for (const d of letters) {
          const gram = [a, b, c, d].reduce((sum, char) => (sum << 8) | char.charCodeAt(0), 0);
          if (Math.imul(gram, 0x9e3779b1) >>> 22 === 0) names.push(a + b + c + d);
        }
  expect(names.length).toBeGreaterThan(500);
  const listed = names.slice(0, 500);
  const ruleset = rulesetOf(listed.map(agent));
  for (const name of listed) expect(firedIds(ruleset, { userAgent: `x ${name} x` })).toContain(`userAgent:${name}`);
  for (const name of names.slice(500)) expect(firedIds(ruleset, { userAgent: name })).toEqual([]);
});

test('a fingerprint is looked up with a few reads where a million share their first part', () => {
  const count = 1_000_000;
  const keys = new Uint32Array(5 * count).fill(0x1000);
  // The last one is far away, so that all others are in one bucket of the index.
  keys[5 * count - 5] = 0xffff_0000;
  const index = new Uint32Array(bucketIndexLength(count, 0x1000, 0xffff_0000));
  writeBucketIndex(index, keys, 5);
  const set = SortedKeys.open(count, counted(keys), 5, index)!;
  for (const [first, held] of [
    [0x1000, true],
    [0x1001, false],
    [0xffff_0000, true],
    [0xfff0_0000, false],
  ] as const) {
    const wanted = Uint32Array.of(first, 0x1000, 0x1000, 0x1000, 0x1000);
    expect(readsOf(() => expect(set.entryOf(wanted) >= 0).toBe(held))).toBeLessThan(150);
  }
});

describe('a header that nearly matches a rule at every character', () => {
  let state = 1;
  const text = Array.from({ length: 6000 }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return String.fromCharCode(97 + ((state >>> 24) % 26));
  }).join('');
  const rules = Array.from({ length: 5700 }, (_, at) => agent(`${text.slice(at, at + 299)}!`));
  const bytes = compile([...rules, agent('needle')]);
  const read = readSnapshot(bytes);
  if (!read.ok) throw new Error(read.error);
  const matcher = SubstringMatcher.open({ ...read.value.sections, uaText: counted(read.value.sections.uaText) }, 0)!;
  const found = (header: string): number => {
    const hits = new Hits();
    matcher.find(header, hits);
    return hits.count;
  };

  test('costs a limited number of comparisons', () => {
    expect(readsOf(() => found(text))).toBeLessThan(600_000);
    expect(readsOf(() => found(text.slice(0, 3000)))).toBeGreaterThan(400_000);
  });

  test('is searched to its end if it has up to 700 characters', () => {
    expect(found(`${text.slice(0, 694)}needle`)).toBe(1);
    expect(found(`${text}needle`)).toBe(0);
  });
});

test('user agent rules that repeat themselves are refused before anything is built from them', () => {
  const rules = Array.from({ length: 2000 }, (_, i) =>
    agent(`${String.fromCharCode(0x4e00 + i)}${String.fromCharCode(0x9000 - i)}`.repeat(150)),
  );
  expect(() => compile(rules)).toThrow('1500000 states');
  expect(compile(rules.slice(0, 100)).length).toBeLessThan(5_000_000);
});

test('a header that contains more than 4096 rules fires that many of them', () => {
  const names = Array.from({ length: 5000 }, (_, i) => `bot${i.toString(36).padStart(4, '0')}`);
  const ruleset = rulesetOf(names.map(agent));
  const fired = firedIds(ruleset, { userAgent: names.join('') });
  expect(fired).toHaveLength(4096);
  expect(new Set(fired).size).toBe(4096);
  expect(firedIds(ruleset, { userAgent: names[4999]! })).toEqual([`userAgent:${names[4999]}`]);
});
