/** Every site setting over HTTP: the same visitor with and without it, and the result. */
import { describe, expect, test } from 'vitest';
import { imageLayout } from '../../src/captcha/visual/derive-answer.ts';
import type { SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import type { SiteverifyResponse } from '../../src/contract/captcha/siteverify.ts';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import { later } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';
import {
  ask,
  askForPicture,
  freshAddress,
  handIn,
  keyring,
  knowAddresses,
  makeSite,
  opened,
  post,
  solvePow,
  tokenFor,
} from './captcha-harness.ts';

knowAddresses({
  '192.0.2.0/24': { country: 'DE', asn: 64_496, latitude: 52.5, longitude: 13.4, categories: [], abuseScore: 0 },
  '198.51.100.0/24': { country: 'FR', asn: 64_497, latitude: 48.9, longitude: 2.4, categories: [], abuseScore: 0.3 },
  '203.0.113.0/24': {
    categories: Array.from({ length: 16 }, (_, index) => `flag-${index}`),
  },
});

type Headers = Record<string, string>;
const WEB_VIEW: Headers = {
  'user-agent': 'Mozilla/5.0 (Linux; Android 14; wv) AppleWebKit/537.36 Version/4.0 Chrome/140.0 Mobile Safari/537.36',
};
/** A tool: a score of 0.5. */
const DOUBTFUL: Headers = { 'user-agent': 'curl/8.7.1' };
const DOUBTFUL_WEB_VIEW: Headers = { 'user-agent': WEB_VIEW['user-agent']!.replace('Chrome/', 'HeadlessChrome/') };

const site = (settings: object): Promise<SiteRecord> =>
  makeSite('premium', { captchaType: 'frictionless', ...settings });
const verify = async (of: SiteRecord, token: string, more: object = {}): Promise<SiteverifyResponse> =>
  (await post<SiteverifyResponse>('/siteverify', { secret: of.secretKey, token, ...more })).body;

describe('the task of a visitor', () => {
  test('follows the settings of the site', () =>
    expectRows<[string, object, Headers, object]>(
      [
        ['captchaType pow', { captchaType: 'pow' }, DOUBTFUL, { kind: 'pow' }],
        ['captchaType image', { captchaType: 'image' }, {}, { kind: 'image' }],
        ['captchaType puzzle', { captchaType: 'puzzle' }, {}, { kind: 'puzzle' }],
        ['frictionlessThreshold not reached', {}, {}, { kind: 'pow' }],
        ['frictionlessThreshold reached', {}, DOUBTFUL, { kind: 'image' }],
        ['frictionlessThreshold raised', { frictionlessThreshold: 0.8 }, DOUBTFUL, { kind: 'pow' }],
        [
          'two thresholds',
          { frictionlessThreshold: { frictionlessImageThreshold: 0.9 } },
          DOUBTFUL,
          { kind: 'puzzle' },
        ],
        ['frictionlessTypes', { frictionlessTypes: { image: false } }, DOUBTFUL, { kind: 'puzzle' }],
        ['powDifficulty', { powDifficulty: 2.5 }, {}, { pow: { t: 37_500 } }],
        ['contextAware', contextOf('webview'), WEB_VIEW, { kind: 'pow' }],
        ['contextAware elsewhere', contextOf('default'), DOUBTFUL, { kind: 'pow' }],
        ['honeypot', { honeypot: { enabled: true, question: 'e' } }, {}, { honeypot: { question: '.' } }],
        ['privacyUrl', { captchaType: 'image', privacyUrl: '/privacy' }, {}, { privacyUrl: '/privacy' }],
        [
          'semaphore',
          { honeypot: { enabled: true, question: 'a', encodingType: 'semaphore' } },
          {},
          { honeypot: { question: '01' } },
        ],
      ],
      async ([, settings, headers, expected]) => {
        const challenge = await ask(await site(settings), {}, headers);
        expect(challenge).toMatchObject(expected);
      },
    ));

  test('names no page on privacy where there is nothing to see or hear', async () => {
    expect(await ask(await site({ captchaType: 'pow', privacyUrl: '/privacy' }))).not.toHaveProperty('privacyUrl');
  });

  /** A doubtful visitor of a site with contexts: below 0.9 they get the site's own choice, here a proof of work. */
  function contextOf(name: string): object {
    return { captchaType: 'pow', contextAware: { enabled: true, contexts: { [name]: { threshold: 0.9 } } } };
  }

  test('has the context’s own kind from its threshold on', async () => {
    const aware = await site({
      captchaType: 'pow',
      contextAware: {
        enabled: true,
        contexts: { default: { type: 'puzzle', threshold: 0.5 }, webview: { threshold: 0.5 } },
      },
    });
    expect(await ask(aware, {}, DOUBTFUL)).toMatchObject({ kind: 'puzzle' });
    expect(await ask(aware, {}, DOUBTFUL_WEB_VIEW)).toMatchObject({ kind: 'image' });
    expect(await ask(aware)).toMatchObject({ kind: 'pow' });
  });

  test('is a harder puzzle for a higher score, up to puzzleMaxDifficulty', async () => {
    for (const [most, hardness] of [
      [4, 2],
      [0, 0],
    ]) {
      const challenge = await ask(await site({ captchaType: 'puzzle', puzzleMaxDifficulty: most }), {}, DOUBTFUL);
      expect((await opened(challenge)).params.hardness).toBe(hardness);
    }
  });

  test('has imageMinRounds pictures', async () => {
    const three = await site({ captchaType: 'image', imageMinRounds: 3 });
    expect(await askForPicture(three)).toMatchObject({ image: { rounds: 3 } });
  });

  test('has no more pictures than imageMaxRounds', async () => {
    const short = await site({ captchaType: 'image', imageMinRounds: 1, imageMaxRounds: 2 });
    const from = { 'cf-connecting-ip': freshAddress() };
    const first = await askForPicture(short, {}, from);
    const second = await handIn(first.challenge, { selected: [] }, from);
    expect(second.body.next).toBeDefined();
    expect((await handIn(second.body.next!.challenge, { selected: [] }, from)).body).toMatchObject({ verified: false });
  });

  test('imageThreshold accepts one mistake in nine at 0.8 and not at 0.9', async () => {
    const answered = async (imageThreshold: number): Promise<SolutionResponse> => {
      const strict = await site({ captchaType: 'image', imageMinRounds: 1, imageThreshold });
      const challenge = await askForPicture(strict);
      later(20_000);
      const { shape, tiles } = await imageLayout(keyring, await opened(challenge));
      const right = tiles.flatMap((tile, index) => (tile === shape ? [index] : []));
      const wrong = tiles.findIndex((tile) => tile !== shape);
      return (await handIn(challenge.challenge, { selected: [...right, wrong] })).body;
    };
    expect((await answered(0.8)).verified).toBe(true);
    expect((await answered(0.9)).verified).toBe(false);
  });
});

describe('the time limit', () => {
  test('solutionTimeout runs from the challenge to its solution', async () => {
    const quick = await site({ captchaType: 'pow', powDifficulty: 1, solutionTimeout: 5000 });
    const challenge = await ask(quick);
    const solution = await solvePow(challenge);
    later(5001);
    expect((await handIn(challenge.challenge, solution)).body).toMatchObject({ reason: 'API.TIMESTAMP_TOO_OLD' });
  });

  test('verifiedTimeout runs from the solution to the verification', async () => {
    const quick = await site({ captchaType: 'pow', powDifficulty: 1, verifiedTimeout: 5000 });
    const token = await tokenFor(quick);
    later(5001);
    expect(await verify(quick, token)).toMatchObject({ reason: 'API.TIMESTAMP_TOO_OLD' });
  });
});

describe('verification', () => {
  const emailRules = { maxLocalPartDots: 1, customRegexBlocklist: ['^promo'], useDefaultPatterns: true };
  const spam = { spamFilter: { enabled: true, emailRules: { enabled: true, ...emailRules } } };
  const near = { 'cf-connecting-ip': '192.0.2.1' };
  const rules = (given: object): object => ({ ipValidationRules: { enabled: true, ...given } });

  test('follows the settings of the site', () =>
    expectRows<[string, object, Headers, object, string | null]>(
      [
        ['disallowWebView', { disallowWebView: true }, WEB_VIEW, {}, 'API.DISALLOWED_WEBVIEW'],
        ['a web view elsewhere', {}, WEB_VIEW, {}, null],
        ['autoBanScoreThreshold', { autoBanScoreThreshold: 0.5 }, DOUBTFUL, {}, 'API.BOT_SCORE_ABOVE_THRESHOLD'],
        ['a score below it', { autoBanScoreThreshold: 0.6 }, DOUBTFUL, {}, null],
        [
          'spamEmailDomainCheckEnabled',
          { spamEmailDomainCheckEnabled: true },
          {},
          { email: 'a@mailinator.com' },
          'API.SPAM_EMAIL_DOMAIN',
        ],
        [
          'a bare domain',
          { spamEmailDomainCheckEnabled: true },
          {},
          { email: 'mailinator.com' },
          'API.SPAM_EMAIL_DOMAIN',
        ],
        ['maxLocalPartDots', spam, {}, { email: 'a.b.c@example.org' }, 'API.SPAM_EMAIL_RULE'],
        ['customRegexBlocklist', spam, {}, { email: 'promo7@example.org' }, 'API.SPAM_EMAIL_RULE'],
        ['useDefaultPatterns', spam, {}, { email: 'n+a1b2c3d4@gmail.com' }, 'API.SPAM_EMAIL_RULE'],
        ['a plain address', spam, {}, { email: 'someone@example.org' }, null],
        [
          'forceConsistentIp',
          rules({ forceConsistentIp: true }),
          near,
          { ip: '192.0.2.2' },
          'API.FAILED_IP_VALIDATION',
        ],
        ['the same address', rules({ forceConsistentIp: true }), near, { ip: '192.0.2.1' }, null],
        [
          'distanceThresholdKm',
          rules({ distanceThresholdKm: 500, abuseScoreThreshold: 1 }),
          near,
          { ip: '198.51.100.1' },
          'API.FAILED_IP_VALIDATION',
        ],
        ['a distance below it', rules({ abuseScoreThreshold: 1 }), near, { ip: '198.51.100.1' }, null],
        [
          'abuseScoreThreshold',
          rules({ abuseScoreThreshold: 0.2 }),
          near,
          { ip: '198.51.100.1' },
          'API.FAILED_IP_VALIDATION',
        ],
        [
          'countryChangeAction',
          rules({ actions: { countryChangeAction: 'reject' }, abuseScoreThreshold: 1 }),
          near,
          { ip: '198.51.100.1' },
          'API.FAILED_IP_VALIDATION',
        ],
        [
          'ispChangeAction',
          rules({ actions: { ispChangeAction: 'reject' }, abuseScoreThreshold: 1 }),
          near,
          { ip: '198.51.100.1' },
          'API.FAILED_IP_VALIDATION',
        ],
        [
          'requireAllConditions',
          rules({ requireAllConditions: true, abuseScoreThreshold: 0.2 }),
          near,
          { ip: '198.51.100.1' },
          null,
        ],
        [
          'countryOverrides',
          rules({ abuseScoreThreshold: 1, countryOverrides: { DE: { distanceThresholdKm: 10 } } }),
          near,
          { ip: '198.51.100.1' },
          'API.FAILED_IP_VALIDATION',
        ],
      ],
      async ([, settings, headers, question, reason]) => {
        const strict = await site({ captchaType: 'pow', powDifficulty: 1, ...settings });
        const answer = await verify(strict, await tokenFor(strict, {}, headers), question);
        expect([answer.verified, answer.reason ?? null]).toEqual([reason === null, reason]);
      },
    ));

  test('refuses a mailbox above maxEmailSubmissionCount, in any spelling, where storeMetadata is on', async () => {
    const counted = { emailRules: { enabled: true, normaliseGmail: true, maxEmailSubmissionCount: 1 }, enabled: true };
    const strict = await site({ captchaType: 'pow', powDifficulty: 1, storeMetadata: true, spamFilter: counted });
    const tokens = [await tokenFor(strict), await tokenFor(strict)];
    expect(await verify(strict, tokens[0]!, { email: 'j.doe@gmail.com' })).toMatchObject({ verified: true });
    expect(await verify(strict, tokens[1]!, { email: 'JDoe+x@googlemail.com' })).toMatchObject({
      reason: 'API.SPAM_EMAIL_COUNT_EXCEEDED',
    });
  });
});

test('a visitor with every flag that a dataset can give gets a valid token', async () => {
  const filtered = await site({ captchaType: 'pow', powDifficulty: 1, trafficFilter: { tor: { action: 'block' } } });
  const token = await tokenFor(filtered, {}, { 'cf-connecting-ip': '203.0.113.7' });
  expect(await verify(filtered, token)).toMatchObject({ verified: true });
});

test('a page on privacy is on this site or anywhere over HTTPS, and nowhere else', () =>
  expectRows(
    ['javascript:alert(1)', 'http://shop.example/', '//shop.example/', '/\\shop.example/', '/a b', ''],
    async (privacyUrl) => {
      const { siteSettings } = await import('../../src/contract/management/site-settings.ts');
      const parsed = siteSettings.safeParse({ domains: ['shop.example'], privacyUrl });
      expect(parsed.error?.issues[0]?.path).toEqual(['privacyUrl']);
    },
  ));
