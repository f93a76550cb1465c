/** Which patterns a site may save, what they match, and that no pattern or text makes matching slow. */
import { describe, expect, test } from 'vitest';
import { blocklistProblem, compileBlocklist } from '../../../src/contract/management/email-blocklist.ts';
import { expectRows } from '../../support/rows.ts';

const LONGEST_ADDRESS = `${'a'.repeat(64)}@${'b'.repeat(253)}`;

describe('a pattern', () => {
  test('matches the addresses that RE2 says', () =>
    expectRows(
      [
        ['^spam', 'spammer@example.org', true],
        ['^spam', 'no.spam@example.org', false],
        ['\\.(ru|cn)$', 'a@b.cn', true],
        ['\\.(ru|cn)$', 'a@b.cn.test', false],
        ['[a-z]{3}\\d+@', 'abc1@b.test', true],
        ['[a-z]{3}\\d+@', 'ab1@b.test', false],
        ['^[^@]{2,4}@', 'abcde@b.test', false],
        ['\\bbot\\b', 'a.bot@b.test', true],
        ['\\bbot\\b', 'a.robot@b.test', false],
        ['^(ab?)*@', 'abaab@b.test', true],
        ['(?:x|y)(?P<tag>z)', 'a.yz@b.test', true],
        ['\\x41\\.', 'a.b@c.test', true],
        ['^\\pL+@', 'äöü@b.test', true],
        ['^[[:alpha:]]+@', 'a1@b.test', false],
      ],
      ([source, text, matches]) => {
        expect(blocklistProblem([source])).toBeNull();
        expect(compileBlocklist([source])(text)).toBe(matches);
      },
    ));

  test('matches in either letter case', () =>
    expectRows(
      [
        ['TEMP', 'my-temp-box@b.test'],
        ['temp', 'MY-TEMP-BOX@b.test'],
        ['^ä', 'Äpfel@b.test'],
        ['[A-C]{3}@', 'abc@b.test'],
      ],
      ([source, text]) => {
        expect(compileBlocklist([source])(text)).toBe(true);
      },
    ));

  test('matches a character outside the basic plane as one character', () => {
    expect(compileBlocklist(['^.@'])('😀@b.test')).toBe(true);
  });
});

describe('a list', () => {
  test('matches when one of its patterns matches', () => {
    const blocklist = compileBlocklist(['^promo', '\\.test$']);
    expect(['promo@a.org', 'a@b.test', 'a@b.org'].map((text) => blocklist(text))).toEqual([true, true, false]);
  });

  test('matches nothing when it is empty', () => {
    expect(blocklistProblem([])).toBeNull();
    expect(compileBlocklist([])('a@b.test')).toBe(false);
  });
});

describe('a refused pattern', () => {
  test('says why it is refused', () =>
    expectRows(
      [
        ['(?=x)y', 'look-around such as (?= is not supported'],
        ['a(?!x)', 'look-around such as (?! is not supported'],
        ['(?<=x)y', 'look-around such as (?<= is not supported'],
        ['(?<!x)y', 'look-around such as (?<! is not supported'],
        ['(a)\\1', 'the back reference \\1 is not supported'],
        ['(?<n>a)\\k<n>', 'the back reference \\k is not supported'],
        ['(', 'not an RE2 pattern: missing closing ) in ('],
        ['[', 'not an RE2 pattern: missing closing ] in ['],
        ['a**', 'not an RE2 pattern: invalid nested repetition operator in **'],
        ['\\u0041', 'not an RE2 pattern: invalid escape sequence in \\u'],
        ['a{1001}', 'not an RE2 pattern: invalid repeat count in {1001}'],
        ['((((a{8}){8}){8}){8}){8}', 'not an RE2 pattern: invalid repeat count in {8}'],
        ['a\\', 'not an RE2 pattern: trailing backslash at end of expression'],
        [`${'('.repeat(1001)}${')'.repeat(1001)}`, 'not an RE2 pattern: expression nests too deeply'],
      ],
      ([source, message]) => {
        expect(blocklistProblem(['^ok', source])).toEqual({ index: 1, message });
      },
    ));

  test('cannot be compiled either', () => {
    expect(() => compileBlocklist(['(?=x)y'])).toThrow();
  });
});

describe('size', () => {
  const tooLarge = 'the patterns are too large together: use fewer patterns or smaller counts';

  test('of all patterns together has one bound, whatever they expand to', () => {
    expect(blocklistProblem(Array.from({ length: 4 }, () => 'a{1000}'))).toBeNull();
    expect(blocklistProblem(Array.from({ length: 5 }, () => 'a{1000}'))).toEqual({ index: 4, message: tooLarge });
  });

  test('leaves room for fifty ordinary patterns', () => {
    const ordinary = '^[a-z]{2,12}\\d{4,8}@(?:[a-z0-9-]+\\.)+(?:top|xyz|click)$';
    expect(blocklistProblem(Array.from({ length: 50 }, () => ordinary))).toBeNull();
  });

  test('of the text is bounded: nothing after the longest address is searched', () => {
    const blocklist = compileBlocklist(['x$', 'needle']);
    expect(blocklist(`${'a'.repeat(320)}needle`)).toBe(false);
    expect(blocklist(`${'a'.repeat(319)}x`)).toBe(true);
  });
});

// A backtracking engine takes longer than the age of the universe on each of these, so the test would never end.
test('a pattern that makes others backtrack finishes on the longest address', () =>
  expectRows(
    [
      '(a|a)*!',
      '(a+)+!',
      '(?:a|aa)+!',
      `${'a?'.repeat(64)}${'a'.repeat(64)}!`,
      `${'(a|a)'.repeat(50)}!`,
      `${'.*'.repeat(100)}!`,
      '(?:[ab].{0,30}){8}!',
      '(.{0,60}){4}!',
    ],
    (source) => {
      expect(compileBlocklist([source])(LONGEST_ADDRESS)).toBe(false);
    },
  ));
