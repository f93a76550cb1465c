/**
 * What the detectors of a session look at: plain facts, as the service knows them at one moment. The edge saw the headers
 * and the network, the pages reported the telemetry, and the rest is counted.
 */
import type { ClientHeaders } from '../contract/edge/edge-api.ts';
import type { RiskDetector } from '../contract/edge/risk-detectors.ts';
import type { HandCounts } from '../contract/edge/page-reports.ts';
import type { TelemetryTrait } from '../contract/edge/page-report-names.ts';
import type { EnvironmentFinding } from './environment/environment-findings.ts';

export interface TypingFacts {
  gaps: number;
  meanMs: number;
  deviationMs: number;
}

/** The reports of one session together. Of counts the highest is kept, because each page counts from its own start. */
export interface TelemetryFacts {
  reports: number;
  /** The longest time that one page had been visible when it reported. */
  visibleMs: number;
  interacted: boolean;
  /** Reported input after the session had lived for some seconds: it counts as a person's beside sessions without any. */
  touched: boolean;
  pointerMoves: number;
  presses: number;
  leaps: number;
  keys: number;
  wheels: number;
  scrolls: number;
  untrusted: number;
  /** Of the page with the most pauses between keys. */
  typing: TypingFacts;
  traits: readonly TelemetryTrait[];
  /** A page showed the marks of an assistant. Absent in the state of a session of an older release. */
  isAgent?: boolean;
  /** Sums of what pages reported. Absent in the state of a session of an older release. */
  hands?: HandCounts;
  /** Number of reports with signs of a program in `hands`. */
  handless?: number;
  /** Number of reports that no page can have made. */
  implausible: number;
}

/** What is kept of a page's report of its browser. */
export interface EnvironmentFacts {
  traits: readonly TelemetryTrait[];
  findings: readonly EnvironmentFinding[];
}

/** Only the newest sessions of an address are counted. */
export const OPENED_COUNTED_MAX = 1000;

/** Sessions that were opened within the instance's window before this one, by whether they had input. */
export interface OpenedBefore {
  /** By the same IPv4 address or /64. With input: people behind one address. */
  idleSessions: number;
  touchedSessions: number;
}

export interface RiskFacts extends OpenedBefore {
  userAgent: string;
  /** `null` when the edge does not report them. */
  headers: ClientHeaders | null;
  /** What the page found out about its browser. `null` when the session was opened without a report. */
  environment: EnvironmentFacts | null;
  categories: readonly string[];
  telemetry: TelemetryFacts;
  /** Since the session was opened. */
  ageMs: number;
  /** From this number of idle sessions on they are suspicious: `cookieCycling.threshold` of the instance. */
  cyclingThreshold: number;
  /** How often the cookie came from another network, or with another user agent. */
  addressChanges: number;
  userAgentChanges: number;
  /** The most requests in one minute. Only sessions with many requests in one batch of verdicts are counted. */
  requestsPerMinute: number;
  /** Detectors that the instance's operator switched off: `ignoredDetectors` of the instance. */
  ignoredDetectors: readonly RiskDetector[];
}
