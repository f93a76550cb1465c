/** Each risk detector: what makes it fire, what does not, and that a score is its parts (design 6). */
import { describe, expect, test } from 'vitest';
import { detectorBits, detectorsOf, riskDetectors } from '../../../src/contract/edge/risk-detectors.ts';
import type { RiskDetector } from '../../../src/contract/edge/risk-detectors.ts';
import { detectors } from '../../../src/risk/detectors.ts';
import type { RiskFacts } from '../../../src/risk/facts.ts';
import { riskParts, scoreRisk } from '../../../src/risk/risk-score.ts';
import { CHROME, FIREFOX, PHONE, headersOf, personFacts, telemetryOf } from './risk-facts.ts';

const firedBy = (changes: Partial<RiskFacts>): RiskDetector[] => detectorsOf(scoreRisk(personFacts(changes)).detectors);
const noHints = { uaBrands: null, uaMobile: null, uaPlatform: null };
const noMetadata = { fetchSite: null, fetchMode: null, fetchDest: null };
const still = { interacted: false, pointerMoves: 0, presses: 0, keys: 0, wheels: 0, scrolls: 0 };

describe('an ordinary visitor fires nothing', () => {
  test.each<[string, Partial<RiskFacts>]>([
    ['Chrome on a desktop', {}],
    ['Firefox, which sends no client hints', { userAgent: FIREFOX, headers: headersOf(noHints) }],
    [
      'a phone, which taps without moving',
      {
        userAgent: PHONE,
        headers: headersOf({ uaMobile: '?1', uaPlatform: '"Android"' }),
        telemetry: telemetryOf({ pointerMoves: 0, presses: 6 }),
      },
    ],
    ['Chrome that downloads PDF files', { telemetry: telemetryOf({ traits: ['no-plugins'] }) }],
    ['a hand that clicks on and on in one place', { telemetry: telemetryOf({ pointerMoves: 0, presses: 9 }) }],
    ['one click where a closed window had been', { telemetry: telemetryOf({ leaps: 1 }) }],
    ['a trained typist', { telemetry: telemetryOf({ keys: 300, typing: { gaps: 250, meanMs: 90, deviationMs: 20 } }) }],
    [
      'a few keys at one pace',
      { telemetry: telemetryOf({ keys: 7, typing: { gaps: 6, meanMs: 200, deviationMs: 3 } }) },
    ],
    [
      'a page over plain http, where browsers send less',
      { headers: headersOf({ secure: false, ...noHints, ...noMetadata }) },
    ],
    ['a visitor whose edge tells no headers', { headers: null }],
    ['a renewal behind a navigation', { headers: headersOf({ fetchMode: 'navigate', fetchDest: 'document' }) }],
    [
      'somebody who has looked for ten seconds',
      { telemetry: telemetryOf({ ...still, reports: 1, visibleMs: 10_000 }) },
    ],
    ['a session of a minute that has not reported', { telemetry: telemetryOf({ ...still, reports: 0, visibleMs: 0 }) }],
    ['a mobile network', { categories: ['mobile', 'unheard-of'] }],
    ['a few sessions of one household', { idleSessions: 4 }],
    ['an office, where many look and as many touch', { idleSessions: 300, touchedSessions: 300 }],
    ['a page with a hundred pictures', { requestsPerMinute: 101 }],
  ])('%s', (_, changes) => {
    expect(firedBy(changes)).toEqual([]);
    expect(scoreRisk(personFacts(changes)).score).toBe(0);
  });
});

const cases: [RiskDetector, string, Partial<RiskFacts>][] = [
  ['no-user-agent', 'an empty header', { userAgent: '', headers: headersOf(noHints) }],
  ['automation-user-agent', 'curl', { userAgent: 'curl/8.5.0', headers: headersOf(noHints) }],
  ['automation-user-agent', 'a name that is no browser', { userAgent: 'node', headers: headersOf(noHints) }],
  ['headless-user-agent', 'the header', { userAgent: CHROME.replace('Chrome', 'HeadlessChrome') }],
  ['headless-user-agent', 'the script’s user agent', { telemetry: telemetryOf({ traits: ['headless-agent'] }) }],
  ['no-accept-language', 'the header missing', { headers: headersOf({ acceptLanguage: false }) }],
  ['no-fetch-metadata', 'a browser’s name and none of it', { headers: headersOf(noMetadata) }],
  ['contradictory-fetch-metadata', 'the mode alone', { headers: headersOf({ fetchSite: null, fetchDest: null }) }],
  ['contradictory-fetch-metadata', 'a navigation to nowhere', { headers: headersOf({ fetchMode: 'navigate' }) }],
  ['contradictory-fetch-metadata', 'a call for a document', { headers: headersOf({ fetchDest: 'document' }) }],
  ['no-client-hints', 'Chrome without them', { headers: headersOf(noHints) }],
  ['contradictory-client-hints', 'another version', { headers: headersOf({ uaBrands: '"Chromium";v="120"' }) }],
  ['contradictory-client-hints', 'a headless brand', { headers: headersOf({ uaBrands: '"HeadlessChrome";v="153"' }) }],
  ['contradictory-client-hints', 'another system', { headers: headersOf({ uaPlatform: '"Linux"' }) }],
  ['contradictory-client-hints', 'a phone that is none', { headers: headersOf({ uaMobile: '?1' }) }],
  ['contradictory-client-hints', 'Firefox with brands', { userAgent: FIREFOX }],
  ['webdriver', 'the trait', { telemetry: telemetryOf({ traits: ['webdriver'] }) }],
  ['automation-global', 'the trait', { telemetry: telemetryOf({ traits: ['automation-global'] }) }],
  ['patched-browser', 'a hidden property', { telemetry: telemetryOf({ traits: ['patched-webdriver'] }) }],
  ['patched-browser', 'a replaced function', { telemetry: telemetryOf({ traits: ['patched-native'] }) }],
  ['patched-browser', 'other brands', { telemetry: telemetryOf({ traits: ['brands-mismatch'] }) }],
  ['headless-traits', 'no object of Chrome', { telemetry: telemetryOf({ traits: ['no-chrome-object'] }) }],
  ['headless-traits', 'no window', { telemetry: telemetryOf({ traits: ['zero-window'] }) }],
  ['cdp-traits', 'the trait', { telemetry: telemetryOf({ traits: ['cdp-pointer'] }) }],
  ['untrusted-events', 'more made than done', { telemetry: telemetryOf({ untrusted: 400 }) }],
  ['no-interaction', 'half a minute in sight', { telemetry: telemetryOf({ ...still, reports: 2, visibleMs: 30_000 }) }],
  ['no-interaction', 'three pages', { telemetry: telemetryOf({ ...still, reports: 3, visibleMs: 4000 }) }],
  ['pointer-without-path', 'clicks out of nowhere', { telemetry: telemetryOf({ leaps: 2 }) }],
  ['machine-typing', 'one pace', { telemetry: telemetryOf({ typing: { gaps: 12, meanMs: 90, deviationMs: 4 } }) }],
  ['machine-typing', 'all at once', { telemetry: telemetryOf({ typing: { gaps: 20, meanMs: 3, deviationMs: 3 } }) }],
  ['telemetry-absent', 'two minutes', { telemetry: telemetryOf({ ...still, reports: 0 }), ageMs: 120_000 }],
  ['implausible-telemetry', 'one such report', { telemetry: telemetryOf({ implausible: 1 }) }],
  ['cookie-cycling', 'the instance’s threshold', { idleSessions: 5 }],
  ['address-change', 'another network', { addressChanges: 1 }],
  ['user-agent-change', 'another name', { userAgentChanges: 1 }],
  ['burst', 'five a second for a minute', { requestsPerMinute: 300 }],
  ['category-tor', 'its category', { categories: ['tor'] }],
  ['category-abuser', 'its category', { categories: ['abuser'] }],
  ['category-proxy', 'its category', { categories: ['proxy'] }],
  ['category-vpn', 'its category', { categories: ['vpn'] }],
  ['category-datacenter', 'its category', { categories: ['datacenter'] }],
  ['category-crawler', 'its category', { categories: ['crawler'] }],
];

describe('a detector fires alone', () => {
  test.each(cases)('%s: %s', (name, _, changes) => {
    expect(firedBy(changes)).toEqual([name]);
    expect(scoreRisk(personFacts(changes)).score).toBe(detectors.find((detector) => detector.name === name)?.weight);
  });

  test('address-hopping, beside the change that it is', () => {
    expect(firedBy({ addressChanges: 3 })).toEqual(['address-change', 'address-hopping']);
  });

  test('and every one of the table is tested here', () => {
    expect(new Set([...cases.map(([name]) => name), 'address-hopping'])).toEqual(new Set(riskDetectors));
    expect(detectors.map(({ name }) => name).toSorted()).toEqual([...riskDetectors].toSorted());
  });
});

describe('a score', () => {
  const driven: Partial<RiskFacts> = {
    userAgent: CHROME.replace('Chrome', 'HeadlessChrome'),
    telemetry: telemetryOf({ traits: ['webdriver'] }),
  };

  test('is the sum of its parts', () => {
    const { score, detectors: bits } = scoreRisk(personFacts(driven));
    expect(riskParts(bits)).toEqual([
      { detector: 'headless-user-agent', weight: 0.5 },
      { detector: 'webdriver', weight: 0.5 },
    ]);
    expect(score).toBe(1);
  });

  test('is capped at 1, its parts are not', () => {
    const { score, detectors: bits } = scoreRisk(personFacts({ ...driven, categories: ['tor', 'abuser'] }));
    expect(score).toBe(1);
    expect(riskParts(bits).reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1.75);
  });

  test('travels as bits and comes back as names; bits of a newer service are passed over', () => {
    expect(detectorsOf(detectorBits(riskDetectors))).toEqual([...riskDetectors]);
    expect(detectorsOf(detectorBits(['burst']) | (1 << 30))).toEqual(['burst']);
    expect(riskDetectors.length).toBeLessThanOrEqual(31);
  });

  test('of one sign alone blocks nobody', () => {
    for (const { weight } of detectors) expect(weight).toBeLessThan(0.85);
  });
});
