/** The session score: what makes each detector fire, what does not, and that a score is the sum of its parts. */
import { describe, expect, test } from 'vitest';
import {
  detectorBits,
  detectorsOf,
  type RiskDetector,
  riskDetectors,
} from '../../../src/contract/edge/risk-detectors.ts';
import { sessionWeight } from '../../../src/risk/detectors.ts';
import type { HandCounts } from '../../../src/contract/edge/page-reports.ts';
import type { EnvironmentFinding } from '../../../src/risk/environment/environment-findings.ts';
import type { EnvironmentFacts, RiskFacts } from '../../../src/risk/facts.ts';
import { requestConditions, sharedConditions } from '../../../src/risk/headers/request-risk.ts';
import { riskParts, scoreRisk } from '../../../src/risk/session-score.ts';
import { expectRows } from '../../support/rows.ts';
import { CHROME, FIREFOX, PHONE, headersOf, personFacts, telemetryOf } from './session-facts.ts';

const firedBy = (changes: Partial<RiskFacts>): RiskDetector[] => detectorsOf(scoreRisk(personFacts(changes)).detectors);
const noHints = { uaBrands: null, uaMobile: null, uaPlatform: null };
const noMetadata = { fetchSite: null, fetchMode: null, fetchDest: null };
const centred = (presses: number): HandCounts => ({
  presses,
  centred: presses,
  strokes: 0,
  straight: 0,
  entries: 0,
  keyless: 0,
});
const found = (...findings: EnvironmentFinding[]): EnvironmentFacts => ({ traits: [], findings });
const still = { interacted: false, pointerMoves: 0, presses: 0, keys: 0, wheels: 0, scrolls: 0 };

test('an ordinary visitor fires nothing', () =>
  expectRows<[string, Partial<RiskFacts>]>(
    [
      ['Chrome on a desktop', {}],
      ['Firefox, which sends no client hints', { userAgent: FIREFOX, headers: headersOf(noHints) }],
      [
        'a phone, which taps without pointer moves',
        {
          userAgent: PHONE,
          headers: headersOf({ uaMobile: '?1', uaPlatform: '"Android"' }),
          telemetry: telemetryOf({ pointerMoves: 0, presses: 6 }),
        },
      ],
      ['Chrome that downloads PDF files', { telemetry: telemetryOf({ traits: ['no-plugins'] }) }],
      ['repeated clicks in one place', { telemetry: telemetryOf({ pointerMoves: 0, presses: 9 }) }],
      ['one click where a window was just closed', { telemetry: telemetryOf({ leaps: 1 }) }],
      [
        'a trained typist',
        { telemetry: telemetryOf({ keys: 300, typing: { gaps: 250, meanMs: 90, deviationMs: 20 } }) },
      ],
      [
        'a few keys at an even pace',
        { telemetry: telemetryOf({ keys: 7, typing: { gaps: 6, meanMs: 200, deviationMs: 3 } }) },
      ],
      [
        'a page over plain http, where browsers send fewer headers',
        { headers: headersOf({ secure: false, ...noHints, ...noMetadata }) },
      ],
      ['a visitor whose edge reports no headers', { headers: null }],
      ['a renewal that follows a navigation', { headers: headersOf({ fetchMode: 'navigate', fetchDest: 'document' }) }],
      [
        'a page visible for ten seconds without input',
        { telemetry: telemetryOf({ ...still, reports: 1, visibleMs: 10_000 }) },
      ],
      [
        'a session that is one minute old and has not reported',
        { telemetry: telemetryOf({ ...still, reports: 0, visibleMs: 0 }) },
      ],
      ['a page that a service worker asks for', { headers: headersOf({ fetchMode: 'navigate' }) }],
      ['a category without a detector', { categories: ['mobile', 'unheard-of'] }],
      ['a few sessions of one household', { idleSessions: 4 }],
      ['an office where half of the sessions have no input', { idleSessions: 300, touchedSessions: 300 }],
      ['a page with a hundred pictures', { requestsPerMinute: 101 }],
    ],
    ([, changes]) => {
      expect(firedBy(changes)).toEqual([]);
      expect(scoreRisk(personFacts(changes)).score).toBe(0);
    },
  ));

const cases: [RiskDetector, string, Partial<RiskFacts>][] = [
  ['no-user-agent', 'an empty header', { userAgent: '', headers: headersOf(noHints) }],
  ['automation-user-agent', 'curl', { userAgent: 'curl/8.5.0', headers: headersOf(noHints) }],
  [
    'automation-user-agent',
    'a name that is not in a browser’s form',
    { userAgent: 'node', headers: headersOf(noHints) },
  ],
  ['headless-user-agent', 'the User-Agent header', { userAgent: CHROME.replace('Chrome', 'HeadlessChrome') }],
  [
    'headless-user-agent',
    'the user agent that the page reports',
    { telemetry: telemetryOf({ traits: ['headless-agent'] }) },
  ],
  ['no-accept-language', 'the header is missing', { headers: headersOf({ acceptLanguage: false }) }],
  ['no-fetch-metadata', 'a browser’s user agent without any of the headers', { headers: headersOf(noMetadata) }],
  ['contradictory-fetch-metadata', 'only the mode', { headers: headersOf({ fetchSite: null, fetchDest: null }) }],
  [
    'contradictory-fetch-metadata',
    'a navigation to an image',
    { headers: headersOf({ fetchMode: 'navigate', fetchDest: 'image' }) },
  ],
  ['contradictory-fetch-metadata', 'a script’s call for a document', { headers: headersOf({ fetchDest: 'document' }) }],
  ['no-client-hints', 'Chrome without them', { headers: headersOf(noHints) }],
  ['contradictory-client-hints', 'another version', { headers: headersOf({ uaBrands: '"Chromium";v="120"' }) }],
  ['contradictory-client-hints', 'a headless brand', { headers: headersOf({ uaBrands: '"HeadlessChrome";v="153"' }) }],
  ['contradictory-client-hints', 'another system', { headers: headersOf({ uaPlatform: '"Linux"' }) }],
  [
    'contradictory-client-hints',
    'a phone’s hint with a desktop’s user agent',
    { headers: headersOf({ uaMobile: '?1' }) },
  ],
  ['contradictory-client-hints', 'Firefox with brands', { userAgent: FIREFOX }],
  ['webdriver', 'the trait is reported', { telemetry: telemetryOf({ traits: ['webdriver'] }) }],
  ['automation-global', 'the trait is reported', { telemetry: telemetryOf({ traits: ['automation-global'] }) }],
  ['patched-browser', 'a hidden property', { telemetry: telemetryOf({ traits: ['patched-webdriver'] }) }],
  [
    'patched-browser',
    'other brands in the page than in the header',
    { telemetry: telemetryOf({ traits: ['brands-mismatch'] }) },
  ],
  ['headless-traits', 'no window.chrome', { telemetry: telemetryOf({ traits: ['no-chrome-object'] }) }],
  ['headless-traits', 'a window without size', { telemetry: telemetryOf({ traits: ['zero-window'] }) }],
  ['cdp-traits', 'the trait is reported', { telemetry: telemetryOf({ traits: ['cdp-pointer'] }) }],
  ['patched-browser', 'built-in objects that were replaced', { environment: found('replaced-natives') }],
  ['patched-browser', 'a page that sees another browser than the edge', { environment: found('contradictory-page') }],
  ['headless-traits', 'several traits of a missing window', { environment: found('windowless-traits') }],
  ['debugger-attached', 'when the session opens', { environment: { traits: ['debugger'], findings: [] } }],
  ['debugger-attached', 'later', { telemetry: telemetryOf({ traits: ['debugger', 'developer-tools'] }) }],
  ['developer-tools', 'beside the page', { telemetry: telemetryOf({ traits: ['developer-tools'] }) }],
  ['instant-presses', 'the trait is reported', { telemetry: telemetryOf({ traits: ['instant-presses'] }) }],
  ['suspected-agent', 'a page has the marks of an assistant', { telemetry: telemetryOf({ isAgent: true }) }],
  ['no-page-load', 'found', { environment: found('no-page-load') }],
  ['wrong-answers', 'found', { environment: found('wrong-answers') }],
  ['no-hands', 'three presses at exact centres', { telemetry: telemetryOf({ hands: centred(3), handless: 1 }) }],
  ['contradictory-engine', 'found', { environment: found('contradictory-engine') }],
  ['contradictory-version', 'found', { environment: found('contradictory-version') }],
  ['contradictory-system', 'found', { environment: found('contradictory-system') }],
  ['worker-differs', 'found', { environment: found('worker-differs') }],
  ['contradictory-renderer', 'found', { environment: found('contradictory-renderer') }],
  ['software-rendering', 'found', { environment: found('software-rendering') }],
  ['impossible-window', 'found', { environment: found('impossible-window') }],
  ['contradictory-permission', 'found', { environment: found('contradictory-permission') }],
  ['implausible-environment', 'found', { environment: found('implausible-environment') }],
  [
    'untrusted-events',
    'more events from scripts than from the visitor',
    { telemetry: telemetryOf({ untrusted: 400 }) },
  ],
  [
    'no-interaction',
    'visible for half a minute',
    { telemetry: telemetryOf({ ...still, reports: 2, visibleMs: 30_000 }) },
  ],
  ['no-interaction', 'three reports', { telemetry: telemetryOf({ ...still, reports: 3, visibleMs: 4000 }) }],
  ['pointer-without-path', 'two clicks without a path to them', { telemetry: telemetryOf({ leaps: 2 }) }],
  ['machine-typing', 'an even pace', { telemetry: telemetryOf({ typing: { gaps: 12, meanMs: 90, deviationMs: 4 } }) }],
  [
    'machine-typing',
    'all keys at once',
    { telemetry: telemetryOf({ typing: { gaps: 20, meanMs: 3, deviationMs: 3 } }) },
  ],
  [
    'telemetry-absent',
    'two minutes without a report',
    { telemetry: telemetryOf({ ...still, reports: 0 }), ageMs: 120_000 },
  ],
  ['implausible-telemetry', 'one implausible report', { telemetry: telemetryOf({ implausible: 1 }) }],
  ['cookie-cycling', 'the threshold of the instance', { idleSessions: 5 }],
  ['address-change', 'another network', { addressChanges: 1 }],
  ['user-agent-change', 'another user agent', { userAgentChanges: 1 }],
  ['burst', 'five requests a second for a minute', { requestsPerMinute: 300 }],
  ['category-tor', 'the address is in the category', { categories: ['tor'] }],
  ['category-abuser', 'the address is in the category', { categories: ['abuser'] }],
  ['category-proxy', 'the address is in the category', { categories: ['proxy'] }],
  ['category-vpn', 'the address is in the category', { categories: ['vpn'] }],
  ['category-datacenter', 'the address is in the category', { categories: ['datacenter'] }],
  ['category-crawler', 'the address is in the category', { categories: ['crawler'] }],
];

describe('one detector fires alone', () => {
  test('on its own signs, with its own weight', () =>
    expectRows(cases, ([name, , changes]) => {
      expect(firedBy(changes)).toEqual([name]);
      expect(scoreRisk(personFacts(changes)).score).toBe(sessionWeight(name));
    }));

  test('an extension that disguises the page and not its workers is one sign', () => {
    const environment = { traits: [], findings: ['replaced-natives', 'worker-differs'] as const };
    expect(scoreRisk(personFacts({ environment }))).toMatchObject({ score: 0.4 });
  });

  test('no-hands-throughout fires together with no-hands, and makes a suspected agent', () => {
    const fired = firedBy({ telemetry: telemetryOf({ hands: centred(8), handless: 2 }) });
    expect(fired).toEqual(['suspected-agent', 'no-hands', 'no-hands-throughout']);
  });

  test('address-hopping fires together with address-change', () => {
    expect(firedBy({ addressChanges: 3 })).toEqual(['address-change', 'address-hopping']);
  });

  test('every detector of a session has a case here', () => {
    const ofRequests = Object.keys(requestConditions).filter((name) => !(name in sharedConditions));
    const named = [...cases.map(([name]) => name), 'address-hopping', 'no-hands-throughout', ...ofRequests];
    expect(new Set(named)).toEqual(new Set(riskDetectors));
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

  test('leaves out what the instance ignores, and still says that it fired', () => {
    const risk = scoreRisk(personFacts({ ...driven, ignoredDetectors: ['webdriver', 'burst'] }));
    expect(risk.score).toBe(sessionWeight('headless-user-agent'));
    expect(detectorsOf(risk.detectors)).toEqual(['headless-user-agent']);
    expect(detectorsOf(risk.ignored)).toEqual(['webdriver']);
  });

  test('is capped at 1 while its parts are not', () => {
    const { score, detectors: bits } = scoreRisk(personFacts({ ...driven, categories: ['tor', 'abuser'] }));
    expect(score).toBe(1);
    expect(riskParts(bits).reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1.75);
  });

  test('travels as bits and comes back as names, without the bits of a newer service', () => {
    expect(detectorsOf(detectorBits(riskDetectors))).toEqual([...riskDetectors]);
    expect(detectorsOf(detectorBits(['burst']) + 2 ** 52)).toEqual(['burst']);
  });
});
