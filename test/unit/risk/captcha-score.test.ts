/** The captcha score: which detectors explain it, and how solving, a session and an access rule change it. */
import { describe, expect, test } from 'vitest';
import { isWebView } from '../../../src/risk/headers/claimed-browser.ts';
import { type ScoreInputs, scoreSolving, scoreVisitor, type SolvingSigns } from '../../../src/risk/captcha-score.ts';
import { CHROME } from './session-facts.ts';
import { expectRows } from '../../support/rows.ts';

const person: ScoreInputs = {
  userAgent: CHROME,
  headers: { acceptLanguage: true, fetchMetadata: true },
  hostUnverified: false,
  webView: false,
  categories: [],
  sessionRisk: 0,
  ruleScore: 0,
};

describe('the captcha score', () => {
  test('of an ordinary browser is 0', () => {
    expect(scoreVisitor(person)).toEqual({ score: 0, detectors: [] });
  });

  test('is explained by the detectors that fired', () =>
    expectRows<[Partial<ScoreInputs>, string[], number]>(
      [
        [{ userAgent: '' }, ['no-user-agent'], 0.5],
        [{ userAgent: 'curl/8.1' }, ['automation-user-agent'], 0.5],
        [{ userAgent: 'tool' }, ['automation-user-agent'], 0.5],
        [{ userAgent: 'Mozilla/5.0 HeadlessChrome/140' }, ['headless-user-agent'], 0.5],
        [{ headers: { acceptLanguage: false, fetchMetadata: true } }, ['no-accept-language'], 0.2],
        [{ headers: { acceptLanguage: false, fetchMetadata: false } }, ['no-fetch-metadata'], 0.3],
        [{ headers: null }, [], 0],
        [{ hostUnverified: true, webView: true }, ['unverified-host', 'web-view'], 0.3],
        [{ categories: ['tor', 'vpn', 'unheard-of'] }, ['category-tor', 'category-vpn'], 0.6],
        [{ categories: ['abuser'] }, ['category-abuser'], 0.5],
        [
          { userAgent: 'curl/8.1', categories: ['tor', 'abuser'] },
          ['automation-user-agent', 'category-tor', 'category-abuser'],
          1,
        ],
        [{ ruleScore: 0.3 }, ['access-rule'], 0.3],
        [{ ruleScore: -0.3 }, ['access-rule'], 0],
        [{ sessionRisk: 0.7 }, ['session-risk'], 0.7],
      ],
      ([changes, detectors, score]) => {
        expect(scoreVisitor({ ...person, ...changes })).toEqual({ score, detectors });
      },
    ));

  test('takes the higher of what it sees and the session score, since both count the same facts', () => {
    expect(scoreVisitor({ ...person, categories: ['tor'], sessionRisk: 0.35 }).score).toBe(0.4);
    expect(scoreVisitor({ ...person, categories: ['tor'], sessionRisk: 0.9 }).score).toBe(0.9);
  });
});

describe('solving a challenge', () => {
  const ordinary: SolvingSigns = {
    moved: false,
    nativeSolver: false,
    tooSoon: false,
    mechanical: false,
    honeypot: false,
  };

  test('adds the detectors that its signs make fire', () =>
    expectRows<[Partial<SolvingSigns>, string[], number]>(
      [
        [{}, [], 0.1],
        [{ moved: true }, ['address-change'], 0.3],
        [{ nativeSolver: true }, ['native-solver'], 0.4],
        [{ tooSoon: true }, ['too-fast'], 0.4],
        [{ mechanical: true }, ['mechanical-path'], 0.3],
        [{ moved: true, honeypot: true }, ['address-change', 'honeypot'], 1],
      ],
      ([changes, detectors, score]) => {
        expect(scoreSolving({ score: 0.1, detectors: [] }, { ...ordinary, ...changes })).toEqual({ score, detectors });
      },
    ));
});

test('a web view is told by its user agent', () =>
  expectRows(
    [
      [
        'Mozilla/5.0 (Linux; Android 14; Pixel 8; wv) AppleWebKit/537.36 Version/4.0 Chrome/120.0.0.0 Mobile Safari/537.36',
        true,
      ],
      [
        'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
        true,
      ],
      [
        'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Version/17.0 Mobile/15E148 Safari/604.1',
        false,
      ],
      [CHROME, false],
    ],
    ([userAgent, expected]) => {
      expect(isWebView(userAgent)).toBe(expected);
    },
  ));
