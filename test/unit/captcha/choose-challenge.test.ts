/** What a visitor has to do, by the site's settings, the score, the traffic filter and the access rule. */
import { describe, expect, test } from 'vitest';
import { chooseChallenge, type ChooseInputs } from '../../../src/captcha/plan/choose-challenge.ts';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import { siteSettings } from '../../../src/contract/management/site-settings.ts';
import { expectRows } from '../../support/rows.ts';

const unknown = { categories: null, network: null, abuseScore: null };
const able = { bigint: true, worker: true, script: true, audio: false };

function choose(
  settings: Record<string, unknown>,
  over: Partial<ChooseInputs> = {},
): ReturnType<typeof chooseChallenge> {
  return chooseChallenge({
    settings: siteSettings.parse({ domains: ['example.com'], ...settings }),
    score: 0,
    webView: false,
    traits: unknown,
    demand: null,
    capabilities: able,
    ...over,
  });
}
const kindAt = (settings: Record<string, unknown>, score: number): string | undefined =>
  choose(settings, { score })?.kind;
const traits = (...categories: string[]): ChooseInputs['traits'] => ({ ...unknown, categories });

describe('frictionless', () => {
  test('with one threshold has an image from there on', () =>
    expectRows(
      [
        [0, 'pow'],
        [0.49, 'pow'],
        [0.5, 'image'],
        [1, 'image'],
      ],
      ([score, kind]) => {
        expect(kindAt({}, score)).toBe(kind);
      },
    ));

  test('with two thresholds has a puzzle between them', () =>
    expectRows(
      [
        [0.29, 'pow'],
        [0.3, 'puzzle'],
        [0.79, 'puzzle'],
        [0.8, 'image'],
      ],
      ([score, kind]) => {
        const frictionlessThreshold = { frictionlessPuzzleThreshold: 0.3, frictionlessImageThreshold: 0.8 };
        expect(kindAt({ frictionlessThreshold }, score)).toBe(kind);
      },
    ));

  test('uses only the kinds that the site allows, and more work where it allows none', () => {
    expect(kindAt({ frictionlessTypes: { image: false } }, 0.9)).toBe('puzzle');
    expect(kindAt({ frictionlessTypes: { image: true, puzzle: false } }, 0.9)).toBe('image');
    expect(choose({ frictionlessTypes: { image: false, puzzle: false } }, { score: 0.9 })).toMatchObject({
      kind: 'pow',
      powDifficulty: 7,
    });
  });
});

describe('the kind in the site’s settings', () => {
  test.each(['pow', 'image', 'puzzle'])('%s is used at any score', (captchaType) => {
    for (const score of [0, 1]) expect(kindAt({ captchaType }, score)).toBe(captchaType);
  });

  test('is replaced by the kind for the visitor’s context', () => {
    const contextAware = { enabled: true, contexts: { webview: { type: 'puzzle', threshold: 0.5 } } };
    expect(choose({ captchaType: 'pow', contextAware }, { webView: true, score: 0.6 })?.kind).toBe('puzzle');
    expect(choose({ captchaType: 'pow', contextAware }, { webView: false, score: 0.6 })?.kind).toBe('pow');
  });
});

describe('capabilities', () => {
  test('change the lane and never the kind', () => {
    expect(choose({ captchaType: 'pow' }, { capabilities: { ...able, bigint: false } })?.lane).toBe('sha256');
    expect(choose({ captchaType: 'image' }, { capabilities: { ...able, bigint: false } })).toMatchObject({
      kind: 'image',
      lane: 'visual',
      workLane: 'sha256',
    });
    expect(choose({ captchaType: 'image' }, { capabilities: { ...able, audio: true } })).toMatchObject({
      kind: 'image',
      lane: 'audio',
      workLane: 'rsw',
    });
    expect(choose({ captchaType: 'pow' }, { capabilities: { ...able, audio: true } })?.lane).toBe('rsw');
  });

  test('without script lead to waiting only instead of a proof of work, and only for an unsuspicious visitor', () => {
    const capabilities = { ...able, script: false };
    const lax = { captchaType: 'pow', minimumLevel: 0 };
    expect(choose(lax, { capabilities })?.lane).toBe('wait');
    expect(choose({ ...lax, captchaType: 'image' }, { capabilities })).toBeNull();
    expect(choose(lax, { capabilities, score: 0.9 })).toBeNull();
    const atRisk = { policy: instancePolicy.parse({ challengeThreshold: 0.3 }), risk: 0.3 };
    expect(choose(lax, { capabilities, instance: atRisk })).toBeNull();
  });
});

describe('the lowest level that counts', () => {
  const withoutScript = { ...able, script: false };
  const clearance = (clearanceLevel: number) => ({ policy: instancePolicy.parse({ clearanceLevel }), risk: 0 });

  test('leaves no wait from 1 on, whether the site or the instance asks for it', () => {
    expect(choose({ captchaType: 'pow' }, { capabilities: withoutScript })).toBeNull();
    const lax = { captchaType: 'pow', minimumLevel: 0 };
    expect(choose(lax, { capabilities: withoutScript, instance: clearance(0) })?.lane).toBe('wait');
    expect(choose(lax, { capabilities: withoutScript, instance: clearance(1) })).toBeNull();
  });

  test('makes every challenge a task at 2, although the site or a rule asks for work', () => {
    expect(choose({ minimumLevel: 2 })?.kind).toBe('puzzle');
    expect(choose({ captchaType: 'pow', minimumLevel: 2 })?.kind).toBe('puzzle');
    expect(choose({ captchaType: 'image', minimumLevel: 2 })?.kind).toBe('image');
    expect(choose({ minimumLevel: 2, frictionlessTypes: { puzzle: false } })?.kind).toBe('image');
    expect(choose({}, { instance: clearance(2) })?.kind).toBe('puzzle');
    expect(choose({ minimumLevel: 2 }, { demand: { type: 'restrict', captchaType: 'pow' } })?.kind).toBe('puzzle');
  });
});

describe('an access rule', () => {
  test('makes kind, difficulty and rounds harder or easier', () => {
    expect(
      choose(
        {},
        {
          demand: {
            type: 'restrict',
            captchaType: 'image',
            solvedImagesCount: 5,
            unsolvedImagesCount: 2,
            imageThreshold: 1,
          },
        },
      ),
    ).toMatchObject({
      kind: 'image',
      imageRounds: 5,
      imageUncounted: 2,
      imageThreshold: 1,
      refusal: null,
    });
    expect(choose({ captchaType: 'pow' }, { demand: { type: 'restrict', powDifficulty: 1.5 } })?.powDifficulty).toBe(
      1.5,
    );
  });

  test('can defer its refusal to verification, and the challenge does not show it', () => {
    expect(choose({}, { demand: { type: 'restrict', captchaType: 'pow', deferToVerify: true } })).toMatchObject({
      kind: 'pow',
      refusal: 'API.ACCESS_POLICY_BLOCK',
    });
  });
});

describe('the traffic filter', () => {
  const trafficFilter = {
    tor: { action: 'block' },
    vpn: { action: 'challenge', captchaType: 'image', solvedImagesCount: 4 },
    datacenter: { action: 'challenge', powDifficulty: 8 },
  };

  test('applies the rule of the first flag that an address has', () => {
    expect(choose({ trafficFilter }, { traits: traits('datacenter', 'vpn', 'tor') })?.refusal).toBe('API.TOR_BLOCKED');
    expect(choose({ trafficFilter }, { traits: traits('datacenter', 'vpn') })).toMatchObject({
      kind: 'image',
      imageRounds: 4,
    });
    expect(choose({ trafficFilter }, { traits: traits('datacenter') })).toMatchObject({
      kind: 'pow',
      powDifficulty: 8,
    });
    expect(choose({ trafficFilter }, { traits: traits('crawler') })).toMatchObject({ kind: 'pow', powDifficulty: 4 });
  });

  test('ignores the later flags when the site has no rule for the first one', () => {
    const filter = { datacenter: { action: 'block' } };
    expect(choose({ trafficFilter: filter }, { traits: traits('datacenter', 'vpn') })?.refusal).toBeNull();
    expect(choose({ trafficFilter: filter }, { traits: traits('datacenter', 'mobile') })?.refusal).toBe(
      'API.DATACENTER_BLOCKED',
    );
  });

  test('changes the puzzle and pads the response only for the addresses that it names', () => {
    const filter = {
      vpn: { action: 'challenge', captchaType: 'puzzle', puzzle: { decoyCount: 40 }, padBytes: 2048 },
      tor: { action: 'block', padBytes: 4096 },
    };
    expect(choose({ trafficFilter: filter }, { traits: traits('vpn') })).toMatchObject({
      kind: 'puzzle',
      puzzleLook: { decoyCount: 40 },
      padBytes: 2048,
    });
    expect(choose({ trafficFilter: filter }, { traits: traits('tor') })).toMatchObject({ padBytes: 4096 });
    expect(choose({ trafficFilter: filter }, { traits: traits('mobile') })).toMatchObject({
      puzzleLook: {},
      padBytes: 0,
    });
  });

  test('never makes a challenge easier than an access rule did', () => {
    const demand = { type: 'restrict' as const, captchaType: 'image' as const, powDifficulty: 9 };
    const plan = choose(
      { trafficFilter: { vpn: { action: 'challenge', captchaType: 'pow', powDifficulty: 2 } } },
      { traits: traits('vpn'), demand },
    );
    expect(plan).toMatchObject({ kind: 'image', powDifficulty: 9 });
  });

  test('uses network names and abuse scores', () => {
    const filter = {
      datacenter: { action: 'block' },
      abuser: { action: 'block' },
      datacenterNameAllowlist: ['good'],
      datacenterNameDenylist: ['bad'],
    };
    const refusal = (given: Partial<ChooseInputs['traits']>): unknown =>
      choose({ trafficFilter: filter }, { traits: { ...unknown, ...given } })?.refusal;
    expect(refusal({ categories: ['datacenter'], network: 'Good Hosting' })).toBeNull();
    expect(refusal({ categories: [], network: 'Bad Hosting' })).toBe('API.DATACENTER_BLOCKED');
    expect(refusal({ categories: ['abuser'], abuseScore: 0.4 })).toBeNull();
    expect(refusal({ categories: [], abuseScore: 0.5 })).toBe('API.ABUSER_BLOCKED');
  });
});

test('a site can refuse web views and very high scores', () => {
  expect(choose({ disallowWebView: true }, { webView: true })?.refusal).toBe('API.DISALLOWED_WEBVIEW');
  expect(choose({ autoBanScoreThreshold: 0.8 }, { score: 0.8 })?.refusal).toBe('API.BOT_SCORE_ABOVE_THRESHOLD');
  expect(choose({ autoBanScoreThreshold: 0.8 }, { score: 0.79 })?.refusal).toBeNull();
});
