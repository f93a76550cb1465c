/**
 * Names of the risk detectors (design 6), and how a set of them travels: as bits of one number, in the
 * session JWT and in the edge config, so that a cookie stays small and does not spell out to its
 * holder what gave him away. The order is the wire: append only, at most 31.
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
] as const;
export type RiskDetector = (typeof riskDetectors)[number];

/** What made a score be computed anew. */
export const riskCauses = ['opened', 'renewed', 'telemetry', 'burst'] as const;
export type RiskCause = (typeof riskCauses)[number];

/** A threshold of 1 is never reached, not even by a score that is capped there: the score is shown only. */
export const RISK_NEVER = 1;

export function detectorBits(names: readonly RiskDetector[]): number {
  return names.reduce((bits, name) => bits | (1 << riskDetectors.indexOf(name)), 0);
}

/** Bits of a newer service than this are passed over. */
export function detectorsOf(bits: number): RiskDetector[] {
  return riskDetectors.filter((_, index) => (bits & (1 << index)) !== 0);
}
