/** What a request shows joins what is known of its session, by the names and weights of the config. */
import { describe, expect, test } from 'vitest';
import { detectorBits, riskDetectors } from '../../../src/contract/edge/risk-detectors.ts';
import { compileRequestRisk } from '../../../src/risk/headers/request-risk.ts';
import { sessionWeight } from '../../../src/risk/detectors.ts';
import { claimedBrowser } from '../../../src/risk/headers/claimed-browser.ts';

const requestRisk = compileRequestRisk(riskDetectors, riskDetectors.map(sessionWeight));
const facts = (userAgent: string, categories: string[] = []) => ({
  userAgent,
  claim: claimedBrowser(userAgent),
  headers: null,
  categories,
  ja4: null,
});
const quiet = facts('Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0');
const tool = facts('curl/8.5.0', ['vpn']);

describe('the risk of a request', () => {
  test('without a session is the sum of what it shows', () => {
    expect(requestRisk(quiet, null)).toEqual({ score: 0, detectors: 0 });
    expect(requestRisk(tool, null)).toEqual({
      score: 0.65,
      detectors: detectorBits(['automation-user-agent', 'category-vpn']),
    });
  });

  test('is added to the session’s, and a sign of both counts once', () => {
    const session = { score: 0.25, detectors: detectorBits(['category-vpn', 'no-interaction']) };
    expect(requestRisk(quiet, session)).toBe(session);
    expect(requestRisk(tool, session)).toEqual({
      score: 0.75,
      detectors: detectorBits(['category-vpn', 'no-interaction', 'automation-user-agent']),
    });
  });

  test('is 1 at most', () => {
    expect(requestRisk(tool, { score: 0.9, detectors: detectorBits(['webdriver']) })?.score).toBe(1);
  });

  test('is unknown without weights, and leaves out a detector of weight 0 and names it does not know', () => {
    expect(compileRequestRisk(riskDetectors, [])(tool, null)).toBeNull();
    expect(
      compileRequestRisk(['a-newer-one', 'automation-user-agent', 'category-vpn'], [0.5, 0, 0.15])(tool, null),
    ).toEqual({ score: 0.15, detectors: 4 });
  });
});
