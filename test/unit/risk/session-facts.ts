/** A person in an ordinary browser, as the risk engine sees one; tests change what they are about. */
import type { ClientHeaders, EdgeVisitor } from '../../../src/contract/edge/edge-api.ts';
import type { EnvironmentReport, TelemetryReport } from '../../../src/contract/edge/page-reports.ts';
import type { RiskFacts, TelemetryFacts } from '../../../src/risk/facts.ts';
import type { SessionVisitor } from '../../../src/risk/session-state.ts';
import { PERSONS_BROWSER } from '../../support/session.ts';

export const CHROME = PERSONS_BROWSER.userAgent;
export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0';
export const PHONE =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Mobile Safari/537.36';

export const headersOf = (changes: Partial<ClientHeaders> = {}): ClientHeaders => ({
  secure: true,
  acceptLanguage: true,
  fetchSite: 'same-origin',
  fetchMode: 'cors',
  fetchDest: 'empty',
  uaBrands: '"Chromium";v="153", "Not_A Brand";v="24", "Google Chrome";v="153"',
  uaMobile: '?0',
  uaPlatform: '"Windows"',
  ...changes,
});

/** What an edge sends about a visitor who opens a session. */
export const edgeVisitorAt = (ip: string): EdgeVisitor => ({
  ip,
  userAgent: CHROME,
  asn: 64_496,
  country: 'DE',
  ja4: null,
  ipCategories: [],
  requestId: 'r1',
  host: 'shop.example.org',
  headers: headersOf(),
});

export const telemetryOf = (changes: Partial<TelemetryFacts> = {}): TelemetryFacts => ({
  reports: 2,
  visibleMs: 20_000,
  interacted: true,
  touched: true,
  pointerMoves: 180,
  presses: 3,
  leaps: 0,
  keys: 12,
  wheels: 20,
  scrolls: 40,
  untrusted: 0,
  typing: { gaps: 10, meanMs: 160, deviationMs: 70 },
  traits: [],
  implausible: 0,
  ...changes,
});

export const environmentOf = (changes: Partial<EnvironmentReport> = {}): EnvironmentReport => ({
  ...PERSONS_BROWSER,
  ...changes,
});

export const personFacts = (changes: Partial<RiskFacts> = {}): RiskFacts => ({
  userAgent: CHROME,
  headers: headersOf(),
  environment: { traits: [], findings: [] },
  categories: [],
  telemetry: telemetryOf(),
  ageMs: 60_000,
  idleSessions: 0,
  touchedSessions: 0,
  cyclingThreshold: 5,
  addressChanges: 0,
  userAgentChanges: 0,
  requestsPerMinute: 0,
  ignoredDetectors: [],
  ...changes,
});

export const visitorOf = (changes: Partial<SessionVisitor> = {}): SessionVisitor => ({
  userAgent: CHROME,
  ip: '192.0.2.7',
  network: '192.0.2.0/24',
  categories: [],
  headers: headersOf(),
  ...changes,
});

export const reportOf = (changes: Partial<TelemetryReport> = {}): TelemetryReport => ({
  v: 1,
  elapsedMs: 4000,
  visibleMs: 4000,
  firstInteractionMs: 800,
  pointerMoves: 60,
  presses: 1,
  touches: 0,
  leaps: 0,
  keys: 0,
  wheels: 0,
  scrolls: 5,
  untrusted: 0,
  keyGaps: 0,
  keyGapMeanMs: 0,
  keyGapDeviationMs: 0,
  traits: [],
  ...changes,
});
