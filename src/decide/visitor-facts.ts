/** What is known of a visitor, as far as a verdict depends on it. The edge reads it from a request, a replay from a record. */
import type { Proof } from '../captcha/plan/demand.ts';
import type { IpCategory, SessionStatus } from '../contract/vocabulary.ts';
import type { MatchSignals } from '../rules/types.ts';

export interface SignalFacts extends MatchSignals {
  ipCategories: readonly IpCategory[];
  /** The operator's proxy sent something that is not one address, so rules for addresses cannot be matched. */
  isAddressUnread: boolean;
}

export interface VisitorSession {
  status: Extract<SessionStatus, 'active' | 'none' | 'invalid-session' | 'session-not-found' | 'off'>;
  riskScore: number | null;
}

/** A challenge that the visitor solved before. */
export interface ClearanceFacts extends Proof {
  level: number;
  /** A rule asked this visitor for less than the site does. */
  eased: boolean;
}

/** A clearance that a visitor shows. */
export interface ShownClearance extends ClearanceFacts {
  /** Its `clearanceSeconds` are over. Until its day is over too, it lifts only what a visitor without a session is asked for. */
  isAged: boolean;
}
