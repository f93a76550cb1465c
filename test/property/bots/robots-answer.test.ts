/** What a robots.txt says to a bot, beside another parser. */
import * as fc from 'fast-check';
import robotsParser from 'robots-parser';
import { expect, test } from 'vitest';
import { readRobots } from '../../../src/bots/robots/robots-answer.ts';
import { runs } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';

const site = 'https://shop.example';
const path = fc
  .array(fc.constantFrom('a', '/', 'b', '*', '.c', '%2F'), { maxLength: 5 })
  .map((parts) => `/${parts.join('')}`);
const line = fc.oneof(
  fc
    .record({ field: fc.constantFrom('Allow', 'disallow', 'DISALLOW '), path, end: fc.constantFrom('', '$', ' # why') })
    .map((rule) => `${rule.field}: ${rule.path}${rule.end}`),
  fc.constantFrom('User-agent: OneBot', 'user-agent: twobot/2.0', 'User-agent: *', '', '# note', 'x'),
);
/** The other parser takes no notice of a group without rules. */
const file = fc
  .tuple(fc.array(line, { maxLength: 16 }), fc.constantFrom('\n', '\r\n'))
  .map(([lines, end]) => [...lines, 'Allow: /z'].join(end));
const address = fc
  .array(fc.constantFrom('a', '/', 'b', '.c', '?a'), { maxLength: 6 })
  .map((parts) => `/${parts.join('')}`);

test('a file says what robots-parser says it does', () => {
  fc.assert(
    fc.property(file, fc.constantFrom('OneBot', 'TwoBot', 'OtherBot'), address, (text, token, asked) => {
      const theirs = robotsParser(`${site}/robots.txt`, text).isAllowed(site + asked, token) ?? true;
      expect(readRobots(text)([token], asked).isAllowed).toBe(theirs);
    }),
    { numRuns: runs(5000) },
  );
});

test('what counts is the longest rule of the group of the first name', () =>
  expectRows<[string, string, string[], string, string | null]>(
    [
      ['the longest path', 'User-agent: *\nDisallow: /a\nAllow: /a/b', ['X'], '/a/b/c', 'Allow: /a/b'],
      ['Allow, of two of the same length', 'User-agent: *\nDisallow: /a\nAllow: /a', ['X'], '/a', 'Allow: /a'],
      [
        'the group of the name',
        'User-agent: *\nDisallow: /\n\nUser-agent: x\nDisallow: /b',
        ['X'],
        '/b',
        'Disallow: /b',
      ],
      ['a group without rules', 'User-agent: x\nDisallow:\n\nUser-agent: *\nDisallow: /', ['X'], '/b', null],
      [
        'the first name that has a group',
        'User-agent: y\nDisallow: /y\n\nUser-agent: *\nDisallow: /',
        ['X', 'Y'],
        '/y',
        'Disallow: /y',
      ],
      ['the group of everybody, for a bot without a name', 'User-agent: *\nDisallow: /a', [], '/a', 'Disallow: /a'],
      ['nothing against the file itself', 'User-agent: *\nDisallow: /', ['X'], '/robots.txt', null],
      ['a path in any spelling', 'User-agent: *\nDisallow: /%61%2fb', ['X'], '/a%2Fb', 'Disallow: /a%2Fb'],
      ['nothing', '', ['X'], '/', null],
    ],
    ([, text, tokens, asked, rule]) => {
      expect(readRobots(text)(tokens, asked)).toEqual({ isAllowed: !(rule ?? '').startsWith('Disallow'), rule });
    },
  ));
