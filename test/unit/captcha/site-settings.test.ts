/** Site settings: defaults, ranges, and the refusal of everything else by name. */
import { describe, expect, test } from 'vitest';
import { hostnameAllowed, normaliseDomain } from '../../../src/contract/management/site-domain.ts';
import { siteSettings } from '../../../src/contract/management/site-settings.ts';
import { expectRows } from '../../support/rows.ts';

const domains = ['example.com'];
const accepts = (settings: Record<string, unknown>): boolean =>
  siteSettings.safeParse({ domains, ...settings }).success;

test('domains are enough, and the rest gets its defaults', () => {
  expect(siteSettings.parse({ domains })).toEqual({
    domains,
    captchaType: 'frictionless',
    verifiedTimeout: 120_000,
    solutionTimeout: 60_000,
    frictionlessThreshold: 0.5,
    frictionlessTypes: { image: true, puzzle: true },
    powDifficulty: 4,
    minimumLevel: 1,
    imageThreshold: 0.8,
    imageMaxRounds: 32,
    imageMinRounds: 2,
    puzzleTolerance: 15,
    puzzleMaxDifficulty: 3,
    disallowWebView: false,
    spamEmailDomainCheckEnabled: false,
    storeMetadata: false,
  });
});

test('parsed settings parse to themselves', () => {
  const once = siteSettings.parse({
    domains,
    ipValidationRules: { enabled: true },
    trafficFilter: { tor: { action: 'block', padBytes: 1, puzzle: { decoyCount: 7 } } },
    puzzle: {},
  });
  expect(siteSettings.parse(once)).toEqual(once);
});

const bounds: [setting: string, good: unknown[], bad: unknown[]][] = [
  ['captchaType', ['pow', 'image', 'puzzle', 'frictionless'], ['none', 7]],
  ['verifiedTimeout', [1000, 600_000], [999, 600_001, 1000.5, '1000']],
  ['solutionTimeout', [1000, 600_000], [999, 600_001]],
  ['minimumLevel', [0, 1, 2], [-1, 0.5, 3]],
  ['powDifficulty', [1, 4.25, 10], [0.9, 10.1, Number.NaN, Infinity]],
  ['imageThreshold', [0, 1], [-0.1, 1.1]],
  ['imageMaxRounds', [2, 32], [1, 33]],
  [
    'frictionlessThreshold',
    [0, 1, {}, { frictionlessPuzzleThreshold: 0.2 }],
    [2, { frictionlessPuzzleThreshold: 0.9, frictionlessImageThreshold: 0.8 }, { other: 1 }],
  ],
  ['puzzleTolerance', [5, 1000], [4, 1001]],
  ['puzzleMaxDifficulty', [0, 4], [5]],
  ['puzzle', [{}, { decoyCount: 200 }], [{ decoyCount: 201 }, { pieceScale: { min: 0.5, max: 0.2 } }, { holes: 1 }]],
  [
    'ipValidationRules',
    [{}, { countryOverrides: { DE: { distanceThresholdKm: 10 } } }],
    [{ countryOverrides: { de: {} } }, { distanceThresholdKm: 0 }, { actions: { x: 'allow' } }],
  ],
  [
    'spamFilter',
    [{}, { emailRules: { customRegexBlocklist: ['^spam'] } }],
    [{ emailRules: { customRegexBlocklist: ['(a)\\1'] } }, { emailRules: { maxLocalPartDots: -1 } }],
  ],
  [
    'trafficFilter',
    [
      {},
      { vpn: { action: 'challenge' } },
      { vpn: { action: 'challenge', padBytes: 5_242_880, puzzle: { pieceScale: { min: 0.2, max: 0.3 } } } },
      { skipExtrasOnValidDnsPath: false },
    ],
    [
      { vpn: { action: 'allow' } },
      { vpn: {} },
      { wifi: { action: 'block' } },
      { vpn: { action: 'challenge', padBytes: 5_242_881 } },
      { vpn: { action: 'challenge', padBytes: -1 } },
      { vpn: { action: 'challenge', padBytes: 1.5 } },
      { vpn: { action: 'challenge', puzzle: { decoyCount: 201 } } },
      { skipExtrasOnValidDnsPath: 'yes' },
    ],
  ],
  ['honeypot', [{}, { enabled: true, encodingType: 'semaphore' }], [{ encodingType: 'braille' }]],
  ['contextAware', [{ enabled: true, contexts: { default: {} } }], [{ contexts: { other: {} } }]],
];

test('each setting accepts values within its bounds', () =>
  expectRows(
    bounds.flatMap(([name, good]) => good.map((value) => ({ [name]: value }))),
    (settings) => {
      expect(accepts(settings)).toBe(true);
    },
  ));

test('each setting refuses values outside its bounds', () =>
  expectRows(
    bounds.flatMap(([name, , bad]) => bad.map((value) => ({ [name]: value }))),
    (settings) => {
      expect(accepts(settings)).toBe(false);
    },
  ));

test('the error names the refused blocklist pattern and the reason', () => {
  const emailRules = { customRegexBlocklist: ['^spam', '(?=x)y'] };
  expect(siteSettings.safeParse({ domains, spamFilter: { emailRules } }).error?.issues).toMatchObject([
    {
      path: ['spamFilter', 'emailRules', 'customRegexBlocklist', 1],
      message: 'look-around such as (?= is not supported',
    },
  ]);
});

test('a blocklist that is too long is refused without being compiled', () => {
  const emailRules = { customRegexBlocklist: Array.from({ length: 51 }, () => '(') };
  const { error } = siteSettings.safeParse({ domains, spamFilter: { emailRules } });
  expect(error?.issues.map((issue) => issue.code)).toEqual(['too_big']);
});

test('the error names an unknown field', () => {
  const result = siteSettings.safeParse({ domains, powDificulty: 3 });
  expect(result.error?.issues[0]).toMatchObject({ code: 'unrecognized_keys', keys: ['powDificulty'] });
});

test('an empty list of domains and a minimum of rounds above the maximum are refused', () => {
  expect(siteSettings.safeParse({}).success).toBe(false);
  expect(siteSettings.safeParse({ domains: [] }).success).toBe(false);
  expect(accepts({ imageMinRounds: 5, imageMaxRounds: 4 })).toBe(false);
});

describe('a domain', () => {
  test('is stored as a host name', () =>
    expectRows(
      [
        ['Example.COM', 'example.com'],
        ['https://example.com', 'example.com'],
        ['HTTP://www.example.com/', 'example.com'],
        ['*.Example.com', '*.example.com'],
        ['localhost', 'localhost'],
        ['http://localhost:3000', 'localhost'],
        ['192.0.2.1', '192.0.2.1'],
        ['[2001:db8::1]', '[2001:db8::1]'],
        ['bücher.example', 'xn--bcher-kva.example'],
        ['example.com.', 'example.com'],
      ],
      ([given, kept]) => {
        expect(normaliseDomain(given)).toBe(kept);
      },
    ));

  test('that is no host name is refused', () =>
    expectRows(
      [
        '',
        '*',
        '*.',
        'www.',
        'example.com/path',
        'a.*.com',
        '*example.com',
        'ex ample.com',
        'exam\u0000ple.com',
        'example.com\u0000',
        'user@example.com',
        'example.com?x',
        '-a.com',
        `${'a'.repeat(64)}.com`,
        `${'a.'.repeat(130)}com`,
      ],
      (given) => {
        expect(normaliseDomain(given)).toBeNull();
      },
    ));

  test('allows itself and its subdomains', () =>
    expectRows(
      [
        ['example.com', ['example.com'], true],
        ['shop.example.com', ['example.com'], true],
        ['EXAMPLE.com.', ['example.com'], true],
        ['example.com', ['*.example.com'], true],
        ['a.b.example.com', ['*.example.com'], true],
        ['notexample.com', ['example.com'], false],
        ['example.com.evil.test', ['example.com'], false],
        ['example.org', ['example.com'], false],
        ['localhost', ['example.com'], true],
        ['127.0.0.1', ['example.com'], true],
        ['127.0.0.1.evil.test', ['example.com'], false],
        ['localhost.evil.test', ['example.com'], false],
        ['example.com', [], false],
        ['', ['example.com'], false],
        ['com', ['example.com'], false],
      ],
      ([hostname, list, allowed]) => {
        expect(hostnameAllowed(hostname, list)).toBe(allowed);
      },
    ));
});
