/** Lists that take too long to combine end in a file that promises too little, and end soon. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { blockedPaths } from '../../../src/bots/robots/blocked-paths.ts';
import { mergeRobots } from '../../../src/bots/robots/merge-robots.ts';
import { readRobots } from '../../../src/bots/robots/robots-answer.ts';
import { type NamedBot, robotsGroups } from '../../../src/bots/robots/robots-groups.ts';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import { expectRows } from '../../support/rows.ts';

const { bots } = JSON.parse(readFileSync('src/bots/catalogue.json', 'utf8')) as { bots: NamedBot[] };
const times = <One>(count: number, one: (at: number) => One): One[] =>
  Array.from({ length: count }, (_, at) => one(at));
const starred = times(200, (at) => ({ path: `/*a${at}*b`, action: at % 2 ? 'block' : 'allow' }));
const mixed = times(200, (at) =>
  at % 2
    ? { pattern: `/a**/b**/p${at}/**`, action: 'block' }
    : { pattern: `/${'x'.repeat(at % 30)}x**`, action: 'inherit' },
);
const groups = times(25_000, (at) => [`User-agent: b${at}`, `Disallow: /${at}`]).flat();
const longFile = groups.join('\n').slice(0, 500_000);

test.each<[string, object[], object[], string]>([
  ['200 overrides with stars', [], starred, 'User-agent: *\nDisallow: /x'],
  ['200 path rules with stars, and 25,000 groups', mixed, [], longFile],
  ['200 of each', mixed, starred, longFile],
])('%s', (_, pathRules, overrides, origin) => {
  const policy = instancePolicy.parse({ pathRules, botPolicy: { overrides } });
  const everybody = blockedPaths(policy.pathRules);
  const told = mergeRobots(origin, { groups: robotsGroups(policy.botPolicy, bots, everybody), everybody, notes: [] });
  expect(told.length).toBeLessThanOrEqual(512_000);
  expect(readRobots(told)(['Bingbot'], '/a1/b1/p1/b').isAllowed).toBe(false);
});

/** As many lines as fit into what an edge reads. */
function filled(line: (at: number) => string, chars: number): string {
  const lines = times(Math.ceil(chars / line(0).length), line).join('');
  return lines.slice(0, lines.lastIndexOf('\n', chars - 1) + 1);
}

test('a hostile robots.txt is merged soon, and no bot is told less than the policy', () =>
  expectRows<[string, string]>(
    [
      ['a line of half a million spaces', ' '.repeat(500_000)],
      ['a rule of half a million characters', `User-agent: *\nDisallow: /${'a'.repeat(499_000)}\n`],
      ['a rule of a quarter million stars', `User-agent: *\nDisallow: /${'*a'.repeat(249_000)}\n`],
      [
        'one group of 15,000 names and 20,000 rules',
        filled((at) => `User-agent:${at}\n`, 250_000) + filled((at) => `Disallow:/${at}\n`, 240_000),
      ],
      ['every bot named in one group of 30,000 rules', everyName() + filled((at) => `Disallow:/${at}\n`, 480_000)],
      ['one group of 150,000 other fields', `User-agent: *\n${filled(() => 'x:\n', 490_000)}`],
    ],
    ([, origin]) => {
      const policy = instancePolicy.parse({ pathRules: [{ pattern: '/closed/**', action: 'block' }] });
      const everybody = blockedPaths(policy.pathRules);
      const told = mergeRobots(origin, {
        groups: robotsGroups(policy.botPolicy, bots, everybody),
        everybody,
        notes: [],
      });
      expect(told.length).toBeLessThanOrEqual(512_000);
      const ask = readRobots(told);
      expect(ask(['GPTBot'], '/').isAllowed).toBe(false);
      expect(ask(['Bingbot'], '/closed/page').isAllowed).toBe(false);
      // In monitor mode it is read as it is.
      expect(() => readRobots(origin)(['GPTBot'], '/')).not.toThrow();
    },
    ([name]) => name,
  ));

function everyName(): string {
  return bots.flatMap(({ tokens }) => tokens.map((token) => `User-agent: ${token}\n`)).join('');
}
