/** The policy step: address, traffic, email, and what is reported when facts are missing. */
import { describe, expect, test } from 'vitest';
import type { SealedFacts } from '../../../src/captcha/seal/sealed-facts.ts';
import { siteSettings } from '../../../src/contract/management/site-settings.ts';
import { readAddressFacts } from '../../../src/captcha/verify/address-facts.ts';
import { emailRefusal, mailboxOf, readEmail } from '../../../src/captcha/verify/email-rules.ts';
import { validateAddress } from '../../../src/captcha/verify/ip-validation.ts';
import { judgePolicy, type PolicyPorts } from '../../../src/captcha/verify/verification-policy.ts';
import { facts, token } from './sealing-fixtures.ts';
import { expectRows } from '../../support/rows.ts';

const settingsOf = (settings: Record<string, unknown>): ReturnType<typeof siteSettings.parse> =>
  siteSettings.parse({ domains: ['example.com'], ...settings });
const dataset = readAddressFacts(
  JSON.stringify({
    '192.0.2.0/24': { country: 'DE', asn: 64_496, latitude: 52.5, longitude: 13.4, categories: [] },
    '192.0.2.128/25': { country: 'DE', asn: 64_497, network: 'Tunnels', categories: ['vpn'], abuseScore: 0.9 },
    '2001:db8::/32': { country: 'FR', asn: 64_498, latitude: 48.9, longitude: 2.4, categories: ['tor'] },
  }),
);
const lookup = dataset.ok ? dataset.value : null;
const ports: PolicyPorts = {
  lookup,
  tag: async (kind, value) => `${kind}:${value}`,
  countMailbox: async () => true,
};
const seen: SealedFacts = { ...facts, ip: 'ip:192.0.2.1', country: 'DE', asn: 64_496, latitude: 52.5, longitude: 13.4 };
const judge = (
  settings: Record<string, unknown>,
  asked: { ip?: string; email?: string } = {},
  over: Partial<PolicyPorts> = {},
  known: Partial<SealedFacts> = {},
): ReturnType<typeof judgePolicy> =>
  judgePolicy(
    settingsOf(settings),
    { ...token, facts: { ...seen, ...known } },
    { ip: asked.ip ?? null, email: asked.email ?? null },
    { ...ports, ...over },
  );

describe('the operator’s dataset', () => {
  test('finds the longest prefix', () => {
    expect(lookup?.('192.0.2.1')?.asn).toBe(64_496);
    expect(lookup?.('192.0.2.200')?.asn).toBe(64_497);
    expect(lookup?.('2001:db8:1::1')?.country).toBe('FR');
    expect(lookup?.('198.51.100.1')).toBeNull();
    expect(lookup?.('nonsense')).toBeNull();
  });

  test('is optional', () => {
    expect(readAddressFacts(null)).toEqual({ ok: true, value: null });
    expect(readAddressFacts('')).toEqual({ ok: true, value: null });
  });

  test('has a bounded number of prefixes', () => {
    const prefixes = (count: number) =>
      JSON.stringify(
        Object.fromEntries(Array.from({ length: count }, (_, i) => [`10.${i >>> 8}.${i & 255}.0/24`, {}])),
      );
    expect(readAddressFacts(prefixes(2000)).ok).toBe(true);
    expect(readAddressFacts(prefixes(2001))).toEqual({
      ok: false,
      error: 'ADDRESS_FACTS may have at most 2000 prefixes',
    });
  });

  test('is a mistake when it is malformed', () =>
    expectRows(
      [
        '{',
        '{"192.0.2.0/24": {"planet": "x"}}',
        '{"192.0.2.0/24": {"country": "DEU"}}',
        '{"192.0.2.0/24": {"country": "xDE"}}',
        '{"300.0.0.0/8": {}}',
      ],
      (json) => {
        expect(readAddressFacts(json)).toEqual({ ok: false, error: expect.stringContaining('ADDRESS_FACTS') });
      },
    ));
});

describe('a refusal sealed at issue', () => {
  test('comes first, and an unknown reason still refuses', async () => {
    expect(await judge({}, {}, {}, { refusal: 'API.ACCESS_POLICY_BLOCK' })).toEqual({
      refusal: 'API.ACCESS_POLICY_BLOCK',
      notEvaluated: [],
    });
    expect((await judge({}, {}, {}, { refusal: 'API.OF_ANOTHER_RELEASE' })).refusal).toBe('API.USER_NOT_VERIFIED');
  });
});

describe('the traffic filter', () => {
  const trafficFilter = { vpn: { action: 'block' }, tor: { action: 'challenge' } };

  test('judges the verifying address if the dataset has it, and else what was seen at issue', async () => {
    expect((await judge({ trafficFilter }, { ip: '192.0.2.200' })).refusal).toBe('API.VPN_BLOCKED');
    expect((await judge({ trafficFilter }, { ip: '2001:db8::1' })).refusal).toBeNull();
    expect((await judge({ trafficFilter }, {}, {}, { categories: ['vpn'] })).refusal).toBe('API.VPN_BLOCKED');
    expect(await judge({ trafficFilter }, {}, {}, { categories: [] })).toEqual({ refusal: null, notEvaluated: [] });
  });

  test('reports that it was not evaluated when the facts are missing', async () => {
    expect(await judge({ trafficFilter })).toEqual({ refusal: null, notEvaluated: ['trafficFilter'] });
    expect(await judge({})).toEqual({ refusal: null, notEvaluated: [] });
  });

  test('reports that DNS resolvers were not judged when the site wants them judged', async () => {
    const wanted = { trafficFilter: { ...trafficFilter, skipExtrasOnValidDnsPath: false } };
    expect(await judge(wanted, {}, {}, { categories: [] })).toEqual({
      refusal: null,
      notEvaluated: ['skipExtrasOnValidDnsPath'],
    });
  });
});

describe('ip validation', () => {
  const on = (rules: Record<string, unknown> = {}): Record<string, unknown> => ({
    ipValidationRules: { enabled: true, ...rules },
  });

  test('passes the same address, and rejects any other where the site demands the same', async () => {
    expect((await judge(on({ forceConsistentIp: true }), { ip: '192.0.2.1' })).refusal).toBeNull();
    expect((await judge(on({ forceConsistentIp: true }), { ip: '192.0.2.2' })).refusal).toBe(
      'API.FAILED_IP_VALIDATION',
    );
    expect(
      (await judge({ ipValidationRules: { enabled: false, forceConsistentIp: true } }, { ip: '192.0.2.2' })).refusal,
    ).toBeNull();
  });

  test('reports that it was not evaluated without an address or without facts', async () => {
    expect((await judge(on())).notEvaluated).toEqual(['ipValidationRules']);
    expect((await judge(on(), { ip: '192.0.2.2' }, { lookup: null })).notEvaluated).toEqual(['ipValidationRules']);
    expect((await judge(on(), { ip: '198.51.100.1' })).notEvaluated).toEqual(['ipValidationRules']);
  });

  test('rejects by distance, country, provider and abuse as the site configures', async () => {
    expect((await judge(on({ distanceThresholdKm: 500 }), { ip: '2001:db8::1' })).refusal).toBe(
      'API.FAILED_IP_VALIDATION',
    );
    expect((await judge(on(), { ip: '2001:db8::1' })).refusal).toBeNull();
    expect((await judge(on({ actions: { countryChangeAction: 'reject' } }), { ip: '2001:db8::1' })).refusal).toBe(
      'API.FAILED_IP_VALIDATION',
    );
    expect((await judge(on({ actions: { ispChangeAction: 'reject' } }), { ip: '2001:db8::1' })).refusal).toBe(
      'API.FAILED_IP_VALIDATION',
    );
    expect((await judge(on(), { ip: '192.0.2.200' })).refusal).toBe('API.FAILED_IP_VALIDATION');
  });

  test('raises the score where the site flags, up to the score that the site bans', async () => {
    const flagging = on({ actions: { abuseScoreExceedAction: 'flag' } });
    const flagged = await judge(flagging, { ip: '192.0.2.200' }, {}, { score: 0.1, detectors: ['address-change'] });
    expect(flagged).toMatchObject({
      refusal: null,
      flag: {
        reason: 'API.FLAGGED_IP_VALIDATION',
        facts: { score: 0.4, detectors: ['address-change', 'flagged-address'] },
      },
    });
    expect((await judge(flagging, { ip: '192.0.2.1' })).flag).toBeUndefined();
    const banning = { ...flagging, autoBanScoreThreshold: 0.4 };
    expect(await judge(banning, { ip: '192.0.2.200' }, {}, { score: 0.1 })).toMatchObject({
      refusal: 'API.BOT_SCORE_ABOVE_THRESHOLD',
      flag: { facts: { score: 0.4 } },
    });
  });

  test('lists each action whose condition could not be judged, also where all are required', async () => {
    const rules = on({
      actions: { cityChangeAction: 'reject', abuseScoreExceedAction: 'reject' },
      requireAllConditions: true,
    });
    expect(await judge(rules, { ip: '192.0.2.200' })).toEqual({
      refusal: 'API.FAILED_IP_VALIDATION',
      notEvaluated: ['ipValidationRules.actions.cityChangeAction', 'ipValidationRules.actions.distanceExceedAction'],
    });
    const passes = {
      actions: { cityChangeAction: 'reject', countryChangeAction: 'reject' },
      requireAllConditions: true,
    };
    expect((await judge(on(passes), { ip: '2001:db8::1' })).notEvaluated).toContain(
      'ipValidationRules.actions.cityChangeAction',
    );
  });

  test('rejects only when all conditions fail where all are required, also by country', () => {
    const rules = settingsOf(
      on({
        actions: { countryChangeAction: 'reject' },
        requireAllConditions: true,
        countryOverrides: { DE: { distanceThresholdKm: 100, requireAllConditions: false } },
      }),
    ).ipValidationRules;
    const verifying = lookup!('2001:db8::1');
    const compare = (country: string): string =>
      validateAddress(rules, { sameAddress: false, sameCity: null, issued: { ...seen, country }, verifying }).action;
    // From Germany either condition rejects; from elsewhere the distance alone does not.
    expect(compare('DE')).toBe('reject');
    expect(compare('FR')).toBe('pass');
  });
});

describe('an email', () => {
  test('is read as a mailbox and a domain', () =>
    expectRows(
      [
        ['Someone@Example.COM', { local: 'someone', domain: 'example.com' }],
        ['example.com', { local: '', domain: 'example.com' }],
        ['"a@b"@example.com', null],
        ['@example.com', null],
        ['nobody', null],
        ['a b@example.com', null],
        ['x@', null],
        ['x@[192.0.2.1]', null],
      ],
      ([text, expected]) => {
        expect(readEmail(text)).toEqual(expected);
      },
    ));

  test('is the same mailbox in every spelling that Gmail accepts', () => {
    const spellings = ['j.doe@gmail.com', 'jdoe+shop@gmail.com', 'J.D.O.E@googlemail.com'];
    expect(new Set(spellings.map((text) => mailboxOf(readEmail(text)!, true))).size).toBe(1);
    expect(new Set(spellings.map((text) => mailboxOf(readEmail(text)!, false))).size).toBe(3);
  });

  const rules = (emailRules: Record<string, unknown>): Record<string, unknown> => ({
    spamFilter: { enabled: true, emailRules: { enabled: true, ...emailRules } },
  });
  test('is refused as the settings say', () =>
    expectRows(
      [
        [{ spamEmailDomainCheckEnabled: true }, 'a@mailinator.com', 'API.SPAM_EMAIL_DOMAIN'],
        [{ spamEmailDomainCheckEnabled: true }, 'eu.mailinator.com', 'API.SPAM_EMAIL_DOMAIN'],
        [{ spamEmailDomainCheckEnabled: true }, 'mailinator.com.example.org', null],
        [{ spamEmailDomainCheckEnabled: true }, 'a@gmail.com', null],
        [{ spamEmailDomainCheckEnabled: true }, 'nonsense', 'API.SPAM_EMAIL_DOMAIN'],
        [{}, 'a@mailinator.com', null],
        [{}, 'nonsense', null],
        [rules({ maxLocalPartDots: 2 }), 'a.b.c@example.org', null],
        [rules({ maxLocalPartDots: 2 }), 'a.b.c.d@example.org', 'API.SPAM_EMAIL_RULE'],
        [rules({ maxLocalPartDots: 0, normaliseGmail: true }), 'a.b.c.d@gmail.com', null],
        [rules({ useDefaultPatterns: true }), 'a.b.c.d.e@example.org', 'API.SPAM_EMAIL_RULE'],
        [rules({ useDefaultPatterns: true }), 'name+k3j9x2@gmail.com', 'API.SPAM_EMAIL_RULE'],
        [rules({ useDefaultPatterns: true }), 'name+shop@gmail.com', null],
        [rules({ customRegexBlocklist: ['\\.TEST$'] }), 'a@b.test', 'API.SPAM_EMAIL_RULE'],
        [rules({ customRegexBlocklist: ['^spam'] }), 'spammer@example.org', 'API.SPAM_EMAIL_RULE'],
        [
          { spamFilter: { enabled: false, emailRules: { enabled: true, maxLocalPartDots: 0 } } },
          'a.b@example.org',
          null,
        ],
      ],
      ([settings, email, refusal]) => {
        expect(emailRefusal(readEmail(email), settingsOf(settings))).toBe(refusal);
      },
    ));

  test('is counted by mailbox, and only where the site keeps metadata', async () => {
    const counted: string[] = [];
    const over = {
      countMailbox: async (mailbox: string, limit: number): Promise<boolean> => counted.push(mailbox) <= limit,
    };
    const limited = { ...rules({ maxEmailSubmissionCount: 1, normaliseGmail: true }), storeMetadata: true };
    expect((await judge(limited, { email: 'j.doe@gmail.com' }, over)).refusal).toBeNull();
    expect((await judge(limited, { email: 'jdoe+2@gmail.com' }, over)).refusal).toBe('API.SPAM_EMAIL_COUNT_EXCEEDED');
    expect(
      (await judge({ ...limited, storeMetadata: false }, { email: 'j.doe@gmail.com' }, over)).notEvaluated,
    ).toEqual(['maxEmailSubmissionCount']);
    expect((await judge(limited, { email: 'gmail.com' }, over)).refusal).toBeNull();
    expect(counted).toEqual(['jdoe@gmail.com', 'jdoe@gmail.com']);
  });

  test('is counted as it is spelled, unless the site asks for Gmail’s one spelling', async () => {
    const counted: string[] = [];
    const over = { countMailbox: async (mailbox: string) => counted.push(mailbox) > 0 };
    const limited = { ...rules({ maxEmailSubmissionCount: 1 }), storeMetadata: true };
    await judge(limited, { email: 'j.doe@gmail.com' }, over);
    expect(counted).toEqual(['j.doe@gmail.com']);
  });

  test('that is refused is not counted', async () => {
    const refused = { ...rules({ maxLocalPartDots: 0, maxEmailSubmissionCount: 1 }), storeMetadata: true };
    const countMailbox = () => Promise.reject(new Error('not to be counted'));
    expect(await judge(refused, { email: 'a.b@example.org' }, { countMailbox })).toMatchObject({
      refusal: 'API.SPAM_EMAIL_RULE',
    });
  });
});

describe('what the policy step asks', () => {
  const strict = { ipValidationRules: { enabled: true, forceConsistentIp: true } };

  test('has nothing left over when everything is judged', async () => {
    expect(await judge({}, { ip: '192.0.2.1' })).toEqual({ refusal: null, notEvaluated: [] });
  });

  test('an address is compared only where both are known', async () => {
    expect(await judge(strict, { ip: '192.0.2.2' })).toMatchObject({ refusal: 'API.FAILED_IP_VALIDATION' });
    expect(await judge(strict)).toEqual({ refusal: null, notEvaluated: ['ipValidationRules'] });
    expect(await judge(strict, { ip: '192.0.2.2' }, {}, { ip: null })).toEqual({
      refusal: null,
      notEvaluated: ['ipValidationRules'],
    });
    expect(await judge(strict, {}, { tag: async () => 'the same' }, { ip: null })).toMatchObject({ refusal: null });
  });

  test('a city is compared by its tag, only where both are known', async () => {
    const settings = { ipValidationRules: { enabled: true, actions: { cityChangeAction: 'reject' } } };
    const found = readAddressFacts(JSON.stringify({ '192.0.2.0/24': { city: 'Bern', categories: ['datacenter'] } }));
    const over = { lookup: found.ok ? found.value : null };
    const asked = { ip: '192.0.2.2' };
    const failed = { refusal: 'API.FAILED_IP_VALIDATION' };
    expect(await judge(settings, asked, over, { city: 'city:Ulm' })).toMatchObject(failed);
    expect(await judge(settings, asked, over, { city: 'city:Bern' })).toMatchObject({ refusal: null });
    expect(await judge(settings, asked, over, { city: null })).toMatchObject({ refusal: null });
  });

  test('a mailbox is counted only for a site that limits it', async () => {
    const refusing = { countMailbox: async () => false };
    const asked = { email: 'ann@example.com' };
    const spamFilter = { enabled: true, emailRules: { enabled: true, maxEmailSubmissionCount: 1 } };
    const counted = (filter: object) => judge({ storeMetadata: true, spamFilter: filter }, asked, refusing);
    expect((await counted(spamFilter)).refusal).toBe('API.SPAM_EMAIL_COUNT_EXCEEDED');
    expect((await counted({ ...spamFilter, enabled: false })).refusal).toBeNull();
    expect((await counted({ ...spamFilter, emailRules: { enabled: true } })).refusal).toBeNull();
    expect(
      (await counted({ enabled: true, emailRules: { ...spamFilter.emailRules, enabled: false } })).refusal,
    ).toBeNull();
  });
});

describe('an address of mail', () => {
  test('is read without the space around it, in lower case', () => {
    expect(readEmail(' Ann@Example.com ')).toEqual({ local: 'ann', domain: 'example.com' });
  });

  test('has at most 64 characters before the @', () => {
    expect(readEmail(`${'a'.repeat(64)}@example.com`)?.local).toHaveLength(64);
    expect(readEmail(`${'a'.repeat(65)}@example.com`)).toBeNull();
  });
});
