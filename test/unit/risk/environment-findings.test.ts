/**
 * A page's report of its browser against the claim of the request: ordinary and unusual people's browsers give nothing
 * away, and disguises do.
 */
import { describe, expect, test } from 'vitest';
import { environmentSigns, familyMarks, languageFeatures } from '../../../src/contract/edge/page-report-names.ts';
import { environmentReport, type EnvironmentReport } from '../../../src/contract/edge/page-reports.ts';
import type { ClientHeaders } from '../../../src/contract/edge/edge-api.ts';
import { environmentFindings, type EnvironmentFinding } from '../../../src/risk/environment/environment-findings.ts';
import { expectRows } from '../../support/rows.ts';
import { CHROME, FIREFOX, PHONE, environmentOf, headersOf } from './session-facts.ts';

const noHints = { uaBrands: null, uaMobile: null, uaPlatform: null };
const MAC_CHROME = CHROME.replace('Windows NT 10.0; Win64; x64', 'Macintosh; Intel Mac OS X 10_15_7');
const LINUX_CHROME = CHROME.replace('Windows NT 10.0; Win64; x64', 'X11; Linux x86_64');
const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15';
const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/137.0.7151.51 Mobile/15E148 Safari/604.1';
const SURF =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/60.5 Safari/605.1.15 Surf/2.1';
const FALKON =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Falkon/22.12.1 QtWebEngine/5.15.13 Chrome/87.0.4280.144 Safari/537.36';
const WEB_VIEW =
  'Mozilla/5.0 (Linux; Android 14; Pixel 8 Build/UQ1A; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/153.0.0.0 Mobile Safari/537.36';
const CONSOLE = 'Mozilla/5.0 (PlayStation; PlayStation 5/2.26) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const bitsUpTo = (name: (typeof languageFeatures)[number]): number => 2 ** (languageFeatures.indexOf(name) + 1) - 1;

const firefox: Partial<EnvironmentReport> = {
  engine: 'gecko',
  marks: ['gecko-css', 'gecko-screen'],
  userAgent: FIREFOX,
  system: 'linux',
  hints: null,
  renderer: 'llvmpipe',
};
const safari: Partial<EnvironmentReport> = {
  engine: 'jsc',
  marks: ['webkit-css'],
  features: bitsUpTo('escape'),
  userAgent: SAFARI,
  system: 'apple',
  hints: null,
  renderer: 'metal',
};
const phone: Partial<EnvironmentReport> = {
  userAgent: PHONE,
  system: 'linux',
  hints: {
    brands: '"Chromium";v="153", "Google Chrome";v="153", "Not_A Brand";v="24"',
    mobile: true,
    platform: 'Android',
  },
  renderer: 'opengl',
};

function findings(
  userAgent: string,
  report: Partial<EnvironmentReport> = {},
  headers: Partial<ClientHeaders> = {},
): EnvironmentFinding[] {
  return environmentFindings(environmentOf(report), { userAgent, headers: headersOf(headers) });
}

describe('a person’s browser gives nothing away', () => {
  test('whatever its family and system', () =>
    expectRows<[string, string, Partial<EnvironmentReport>, Partial<ClientHeaders>]>(
      [
        ['Chrome on Windows', CHROME, {}, {}],
        [
          'whose list of brands is in another order',
          CHROME,
          {},
          { uaBrands: '"Google Chrome";v="153", "Chromium";v="153", "Not_A Brand";v="24"' },
        ],
        ['on a phone', PHONE, phone, { uaMobile: '?1', uaPlatform: '"Android"' }],
        ['in an app', WEB_VIEW, { ...phone, userAgent: WEB_VIEW, hints: null, marks: ['chromium-css'] }, noHints],
        [
          'over plain http',
          CHROME,
          { hints: null, marks: ['chrome-object', 'chromium-css'] },
          { secure: false, ...noHints },
        ],
        ['Firefox', FIREFOX, firefox, noHints],
        [
          'Firefox that resists fingerprinting, whose header names another system than its page',
          FIREFOX.replace('X11; Linux x86_64', 'Windows NT 10.0; Win64; x64'),
          { ...firefox, renderer: 'hidden' },
          noHints,
        ],
        ['Safari', SAFARI, safari, noHints],
        ['Chrome on an iPhone, which is Safari inside', IPHONE, { ...safari, userAgent: IPHONE }, noHints],
        ['WebKit on Linux', SURF, { ...safari, userAgent: SURF, system: 'linux', renderer: null }, noHints],
        [
          'a Chromium of 2020',
          FALKON,
          {
            marks: ['chrome-object', 'chromium-css'],
            features: 0,
            userAgent: FALKON,
            system: 'linux',
            hints: null,
            renderer: null,
          },
          noHints,
        ],
        ['no worker and no graphics', CHROME, { renderer: null }, {}],
        ['a browser of an unknown family', CONSOLE, { ...safari, userAgent: CONSOLE, system: 'other' }, noHints],
        ['a kiosk, or a window without bars', CHROME, { signs: ['no-bars'] }, {}],
        ['a computer without a mouse', CHROME, { signs: ['no-pointer'] }, {}],
      ],
      ([, userAgent, report, headers]) => {
        expect(findings(userAgent, report, headers)).toEqual([]);
      },
    ));

  test('whose edge reports no headers', () => {
    expect(environmentFindings(environmentOf(), { userAgent: CHROME, headers: null })).toEqual([]);
  });
});

describe('a disguise is found', () => {
  test('wherever it contradicts itself', () =>
    expectRows<[EnvironmentFinding, string, string, Partial<EnvironmentReport>, Partial<ClientHeaders>]>(
      [
        ['contradictory-engine', 'Safari’s name on Chromium', SAFARI, { userAgent: SAFARI }, noHints],
        ['contradictory-engine', 'Firefox’s name on Chromium', FIREFOX, { userAgent: FIREFOX }, noHints],
        ['contradictory-engine', 'Chrome’s name on Firefox', CHROME, { ...firefox, userAgent: CHROME }, noHints],
        [
          'contradictory-engine',
          'properties of another family',
          SAFARI,
          { ...safari, marks: ['webkit-css', 'gecko-css'] },
          noHints,
        ],
        ['contradictory-version', 'an older engine', CHROME, { features: bitsUpTo('Iterator') }, {}],
        [
          'contradictory-version',
          'a newer engine',
          CHROME.replace('153', '120'),
          { userAgent: CHROME.replace('153', '120') },
          { uaBrands: null },
        ],
        [
          'contradictory-page',
          'a page that sees another user agent',
          CHROME,
          { userAgent: CHROME.replace('153', '152') },
          {},
        ],
        ['contradictory-page', 'a page on another system', CHROME, { userAgent: LINUX_CHROME, system: 'linux' }, {}],
        [
          'contradictory-page',
          'a page without the hints of the headers',
          CHROME,
          { hints: null, marks: ['chrome-object'] },
          {},
        ],
        ['contradictory-page', 'a page with other brands', CHROME, {}, { uaBrands: '"Chromium";v="153"' }],
        ['contradictory-system', 'Windows on Linux', CHROME, { system: 'linux' }, {}],
        ['worker-differs', 'another worker', CHROME, { signs: ['worker-cores'] }, {}],
        ['worker-differs', 'another frame', CHROME, { signs: ['frame'] }, {}],
        ['contradictory-renderer', 'Windows drawn by OpenGL', CHROME, { renderer: 'opengl' }, {}],
        [
          'contradictory-renderer',
          'a Mac drawn by Direct3D',
          MAC_CHROME,
          { userAgent: MAC_CHROME, system: 'apple', hints: { ...environmentOf().hints!, platform: 'macOS' } },
          { uaPlatform: '"macOS"' },
        ],
        ['software-rendering', 'SwiftShader in a new version', CHROME, { renderer: 'swiftshader' }, {}],
        ['impossible-window', 'a window beyond the screen', CHROME, { signs: ['beyond-screen'] }, {}],
        ['impossible-window', 'a wide screen that is upright', CHROME, { signs: ['false-orientation'] }, {}],
        ['windowless-traits', 'several traits', CHROME, { signs: ['no-bars', 'no-scrollbars'] }, {}],
        ['contradictory-permission', 'two answers', CHROME, { signs: ['permission'] }, {}],
        ['replaced-natives', 'a proxied function', CHROME, { signs: ['proxied-native'] }, {}],
        ['replaced-natives', 'plugins that were made up', CHROME, { signs: ['false-plugins'] }, {}],
        [
          'implausible-environment',
          'hints without their mark',
          CHROME,
          { marks: ['chrome-object', 'chromium-css'] },
          {},
        ],
        [
          'implausible-environment',
          'an engine without anything of its family',
          SAFARI,
          { ...firefox, marks: [] },
          noHints,
        ],
        ['implausible-environment', 'a language without functions', CHROME, { features: 0 }, {}],
      ],
      ([finding, , userAgent, report, headers]) => {
        expect(findings(userAgent, report, headers)).toContain(finding);
      },
    ));

  test('a phone’s sizes say nothing about a window', () => {
    const signs = ['beyond-screen', 'no-bars', 'no-scrollbars'] as const;
    expect(findings(PHONE, { ...phone, signs: [...signs] }, { uaMobile: '?1', uaPlatform: '"Android"' })).toEqual([]);
  });
});

test('an older version may draw by software', () => {
  const old = LINUX_CHROME.replace('153', '136');
  const brands = '"Chromium";v="136"';
  const report = {
    userAgent: old,
    system: 'linux',
    features: bitsUpTo('escape'),
    hints: { brands, mobile: false, platform: 'Linux' },
    renderer: 'swiftshader',
  } as const;
  expect(findings(old, report, { uaBrands: brands, uaPlatform: '"Linux"' })).toEqual([]);
});

describe('the schema of a report refuses', () => {
  test('a value outside its bounds', () =>
    expectRows<[string, object]>(
      [
        ['a field that it does not know', { fonts: 12 }],
        ['a sign that it does not know', { signs: ['taste'] }],
        ['more signs than there are', { signs: [...environmentSigns, environmentSigns[0]] }],
        ['more marks than there are', { marks: [...familyMarks, familyMarks[0]] }],
        ['a long user agent', { userAgent: 'x'.repeat(513) }],
        ['long brands', { hints: { brands: 'x'.repeat(257), mobile: false, platform: '' } }],
        ['a bit without a function', { features: 2 ** languageFeatures.length }],
        ['half a bit', { features: 0.5 }],
      ],
      ([, changes]) => {
        expect(environmentReport.safeParse({ ...environmentOf(), ...changes }).success).toBe(false);
      },
    ));

  test('nothing of a true one', () => {
    expect(environmentReport.safeParse(environmentOf()).success).toBe(true);
  });
});
