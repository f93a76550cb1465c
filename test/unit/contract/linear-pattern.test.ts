/** Which of a site's own patterns may run, what they mean, and that none of them is slow. */
import { describe, expect, test } from 'vitest';
import { linearPattern } from '../../../src/contract/management/linear-pattern.ts';

const LONGEST_ADDRESS = `${'a'.repeat(64)}@${'b'.repeat(255)}`;
/** Far above what the slowest takes on a busy machine, far below what backtracking takes. */
const SLOW_MS = 1000;

describe('a site’s own pattern', () => {
  test.each([
    ['^spam', 'spammer@example.org', true],
    ['^spam', 'no.spam@example.org', false],
    ['\\.(ru|cn)$', 'a@b.cn', true],
    ['\\.(ru|cn)$', 'a@b.cn.test', false],
    ['[a-z]{3}\\d+@', 'abc1@b.test', true],
    ['[a-z]{3}\\d+@', 'ab1@b.test', false],
    ['TEMP', 'my-temp-box@b.test', true],
    ['^[^@]{2,4}@', 'abcde@b.test', false],
    ['\\bbot\\b', 'a.bot@b.test', true],
    ['\\bbot\\b', 'a.robot@b.test', false],
    ['^(ab?)*@', 'abaab@b.test', true],
    ['a{,3}', 'a{,3}', true],
    ['^ä', 'Äpfel@b.test', true],
  ])('%s on %s: %s', (source, text, hit) => {
    expect(linearPattern(source)?.(text)).toBe(hit);
  });

  test.each([
    '(?=x)y',
    '(?!x)y',
    '(?<=x)y',
    '(?<!x)y',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    'a{1000}',
    'a{1,999}',
    '(',
    '[',
    'a**',
  ])('%s may not run', (source) => {
    expect(linearPattern(source)).toBeNull();
  });

  test('may not grow beyond its states, however the counts are nested', () => {
    expect(linearPattern('((((a{8}){8}){8}){8}){8}')).toBeNull();
  });

  test.each([
    '(a+)+$',
    '(a|aa)+!',
    `${'a?'.repeat(64)}${'a'.repeat(64)}!`,
    `${'(a|a)'.repeat(50)}!`,
    '.*.*.*!',
    `${'.*'.repeat(100)}!`,
    '(x+x+)+y',
  ])('%s is not slow on a long address', (source) => {
    const hits = linearPattern(source);
    const startedAt = performance.now();
    expect(hits?.(LONGEST_ADDRESS)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(SLOW_MS);
  });
});
