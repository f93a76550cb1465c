/**
 * What the detectors look at: plain facts about one session, as the service knows them at one moment. The
 * edge saw the headers and the network, the page reported the telemetry, the rest is counted.
 */
import type { ClientHeaders } from '../contract/edge/edge-api.ts';
import type { TelemetryTrait } from '../contract/edge/telemetry.ts';

export interface TypingFacts {
  gaps: number;
  meanMs: number;
  deviationMs: number;
}

/** Reports of one session taken together; of counts the highest, since each report counts from its page's start. */
export interface TelemetryFacts {
  reports: number;
  /** The longest that one page had been in sight when it reported. */
  visibleMs: number;
  interacted: boolean;
  pointerMoves: number;
  presses: number;
  leaps: number;
  keys: number;
  wheels: number;
  scrolls: number;
  untrusted: number;
  /** Of the page with most times between keys. */
  typing: TypingFacts;
  traits: readonly TelemetryTrait[];
  /** Reports that no page can have made. */
  implausible: number;
}

export interface RiskFacts {
  userAgent: string;
  /** `null` where the edge does not tell them. */
  headers: ClientHeaders | null;
  categories: readonly string[];
  telemetry: TelemetryFacts;
  /** Since the session was opened. */
  ageMs: number;
  /** Sessions that this network opened within the instance's window and left without any interaction. */
  idleSessions: number;
  /** Those of the same window that somebody touched: people behind one address. */
  touchedSessions: number;
  /** How many of them are suspicious: the instance's `cookieCycling.threshold`. */
  cyclingThreshold: number;
  /** How often this browser came back from another network, or with another user agent. */
  addressChanges: number;
  userAgentChanges: number;
  /** Most requests counted in one minute; only sessions with many in one batch are counted. */
  requestsPerMinute: number;
}
