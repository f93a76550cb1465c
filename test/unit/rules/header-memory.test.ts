/** Headers that arrive again are not searched again. The results must be the same. */
import { describe, expect, test } from 'vitest';
import { HeaderMemory } from '../../../src/rules/header-memory.ts';
import { Hits } from '../../../src/rules/hits.ts';
import type { EdgeRule } from '../../../src/rules/types.ts';
import { deltaOf, firedIds, match, rulesetOf } from './rulesets.ts';

const TIMES = 4;
const rule = (value: string, more: Partial<EdgeRule> = {}): EdgeRule => ({
  type: 'userAgent',
  value,
  verdict: 'block',
  ...more,
});

describe('a header that arrives again', () => {
  test('is remembered from the second time on', () => {
    const memory = new HeaderMemory();
    const hits = new Hits();
    const recalled = Array.from({ length: TIMES }, () => {
      hits.clear();
      if (memory.recall('curl/8', hits)) return true;
      hits.source = 1;
      hits.push(7, 0);
      memory.keep('curl/8', hits);
      return false;
    });
    expect(recalled).toEqual([false, false, true, true]);
    expect([hits.count, hits.refs[0]]).toEqual([1, 15]);
  });

  test('still depends on the time and on the visitor', () => {
    const ruleset = rulesetOf([rule('curl', { expiry: 1000 }), rule('url', { rollout: 50 })]);
    const ids = (rolloutBucket: number, now: number): string[] =>
      match(ruleset, { userAgent: 'curl/8', rolloutBucket }, now).fired.map(({ id }) => id);
    for (let i = 0; i < TIMES; i++) {
      expect(ids(0, 999)).toEqual(['userAgent:curl', 'userAgent:url']);
      expect(ids(9999, 999)).toEqual(['userAgent:curl']);
      expect(ids(9999, 1000)).toEqual([]);
    }
  });

  test('fires the rules of base and delta, except those that the delta removed', () => {
    const delta = deltaOf([rule('rl/8'), rule('curl', { mode: 'monitor' })], [rule('url')]);
    const ruleset = rulesetOf([rule('url'), rule('cur'), rule('curl')], delta);
    for (let i = 0; i < TIMES; i++) {
      const { fired } = match(ruleset, { userAgent: 'curl/8' });
      expect(fired.map(({ id, mode }) => `${id} ${mode}`)).toEqual([
        'userAgent:cur enforce',
        'userAgent:curl monitor',
        'userAgent:rl/8 enforce',
      ]);
    }
  });

  test('is not confused with another header, wherever the two differ', () => {
    const ruleset = rulesetOf([rule('!')]);
    const plain = 'a'.repeat(250);
    for (let at = 0; at < plain.length; at++) {
      const marked = `${plain.slice(0, at)}!${plain.slice(at + 1)}`;
      for (let i = 0; i < TIMES; i++) {
        expect(firedIds(ruleset, { userAgent: marked })).toEqual(['userAgent:!']);
        expect(firedIds(ruleset, { userAgent: plain })).toEqual([]);
      }
    }
  });

  test('may be one of many, long, empty, or match many rules', () => {
    const letters = Array.from('abcdefghijklmnopqrstuvwxyz');
    const ruleset = rulesetOf(letters.map((letter) => rule(letter)));
    const headers = [
      '',
      'z'.repeat(300),
      letters.join(''),
      ...Array.from({ length: 3000 }, (_, n) => `${n}-z-${n % 7}`),
    ];
    for (let i = 0; i < TIMES; i++) {
      for (const userAgent of headers) {
        const expected = userAgent === '' ? 0 : userAgent.startsWith('abc') ? letters.length : 1;
        expect(match(ruleset, { userAgent }).fired).toHaveLength(expected);
      }
    }
  });
});
