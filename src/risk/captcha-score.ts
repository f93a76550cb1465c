/**
 * The risk score of a visitor who asks for a challenge: the sum of named detectors, capped at 1, so
 * that a score can always be explained (design 6). Only facts the service sees for itself count; a
 * page cannot lower its score by what it says.
 */

/** Weights: any one strong sign passes the default threshold of 0.5, two weak ones do together. */
const weights = {
  'no-user-agent': 0.5,
  'automation-user-agent': 0.6,
  'no-accept-language': 0.25,
  'no-fetch-metadata': 0.3,
  'unverified-host': 0.2,
  'web-view': 0.1,
  'category-tor': 0.4,
  'category-abuser': 0.5,
  'category-proxy': 0.3,
  'category-vpn': 0.2,
  'category-datacenter': 0.3,
  'category-crawler': 0.5,
} as const;
export type Detector = keyof typeof weights;

export interface ScoreInputs {
  userAgent: string;
  /** `null` when the request came through an edge, which does not pass these headers on. */
  headers: { acceptLanguage: boolean; fetchMetadata: boolean } | null;
  /** The page's host name came from its own word, not from an `Origin` header or an edge. */
  hostUnverified: boolean;
  webView: boolean;
  categories: readonly string[];
  /** Risk of the visitor's Protect session, or 0. */
  sessionRisk: number;
  /** `frictionlessScore` of the access rule that matched, or 0. */
  ruleScore: number;
}

const AUTOMATION =
  /headlesschrome|phantomjs|puppeteer|playwright|selenium|webdriver|python-requests|python-urllib|aiohttp|httpx|curl\/|wget\/|go-http-client|okhttp|libwww|scrapy|java\/|node-fetch|undici|axios/i;
/** Browsers that have sent `Sec-Fetch-*` for years; without it the name is borrowed. */
const SENDS_FETCH_METADATA =
  /(?:Chrome\/(?:9\d|1\d\d)|Firefox\/(?:9\d|1\d\d)|Version\/(?:1[7-9]|[2-9]\d)[\d.]* (?:Mobile\/\S+ )?Safari)/;

export function scoreVisitor(inputs: ScoreInputs): { score: number; detectors: string[] } {
  const fired: Detector[] = [];
  if (inputs.userAgent === '') fired.push('no-user-agent');
  if (isAutomationAgent(inputs.userAgent)) fired.push('automation-user-agent');
  if (inputs.headers !== null) {
    if (!inputs.headers.acceptLanguage) fired.push('no-accept-language');
    if (!inputs.headers.fetchMetadata && sendsFetchMetadata(inputs.userAgent)) fired.push('no-fetch-metadata');
  }
  if (inputs.hostUnverified) fired.push('unverified-host');
  if (inputs.webView) fired.push('web-view');
  for (const category of inputs.categories) {
    const name = `category-${category}`;
    if (isDetector(name)) fired.push(name);
  }
  const seen = fired.reduce((total, name) => total + weights[name], 0);
  // The session's detectors know these facts too: the higher of both, lest one fact count twice.
  const sum = Math.max(seen, inputs.sessionRisk) + inputs.ruleScore;
  const detectors: string[] = [...fired];
  if (inputs.sessionRisk > 0) detectors.push('session-risk');
  if (inputs.ruleScore !== 0) detectors.push('access-rule');
  return { score: Math.round(Math.min(1, Math.max(0, sum)) * 100) / 100, detectors };
}

/** Android's `; wv`, iOS WebKit without Safari's own token, and the well-known in-app browsers. */
export function isWebView(userAgent: string): boolean {
  if (/;\s*wv\)/.test(userAgent) || /\b(?:FBAN|FBAV|Instagram|Line\/|MicroMessenger)/.test(userAgent)) return true;
  return /iPhone|iPad/.test(userAgent) && /AppleWebKit/.test(userAgent) && !/Safari\//.test(userAgent);
}

/** A tool that names itself in the user agent. */
export function isAutomationAgent(userAgent: string): boolean {
  return AUTOMATION.test(userAgent);
}

/** A browser, by its own word, that sends `Sec-Fetch-*` to trustworthy addresses. */
export function sendsFetchMetadata(userAgent: string): boolean {
  return SENDS_FETCH_METADATA.test(userAgent);
}

function isDetector(name: string): name is Detector {
  return Object.hasOwn(weights, name);
}
