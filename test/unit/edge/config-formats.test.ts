/**
 * A config of another release. An edge goes on with all of it that it can read: what a newer service added costs nothing
 * else, and what an older one lacks has a default.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { encodeUtf8 } from '../../../src/bytes/utf8.ts';
import type { EdgeConfig } from '../../../src/contract/edge/edge-responses.ts';
import { compileConfig } from '../../../src/edge/config/compiled-config.ts';
import { decodeConfig } from '../../../src/edge/feed/stored-parts.ts';
import { valueOrNull } from '../../../src/edge/feed/upstream.ts';

/** What a service of the first release sent. It never changes. */
const FIRST = readFileSync('test/fixtures/edge-formats/GHCONFIG1.json', 'utf8');

type Keys = readonly (string | number)[];

/** The first release's config with another value at one place; `undefined` removes it. */
function changed(keys: Keys, value: unknown): unknown {
  const config = JSON.parse(FIRST) as Record<string | number, unknown>;
  const holder = keys.slice(0, -1).reduce((at, key) => at[key] as typeof config, config);
  holder[keys.at(-1)!] = value;
  return config;
}

const read = (config: unknown): EdgeConfig | null =>
  valueOrNull(decodeConfig(encodeUtf8(JSON.stringify(config))))?.config ?? null;
const first = read(JSON.parse(FIRST))!;

test('the config of the first release is read as it was sent', () => {
  expect(first).toMatchObject(JSON.parse(FIRST));
});

describe('a word that a newer service added', () => {
  test.each<[keys: Keys, meaning: unknown]>([
    [['site', 'captchaType'], 'frictionless'],
    [['policy', 'ipCategoryRules', 'tor'], 'challenge'],
    [['policy', 'defaultPathType'], 'html'],
    [['policy', 'endpointRules', 0, 'pathType'], 'html'],
    [['policy', 'pathRules', 0, 'action'], 'inherit'],
    [['policy', 'challengeDifficulty', 0, 'captchaType'], undefined],
    [['policy', 'enforcementPolicy', 'html', 'onPending'], 'budget'],
    [['policy', 'enforcementPolicy', 'html', 'onChallenge'], 'challenge'],
    [['policy', 'enforcementPolicy', 'html', 'onError'], 'allow'],
    [['policy', 'botPolicy', 'preset'], 'search-only'],
    [['policy', 'botPolicy', 'claimed'], 'inherit'],
    [['policy', 'botPolicy', 'impostor'], 'challenge'],
    [['policy', 'botPolicy', 'behaviours', 'training'], undefined],
    [['policy', 'botPolicy', 'signatures', 'nonce'], 'once'],
    [['policySet', 'policies', 0, 'mode'], 'monitor'],
  ])('at %j counts as %j, and the rest is in force', (keys, meaning) => {
    expect(read(changed(keys, 'tomorrow'))).toEqual(read(changed(keys, meaning)));
  });

  test.each<[what: string, keys: Keys, list: Keys]>([
    ['a bot override', ['policy', 'botPolicy', 'overrides', 0, 'action'], ['policy', 'botPolicy', 'overrides']],
    ['a bot override', ['policy', 'botPolicy', 'overrides', 1, 'behaviour'], ['policy', 'botPolicy', 'overrides']],
    ['a limit', ['policySet', 'limits', 0, 'algorithm'], ['policySet', 'limits']],
    ['a limit', ['policySet', 'limits', 0, 'then'], ['policySet', 'limits']],
    ['a limit', ['policySet', 'limits', 0, 'mode'], ['policySet', 'limits']],
  ])('in %s at %j leaves that one out', (_, keys, list) => {
    const whole = list.reduce<any>((at, key) => at[key], first) as unknown[];
    const left = whole.filter((_item, at) => at !== keys[list.length]);
    expect(read(changed(keys, 'tomorrow'))).toEqual(read(changed(list, left)));
  });

  test('in a limit leaves out the policies that name it, and health says so', async () => {
    const config = read(changed(['policySet', 'limits', 0, 'then'], 'tomorrow'))!;
    const { limits, policies } = await compileConfig(config);
    expect([limits, policies.size, policies.skipped]).toEqual([null, 1, 1]);
  });
});

test.each<[Keys]>([[['tomorrow']], [['policy', 'tomorrow']], [['site', 'tomorrow']], [['policySet', 'tomorrow']]])(
  'a field that a newer service added at %j is ignored',
  (keys) => {
    expect(read(changed(keys, { some: 'thing' }))).toEqual(first);
  },
);

describe('a format', () => {
  test('that this release does not read is refused, whatever else fits', () => {
    expect(read(changed(['format'], 'GHCONFIG9'))).toBeNull();
  });

  test('that is not named is the first one', () => {
    expect(read(changed(['format'], undefined))).toEqual(first);
  });

  // To remove one of these, or to add another one, takes a new format.
  test('needs each of its fields, apart from those that have a default', () => {
    const needed = Object.keys(first).filter((key) => read(changed([key], undefined)) === null);
    expect(needed).toEqual([
      'configVersion',
      'instanceId',
      'policy',
      'siteKey',
      'secretKey',
      'keys',
      'rulesetKeys',
      'raisedJtis',
    ]);
  });
});
