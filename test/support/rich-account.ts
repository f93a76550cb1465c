/** An account with something of every kind that a configuration file can name, made over the management API. */
import type { StackFacts } from '../../src/cli/state.ts';
import { manage } from './manage.ts';

/** Texts that some version of YAML reads as something else, or that are hard to write. */
export const oddTexts = [
  'NO',
  'yes',
  'off',
  '~',
  'null',
  'true',
  '1e3',
  '0x1F',
  '0o17',
  '012',
  '1_000',
  '.inf',
  '190:20:30',
  '2027-01-31',
  '2027-01-31T12:00:00Z',
  '- a list',
  '? a key',
  'a: b',
  'a #no comment',
  '# hash',
  '*alias',
  '&anchor',
  '!tag',
  '%YAML 1.1',
  '@at',
  '`tick',
  '"quoted"',
  "it's",
  '{curly}',
  '[square]',
  '| pipe',
  '> fold',
  '---',
  '...',
  '<<',
  '=',
  ' spaces around ',
  'tab\tinside',
  'two\nlines',
  'back\\slash',
  '${ENV:HOME}',
  'Zürich, 東京, עברית, 👩‍👩‍👧',
  'e\u0301 é',
  '\u0085\u2028\u2029\uFEFF',
  'x'.repeat(900),
];

const expiry = '2099-12-31T23:59:59.000Z';

/** In an account that has only what the stack's start makes. `rules`: how many blocks of addresses. */
export async function makeRich(stack: StackFacts, rules: number): Promise<{ siteKey: string }> {
  const call = <Answer>(path: string, body: object) => manage<Answer>(stack, path, body);
  await call('/sites/create', { name: 'NO', settings: { domains: ['münchen.example', 'b.example'] } });
  const { siteKey } = await call<{ siteKey: string }>('/sites/create', {
    name: 'shop-1e3',
    settings: {
      domains: ['shop.example', '*.shop.example'],
      frictionlessThreshold: { frictionlessPuzzleThreshold: 0.4, frictionlessImageThreshold: 0.9 },
      spamFilter: { enabled: true, emailRules: { enabled: true, customRegexBlocklist: ['^no\\+.*@x\\.example$'] } },
      trafficFilter: { tor: { action: 'block' }, datacenterNameDenylist: ['NO', '1e3'] },
    },
  });
  await call('/protect/instances/create', {
    name: 'Läden: "NO" #1',
    cname: 'shop.example',
    globalSiteKey: siteKey,
    hosts: ['shop.example', 'www.shop.example'],
    branding: { name: '1e3', message: 'two\nlines: with # and "quotes"' },
    pathRules: [{ pattern: '/hooks/**', methods: ['POST'], action: 'allow', waiveSession: true }],
    botPolicy: { preset: 'search-only', overrides: [{ bot: 'own-1', action: 'allow' }] },
  });
  await call('/protect/policies/set', {
    siteKey,
    policies: [
      { name: 'no', when: 'country in ["NO", "SE"] and not header["x-1e3"] equals "null"', then: { action: 'block' } },
      {
        name: 'login',
        description: 'yes: "#"',
        when: 'path startsWith "/login"',
        then: { action: 'limit', limit: 'l' },
      },
      { name: 'eu', when: 'host equals "eu.shop.example"', then: { action: 'origin', origin: 'eu' }, mode: 'monitor' },
    ],
    limits: [{ name: 'l', key: ['ip', 'header:x-a'], count: 5, windowSeconds: 60 }],
    origins: { eu: { kind: 'url', url: 'https://eu.origin.example/base/', hosts: ['a.example'] }, z: { kind: 'zone' } },
  });
  const odd = oddTexts.map((note, index) => ({ type: 'asn', value: index + 1, verdict: 'allow', note, rollout: 12.5 }));
  const agents = ['NO/1.0', '1e3', ' 0123 ', 'ÉÈ東', '"; drop', "it's #1"].map((value) => ({
    type: 'userAgent',
    value: `${value} agent`,
    verdict: 'challenge',
    mode: 'monitor',
  }));
  const others = [
    { type: 'countryCode', value: 'NO', verdict: 'block', expiry },
    { type: 'ipMask', value: '2001:db8::/32', verdict: 'block' },
    { type: 'ja4Hash', value: 't13d1516h2_8daaf6152771_02713d6af862', verdict: 'block' },
  ];
  await call('/protect/access-rules/create', { siteKey, rules: [...odd, ...agents, ...others] });
  const many = Array.from({ length: rules }, (_, index) => ({ type: 'ip', value: addressOf(index), verdict: 'block' }));
  for (let from = 0; from < many.length; from += 10_000) {
    await call('/protect/access-rules/create', { siteKey, rules: many.slice(from, from + 10_000) });
  }
  await call('/protect/lists/create', { siteKey, name: 'offices', verdict: 'allow' });
  await call('/protect/lists/create', {
    siteKey,
    name: '0123',
    url: 'https://lists.example/drop.txt?key=s3cr3t&format=txt&bare',
    authorization: { header: 'X-Api-Key', value: 'hush-hush' },
    expirySeconds: 86_400,
  });
  for (const [index, description] of oddTexts.entries()) {
    const conditions = [{ field: 'userId', operator: 'equals', value: `${description}${index}` }];
    await call('/access-control/create', { rule: { type: 'block', description, conditions, expiry } });
  }
  const conditions = [
    { field: 'countryCode', operator: 'equals', value: 'no' },
    { field: 'asn', operator: 'equals', value: 64496 },
  ];
  await call('/access-control/create', {
    rule: { type: 'restrict', conditions, expiry, captchaType: 'image', ruleGroupId: '1e3' },
  });
  const bot = { behaviours: ['search'], patterns: ['OurBot/1e3'], networks: ['198.41.128.0/24'], isComplete: true };
  await call('/protect/bots/own/add', { id: 'own-1', ...bot });
  await call('/users/create', { email: 'NO@example.com', name: '012', role: 'viewer' });
  await call('/users/create', { email: 'zoë@example.com', name: 'Zoë "null" #1', role: 'admin' });
  await call('/alerts/channels/create', {
    name: '通知: NO',
    shape: 'slack',
    webhookUrl: 'https://hooks.example.com/services/s3cr3t',
    quietHours: { from: '22:00', until: '07:00', timeZone: 'Europe/Berlin' },
  });
  return { siteKey };
}

export function addressOf(index: number): string {
  return `11.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
}
