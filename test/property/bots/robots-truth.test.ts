/**
 * What robots.txt tells a bot is what it gets: two parsers that others wrote read the served file, for every bot of the
 * catalogue, and their answers are those of the policy and of the origin's own file.
 */
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import robotsParser from 'robots-parser';
import makeGuard from 'robots-txt-guard';
import { describe, expect, test } from 'vitest';
import { actionAtPath, compileBotRules, isPermitted } from '../../../src/bots/bot-rules.ts';
import { matchesPath, spelledPath } from '../../../src/bots/path-match.ts';
import { blockedPaths } from '../../../src/bots/robots/blocked-paths.ts';
import { mergeRobots } from '../../../src/bots/robots/merge-robots.ts';
import { type NamedBot, robotsGroups } from '../../../src/bots/robots/robots-groups.ts';
import { ownBot } from '../../../src/bots/own-bot.ts';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import { botPolicy } from '../../../src/contract/management/bot-policy.ts';
import { compilePathPolicy } from '../../../src/decide/path-policy.ts';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import { botActions, botBehaviours, botPresets } from '../../../src/contract/vocabulary.ts';
import { runs, some } from '../../support/properties.ts';
import { expectRows } from '../../support/rows.ts';

const site = 'https://shop.example';
const catalogue = (JSON.parse(readFileSync('src/bots/catalogue.json', 'utf8')) as { bots: NamedBot[] }).bots;
/** Bots with a token that no other one has. */
const counts = new Map<string, number>();
for (const { tokens } of catalogue)
  for (const token of tokens) counts.set(token.toLowerCase(), (counts.get(token.toLowerCase()) ?? 0) + 1);
const own = [
  { id: 'shopbot', behaviours: ['monitor', 'seo'], patterns: ['ShopBot/'], tokens: ['ShopBot'] },
  { id: 'priceclub', behaviours: ['other'], patterns: ['PriceClub/'], tokens: ['PriceClub', 'PriceClub-Image'] },
].map((bot): NamedBot => ownBot.parse(bot));
const bots = [
  ...catalogue.filter(({ tokens }) => tokens.length > 0 && tokens.every((one) => counts.get(one.toLowerCase()) === 1)),
  ...own,
];
/** What the rest of the policy says to a crawler that no list names: a page like any other. */
const unheardOf: NamedBot = { id: 'unheard-of', behaviours: [], tokens: ['UnheardOfBot'] };

const notes = ['Content-Signal: search=yes, ai-train=no', 'Content-Usage: train-ai=n'];
const said = (origin: string, token: string, path: string): boolean =>
  robotsParser(`${site}/robots.txt`, origin).isAllowed(site + path, token) ?? true;

/** A second parser, which does not know about wildcards in lengths. */
function guardOf(text: string) {
  const groups: { agents: string[]; rules: { rule: string; path: string }[] }[] = [];
  for (const line of text.split('\n')) {
    const [field = '', value = ''] = line
      .replace(/#.*/, '')
      .split(/:(.*)/)
      .map((part) => part.trim());
    const last = groups.at(-1);
    if (/^user-agent$/i.test(field)) {
      if (last && last.rules.length === 0) last.agents.push(value);
      else groups.push({ agents: [value], rules: [] });
    } else if (/^(?:dis)?allow$/i.test(field)) last?.rules.push({ rule: field, path: value });
  }
  return makeGuard({ groups });
}

const paths = [
  '/',
  '/a',
  '/shop/1',
  '/shop/1?page=2',
  '/private/',
  '/private/open/x.pdf',
  '/x.pdf',
  '/x.pdf?y',
  '/favicon.ico',
  '/.well-known/a',
];

const origins: Record<string, string> = {
  none: '',
  'everything closed': 'User-agent: *\nDisallow: /\n',
  'some closed':
    'User-agent: *\nDisallow: /private/\nAllow: /private/open/\nCrawl-delay: 3\nSitemap: https://shop.example/map.xml\n',
  'groups of its own':
    'User-agent: GPTBot\nUser-agent: Bingbot\nAllow: /shop/\nDisallow: /\n\nUser-agent: *\nDisallow: /shop/1\n',
  'CRLF, a BOM and other cases':
    '\ufeffUSER-AGENT: gptbot\r\nallow: /\r\n\r\nuser-agent: bingbot\r\nDISALLOW: /private\r\n',
};
/** Read by a parser that knows wildcards, and that groups of one name add up. */
const wild: Record<string, string> = {
  'the block that Cloudflare writes':
    '# BEGIN Cloudflare Managed content\n\nUser-Agent: *\nContent-signal: search=yes\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\n\n# END Cloudflare Managed Content\n\nUser-agent: UnheardOfBot\nDisallow: /x\n\nUser-agent: *\nDisallow: /shop/1\n',
  wildcards: 'User-agent: *\nDisallow: /*.pdf$\nAllow: /$\nDisallow: /*?\nAllow: /private/*.pdf\n',
  'a group with wildcards': 'User-agent: Googlebot\nDisallow: /*/open\n\nUser-agent: *\nAllow: /shop/\nDisallow: /\n',
};

const plain: [string, object][] = [
  ...botPresets.map((preset): [string, object] => [preset, { preset }]),
  [
    'a part closed',
    {
      preset: 'open',
      overrides: [
        { path: '/private/', action: 'block' },
        { behaviour: 'search', path: '/private/open/', action: 'allow' },
      ],
    },
  ],
  [
    'a part open',
    {
      preset: 'closed',
      overrides: [
        { path: '/shop/', action: 'allow' },
        { bot: 'gptbot', action: 'inherit' },
      ],
    },
  ],
];
const pathRules = {
  'paths blocked for everybody': [
    { pattern: '/a', action: 'block' },
    { pattern: '/private/open/**', action: 'inherit' },
    { pattern: '/private/**', action: 'block' },
    { pattern: '/shop/**', action: 'block', methods: ['POST'] },
    { pattern: '/x.pdf', action: 'challenge' },
  ],
  'everything blocked but one part': [
    { pattern: '/shop/**', action: 'inherit' },
    { pattern: '/**', action: 'block' },
  ],
};
const blocking = Object.entries(pathRules).flatMap(([name, rules]) =>
  botPresets.map((preset): [string, object] => [`${preset}, ${name}`, { preset, pathRules: rules }]),
);
const patterned: [string, object][] = [
  [
    'wildcards',
    {
      overrides: [
        { path: '/*.pdf', action: 'block' },
        { behaviour: 'training', path: '/private/*.pdf$', action: 'allow' },
      ],
    },
  ],
];

/** The bot policy, with path rules beside it. */
function policyOf({ pathRules: rules, ...bot }: { pathRules?: object[] }) {
  return instancePolicy.parse({ botPolicy: bot, pathRules: rules ?? [] });
}
type Policy = ReturnType<typeof policyOf>;

function served(policy: Policy, origin: string, named: readonly NamedBot[], lines: readonly string[]): string {
  const everybody = blockedPaths(policy.pathRules);
  return mergeRobots(origin, { groups: robotsGroups(policy.botPolicy, named, everybody), everybody, notes: lines });
}
/** Whether a path rule blocks a page for everybody. */
function blocker(policy: Policy): (path: string) => boolean {
  const pathPolicy = compilePathPolicy(policy);
  return (path) => pathPolicy(canonicalTarget(site + path)!, 'GET').action === 'block';
}

let triples = 0;
function differences(
  policy: Policy,
  origin: string,
  answer: (text: string) => (token: string, path: string) => boolean,
) {
  const ask = answer(served(policy, origin, bots, notes));
  const asOrigin = answer(origin.replace(/^\ufeff/, ''));
  const blocked = paths.filter(blocker(policy));
  const wrong: string[] = [];
  for (const bot of [...bots, unheardOf]) {
    const rules = bot === unheardOf ? null : compileBotRules(policy.botPolicy, bot);
    for (const path of paths) {
      const isPassed = rules === null || isPermitted(actionAtPath(rules, [spelledPath(path)]));
      const isGiven = isPassed && !blocked.includes(path);
      for (const token of bot.tokens.slice(0, 1)) {
        triples++;
        if (ask(token, path) !== (isGiven && asOrigin(token, path))) wrong.push(`${token} ${path}`);
      }
    }
  }
  return wrong;
}

describe.each(Object.entries({ ...origins, ...wild }))('with an origin that has %s', (_, origin) => {
  test('robots-parser reads what each bot gets, whatever the policy', () =>
    expectRows(some([...plain, ...blocking, ...patterned]), ([, given]) => {
      const answer = (text: string) => {
        const parsed = robotsParser(`${site}/robots.txt`, text);
        return (token: string, path: string) => parsed.isAllowed(site + path, token) ?? true;
      };
      expect(differences(policyOf(given), origin, answer)).toEqual([]);
    }));
});

describe.each(Object.entries(origins))('with an origin that has %s', (_, origin) => {
  test('robots-txt-guard reads what each bot gets, whatever the policy', () =>
    expectRows(some([...plain, ...blocking]), ([, given]) => {
      const answer = (text: string) => {
        const guard = guardOf(text);
        return (token: string, path: string) => guard.isAllowed(token, path);
      };
      expect(differences(policyOf(given), origin, answer)).toEqual([]);
    }));
});

test('more than ten thousand answers were compared', () => {
  expect(triples).toBeGreaterThan(10_000);
});

const piece = fc.constantFrom('/', '/a', '/ab', 'b', '*', '.c', '$', '/a/');
const pattern = fc
  .array(piece, { minLength: 1, maxLength: 5 })
  .map((parts) => `/${parts.join('')}`.replace(/\$(?=.)/g, ''));
const address = fc
  .array(fc.constantFrom('/', 'a', 'b', '.c', '?', '/a'), { maxLength: 7 })
  .map((parts) => `/${parts.join('')}`);
const ruleList = fc.array(fc.record({ path: pattern, action: fc.constantFrom('Allow', 'Disallow') }), { maxLength: 5 });
const overrides = fc.array(
  fc.record(
    {
      behaviour: fc.constantFrom('search', 'training'),
      path: pattern,
      action: fc.constantFrom(...botActions.filter((one) => one !== 'charge')),
    },
    { requiredKeys: ['action', 'path'] },
  ),
  { maxLength: 4 },
);

test('whatever the policy and the origin say, nobody is told that they may fetch what they do not get', () => {
  const bot = { id: 'examplebot', behaviours: ['search', 'training'] as const, tokens: ['ExampleBot'] };
  let exact = 0;
  let all = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...botPresets),
      overrides,
      ruleList,
      fc.array(address, { maxLength: 20 }),
      (preset, given, list, addresses) => {
        const policy = botPolicy.parse({ preset, overrides: given });
        const origin = ['User-agent: *', ...list.map(({ path, action }) => `${action}: ${path}`)].join('\n');
        const text = mergeRobots(origin, { groups: robotsGroups(policy, [bot]), notes: [] });
        const rules = compileBotRules(policy, bot);
        // An address with an empty query is the one without.
        for (const path of addresses.filter((one) => !/^[^?]*\?$/.test(one))) {
          const isGiven = isPermitted(actionAtPath(rules, [spelledPath(path)])) && said(origin, 'ExampleBot', path);
          const isTold = said(text, 'ExampleBot', path);
          all++;
          if (isTold === isGiven) exact++;
          if (isTold && !isGiven) expect({ text, path, isTold }).toEqual({ text, path, isTold: isGiven });
        }
      },
    ),
    { numRuns: runs(3000) },
  );
  // The rest are lists that no list of patterns can express. They promise less than they could.
  expect(exact / all).toBeGreaterThan(0.97);
});

const gatePattern = fc
  .array(fc.constantFrom('/', '/a', '/ab', 'b', '*', '**', '.c', '/a/'), { minLength: 1, maxLength: 5 })
  .map((parts) => `/${parts.join('')}`);
const gateRules = fc.array(
  fc.record({ pattern: gatePattern, action: fc.constantFrom('block', 'block', 'inherit', 'challenge', 'allow') }),
  { maxLength: 5 },
);

test('whatever the path rules are, nobody is told that they may fetch what is blocked for everybody', () => {
  const bot = { id: 'examplebot', behaviours: ['search'] as const, tokens: ['ExampleBot'] };
  let told = 0;
  let given = 0;
  fc.assert(
    fc.property(gateRules, ruleList, fc.array(address, { maxLength: 20 }), (rules, list, addresses) => {
      const policy = policyOf({ pathRules: rules });
      const groups = ['User-agent: *', ...list.map(({ path, action }) => `${action}: ${path}`), 'User-agent: NamedBot'];
      const origin = [...groups, 'Disallow: /ab', ''].join('\n');
      const text = served(policy, origin, [bot], []);
      const isBlocked = blocker(policy);
      // A path with `//` is another spelling, which robots.txt cannot list.
      for (const path of addresses.filter((one) => !one.includes('//'))) {
        for (const token of ['ExampleBot', 'NamedBot', 'UnheardOfBot']) {
          const isGiven = !isBlocked(path) && said(origin, token, path);
          const isTold = said(text, token, path);
          given += Number(isGiven);
          told += Number(isTold);
          if (isTold && !isGiven) expect({ text, path, isTold }).toEqual({ text, path, isTold: isGiven });
        }
      }
    }),
    { numRuns: runs(2000) },
  );
  // The rest are rules that no list of prefixes can express. They promise less than they could.
  expect(told / given).toBeGreaterThan(0.5);
});

test('a path matches a pattern as a regular expression for it does', () => {
  fc.assert(
    fc.property(pattern, address, (given, path) => {
      const body = given.replace(/\$$/, '').replace(/[.?/]/g, '\\$&').replace(/\*/g, '.*');
      expect(matchesPath(given, path)).toBe(new RegExp(`^${body}${given.endsWith('$') ? '$' : ''}`, 's').test(path));
    }),
    { numRuns: runs(5000) },
  );
});

test('a bot with several behaviours gets the strictest of their actions, and a pattern the strictest around it', () => {
  for (const behaviour of botBehaviours) {
    const policy = botPolicy.parse({ behaviours: { [behaviour]: 'block' }, preset: 'open' });
    expect(compileBotRules(policy, { id: 'x', behaviours: ['search', behaviour] }).elsewhere).toBe('block');
  }
});
