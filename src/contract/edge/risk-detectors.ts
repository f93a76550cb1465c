/**
 * Names of the risk detectors of a session, and how a set of them travels: as bits of one number, in the session JWT and
 * in the edge config. The cookie stays small and does not tell its holder which detectors fired. Weights and conditions
 * are in `src/risk`. The order is the wire format: append only, at most `DETECTOR_SET_MAX` names.
 */

export const riskDetectors = [
  'no-user-agent',
  'automation-user-agent',
  'headless-user-agent',
  'no-accept-language',
  'no-fetch-metadata',
  'contradictory-fetch-metadata',
  'no-client-hints',
  'contradictory-client-hints',
  'webdriver',
  'automation-global',
  'patched-browser',
  'headless-traits',
  'cdp-traits',
  'untrusted-events',
  'no-interaction',
  'pointer-without-path',
  'telemetry-absent',
  'implausible-telemetry',
  'cookie-cycling',
  'address-change',
  'address-hopping',
  'user-agent-change',
  'burst',
  'category-tor',
  'category-abuser',
  'category-proxy',
  'category-vpn',
  'category-datacenter',
  'category-crawler',
  'machine-typing',
  'no-html-accept',
  'no-compression',
  'no-upgrade-request',
  'contradictory-tls',
  'contradictory-engine',
  'contradictory-version',
  'contradictory-system',
  'worker-differs',
  'contradictory-renderer',
  'software-rendering',
  'impossible-window',
  'contradictory-permission',
  'implausible-environment',
  'debugger-attached',
  'developer-tools',
  'instant-presses',
  'suspected-agent',
  'wrong-answers',
  'no-page-load',
  'no-hands',
  'no-hands-throughout',
] as const;
export type RiskDetector = (typeof riskDetectors)[number];

/** The event after which a score was computed again. */
export const riskCauses = ['opened', 'renewed', 'telemetry', 'burst'] as const;
export type RiskCause = (typeof riskCauses)[number];

/** A threshold of 1 is never reached, not even by a score of 1: the score is shown and decides nothing. */
export const RISK_NEVER = 1;

export function detectorBits(names: readonly RiskDetector[]): number {
  return detectorSet(names.map((name) => riskDetectors.indexOf(name)));
}

/** Ignores bits that a newer service has added. */
export function detectorsOf(bits: number): RiskDetector[] {
  return riskDetectors.filter((_, place) => hasDetector(bits, place));
}

/**
 * How many names fit: the detector at place `n` is the bit of value `2^n`, and JSON and SQLite keep whole numbers of 53 bits
 * exactly. JavaScript's operators for 32 bits do not work on them.
 */
export const DETECTOR_SET_MAX = 53;

export function hasDetector(bits: number, place: number): boolean {
  return Math.floor(bits / 2 ** place) % 2 === 1;
}

export function detectorSet(places: readonly number[]): number {
  return [...new Set(places)].reduce((bits, place) => bits + 2 ** place, 0);
}
