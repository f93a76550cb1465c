/** What the bot policy gives a bot on a path. */
import { describe, expect, test } from 'vitest';
import { actionFor, compileBotRules } from '../../../src/bots/bot-rules.ts';
import { type BotSignal, SUSPECTED_AGENT } from '../../../src/bots/bot-proof.ts';
import { botPresets, type BotBehaviour } from '../../../src/contract/vocabulary.ts';
import { botPolicy } from '../../../src/contract/management/bot-policy.ts';
import { expectRows } from '../../support/rows.ts';

const charge = { price: 'USD 0.01', licenseUrl: 'https://shop.example/licence' };
function action(policy: object, bot: Partial<BotSignal>, ...paths: string[]) {
  const parsed = botPolicy.parse(policy);
  const signal: BotSignal = { id: 'examplebot', behaviours: ['search'], proof: 'range', ...bot };
  return actionFor(parsed, signal, compileBotRules(parsed, signal), paths.length > 0 ? paths : ['/']);
}

describe('the presets', () => {
  test('each behaviour has its action in each preset', () =>
    expectRows<[BotBehaviour, string, string, string]>(
      [
        ['search', 'allow', 'allow', 'block'],
        ['preview', 'allow', 'allow', 'block'],
        ['feed', 'allow', 'allow', 'block'],
        ['archive', 'allow', 'allow', 'block'],
        ['monitor', 'allow', 'allow', 'allow'],
        ['webhook', 'allow', 'allow', 'allow'],
        ['agent', 'allow', 'challenge', 'block'],
        ['seo', 'allow', 'challenge', 'block'],
        ['training', 'allow', 'block', 'block'],
        ['other', 'allow', 'inherit', 'block'],
      ],
      ([behaviour, open, searchOnly, closed]) => {
        const of = (preset: string) => action({ preset }, { behaviours: [behaviour] });
        expect([of('open'), of('search-only'), of('closed')]).toEqual([open, searchOnly, closed]);
      },
    ));
});

test('a bot with several behaviours gets the strictest, and `inherit` says nothing', () => {
  expect(action({}, { behaviours: ['search', 'training'] })).toBe('block');
  expect(action({}, { behaviours: ['search', 'other'] })).toBe('allow');
  expect(action({ behaviours: { training: 'charge' }, charge }, { behaviours: ['agent', 'training'] })).toBe('charge');
});

test.each<[string, object[], string, string]>([
  [
    'the longest path',
    [
      { path: '/a', action: 'block' },
      { path: '/a/b', action: 'allow' },
    ],
    '/a/b/c',
    'allow',
  ],
  [
    'of equal lengths the more lenient',
    [
      { path: '/*b', action: 'allow' },
      { path: '/ab', action: 'block' },
    ],
    '/ab',
    'allow',
  ],
  [
    'the override of the bot',
    [
      { behaviour: 'search', path: '/a', action: 'block' },
      { bot: 'examplebot', path: '/a', action: 'allow' },
    ],
    '/a',
    'allow',
  ],
  [
    'a path before a bot without one',
    [
      { bot: 'examplebot', action: 'block' },
      { path: '/a', action: 'allow' },
    ],
    '/a',
    'allow',
  ],
  ['not the override of another bot', [{ bot: 'otherbot', action: 'block' }], '/', 'allow'],
  ['the end of the address, query included', [{ path: '/a$', action: 'block' }], '/a?b', 'allow'],
  ['an escaped letter as the letter', [{ path: '/%61', action: 'block' }], '/a', 'block'],
])('counts: %s', (_, overrides, path, expected) => {
  expect(action({ overrides }, {}, path)).toBe(expected);
});

test('one behaviour does not open what another one closes', () => {
  const overrides = [{ behaviour: 'search', path: '/a', action: 'allow' }];
  expect(action({ overrides }, { behaviours: ['search', 'training'] }, '/a')).toBe('block');
});

test('of several readings of a path the strictest counts, and of too many all', () => {
  const policy = botPolicy.parse({ overrides: [{ path: '/admin', action: 'block' }] });
  const bot: BotSignal = { id: 'x', behaviours: ['search'], proof: 'dns' };
  expect(action({ overrides: policy.overrides }, {}, '/a', '/admin')).toBe('block');
  expect(actionFor(policy, bot, compileBotRules(policy, bot), null)).toBe('block');
});

test('a name without a proof opens nothing and closes what the bot of that name is refused', () => {
  expect(action({ preset: 'open' }, { proof: 'claimed' })).toBe('inherit');
  expect(action({ preset: 'open' }, { proof: 'impostor' })).toBe('challenge');
  expect(action({}, { proof: 'claimed', behaviours: ['training'] })).toBe('block');
  expect(action({}, { proof: 'impostor', behaviours: ['training'] })).toBe('block');
  expect(action({ claimed: 'challenge' }, { proof: 'claimed' })).toBe('challenge');
});

test('a visitor who is taken for an agent gets nothing but what the policy says of suspected agents', () => {
  const suspected = { ...SUSPECTED_AGENT };
  for (const preset of botPresets) {
    const overrides = [{ path: '/drafts/', action: 'block' }];
    expect(action({ preset, claimed: 'block', impostor: 'block', overrides }, suspected, '/drafts/a')).toBe('inherit');
  }
  expect(action({ behaviours: { 'suspected-agent': 'challenge' } }, suspected)).toBe('challenge');
  const overrides = [{ behaviour: 'suspected-agent', path: '/checkout', action: 'block' }];
  expect(action({ overrides }, suspected, '/checkout/pay')).toBe('block');
  expect(action({ overrides }, suspected, '/')).toBe('inherit');
});

test('the name of a bot with published networks gets what impostors get, until a proof is there', () => {
  const claimed = { proof: 'claimed', isPublished: true } as const;
  expect(action({}, claimed)).toBe('challenge');
  expect(action({ impostor: 'block' }, claimed)).toBe('block');
  expect(action({ impostor: 'allow' }, claimed)).toBe('inherit');
  expect(action({ claimed: 'block' }, claimed)).toBe('block');
  expect(action({}, { proof: 'range', isPublished: true })).toBe('allow');
});

test('a policy with a mistake is refused', () =>
  expectRows<[string, object]>(
    [
      ['an unknown preset', { preset: 'half-open' }],
      ['an unknown behaviour', { behaviours: { spam: 'block' } }],
      ['an override of nothing', { overrides: [{ action: 'block' }] }],
      ['an override of a bot and a behaviour', { overrides: [{ bot: 'x', behaviour: 'search', action: 'block' }] }],
      ['a path with a space', { overrides: [{ path: '/a b', action: 'block' }] }],
      ['a path with a line break', { overrides: [{ path: '/a\nAllow: /', action: 'block' }] }],
      ['a path with a comment', { overrides: [{ path: '/a#b', action: 'block' }] }],
      ['a path without a slash', { overrides: [{ path: 'a', action: 'block' }] }],
      ['nine stars', { overrides: [{ path: '/' + '*a'.repeat(9), action: 'block' }] }],
      ['201 overrides', { overrides: Array.from({ length: 201 }, () => ({ path: '/', action: 'block' })) }],
      ['a charge without a price', { behaviours: { training: 'charge' } }],
      ['a price in words', { charge: { ...charge, price: 'a cent' } }],
      ['a licence with a line break', { charge: { ...charge, licenseUrl: 'https://x.example/\r\nset-cookie: a' } }],
      ['a licence that ends its reference', { charge: { ...charge, licenseUrl: 'https://x.example/>; rel="x"' } }],
    ],
    ([, policy]) => {
      expect(botPolicy.safeParse(policy).success).toBe(false);
    },
  ));

test('200 long overrides with stars are compiled soon for every bot', () => {
  const overrides = Array.from({ length: 200 }, (_, at) => ({
    path: `/${`*${'a'.repeat(28)}`.repeat(8)}${at}`,
    action: at % 2 ? 'block' : 'allow',
  }));
  const policy = botPolicy.parse({ overrides });
  const behaviours: BotBehaviour[] = ['search', 'agent', 'training'];
  for (let bot = 0; bot < 700; bot++) {
    expect(compileBotRules(policy, { id: `bot${bot}`, behaviours }).rules).toHaveLength(200);
  }
});
