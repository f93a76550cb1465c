/** What the comparison of two policy sets calls added, removed, changed and moved. */
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PolicySet } from '../../../src/contract/management/policy-set/policy-set.ts';
import { diffPolicySets, isSame } from '../../../src/policies/diff.ts';
import { expectRows } from '../../support/rows.ts';

/** A policy for each word. What follows a colon is its content. */
function setOf(...words: string[]): PolicySet {
  return {
    policies: words.map((word) => {
      const [name = '', path = 'x'] = word.split(':');
      return {
        name,
        when: { field: 'path', operator: 'equals', value: `/${path}` },
        then: { action: 'block' },
        mode: 'enforce',
      };
    }),
    limits: [],
    origins: {},
  };
}
const changesOf = (before: PolicySet, after: PolicySet) =>
  diffPolicySets(before, after).policies.map(
    ({ change, name, placeBefore, placeAfter }) => `${change} ${name} ${placeBefore ?? '-'}>${placeAfter ?? '-'}`,
  );

describe('the difference of two sets', () => {
  test('has each change once', () =>
    expectRows(
      [
        ['nothing', setOf('a', 'b'), setOf('a', 'b'), []],
        ['an added policy', setOf('a', 'b'), setOf('a', 'new', 'b'), ['added new ->2']],
        ['a removed policy', setOf('a', 'b', 'c'), setOf('a', 'c'), ['removed b 2>-']],
        ['a changed policy', setOf('a', 'b'), setOf('a', 'b:y'), ['changed b 2>2']],
        ['a policy at the front', setOf('a', 'b', 'c', 'd'), setOf('d', 'a', 'b', 'c'), ['moved d 4>1']],
        ['a policy at the end', setOf('a', 'b', 'c', 'd'), setOf('b', 'c', 'd', 'a'), ['moved a 1>4']],
        ['a changed one that moved', setOf('a', 'b'), setOf('b:y', 'a'), ['changed b 2>1', 'moved a 1>2']],
      ],
      ([, before, after, changes]) => {
        expect(changesOf(before, after)).toEqual(changes);
        expect(isSame(diffPolicySets(before, after))).toBe(changes.length === 0);
      },
    ));

  test('compares origins by their names, whatever the order of the record', () => {
    const of = (origins: PolicySet['origins']): PolicySet => ({ policies: [], limits: [], origins });
    const zone = { kind: 'zone' as const, hosts: [] };
    const other = { kind: 'url' as const, url: 'https://a.test', hosts: [] };
    expect(isSame(diffPolicySets(of({ a: zone, b: other }), of({ b: other, a: zone })))).toBe(true);
    const { origins } = diffPolicySets(of({ a: zone, b: other }), of({ a: other, c: zone }));
    expect(origins.map(({ change, name }) => `${change} ${name}`)).toEqual(['changed a', 'added c', 'removed b']);
  });

  test('compares limits without their order', () => {
    const limit = (name: string, count = 1) =>
      ({
        name,
        key: ['ip'],
        count,
        windowSeconds: 1,
        algorithm: 'sliding',
        on: 'request',
        then: '429',
        exact: false,
        mode: 'enforce',
      }) as const;
    const of = (...limits: ReturnType<typeof limit>[]) => ({
      policies: [],
      origins: {},
      limits: limits.map((one) => ({ ...one, key: ['ip'] })),
    });
    expect(diffPolicySets(of(limit('a'), limit('b')), of(limit('b'), limit('a'))).limits).toEqual([]);
    const [changed] = diffPolicySets(of(limit('a')), of(limit('a', 2))).limits;
    expect(changed).toMatchObject({ change: 'changed', before: { count: 1 }, after: { count: 2 } });
  });

  test('leads from one set to the other with no more moves than needed', () => {
    const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'), { maxLength: 10 });
    fc.assert(
      fc.property(names, names, (one, other) => {
        const { policies } = diffPolicySets(setOf(...one), setOf(...other));
        const touched = new Set(policies.map(({ name }) => name));
        const still = (list: string[]) => list.filter((name) => !touched.has(name));
        expect(still(one)).toEqual(still(other));
        const moved = policies.filter(({ change }) => change === 'moved').length;
        const common = one.filter((name) => other.includes(name)).length;
        expect(moved).toBeLessThanOrEqual(Math.max(0, common - 1));
      }),
    );
  });
});
