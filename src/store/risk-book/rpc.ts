/**
 * What a `RiskBook` can be asked, and what it returns: one method is one call over RPC. Callers
 * (`client/`) and the object (`object/`) share this file and no other code of each other.
 */
import type { Neighbours } from '../../address/networks.ts';
import type { TelemetryReport } from '../../contract/edge/page-reports.ts';
import type { RiskDetector } from '../../contract/edge/risk-detectors.ts';
import type { JudgedReport } from '../../risk/environment/environment-findings.ts';
import type { Advance } from '../../risk/pace.ts';
import type { RiskScore } from '../../risk/session-score.ts';
import type { Lineage, SessionState, SessionVisitor } from '../../risk/session-state.ts';

export interface RiskBookRpc {
  /**
   * Opens a session once. `opening` is what opens it: the same again returns the session as it is, something else
   * nothing. `null` also where it was ended.
   */
  open(terms: SessionTerms, opening: string, lineage: Lineage): Promise<OpenedScore | null>;
  /** `null`: the session was ended and must not be renewed. An unknown session starts again as a new one. */
  renew(terms: SessionTerms): Promise<RenewedSession | null>;
  /** `null`: the session is unknown. An erased session takes no report. */
  report(event: SessionEvent, report: TelemetryReport): Promise<ReportedSession | 'ended' | null>;
  /** Records that one batch held this many requests of the session. `null`: it is unknown or was ended. */
  crowd(event: SessionEvent, requests: number): Promise<RescoredSession | null>;
  /** What a new session inherits when its visitor sent this session's cookie but differs from its visitor. */
  lineage(jti: string, visitor: SessionVisitor): Promise<Lineage>;
  read(jti: string): Promise<SessionState | null>;
  /** One page of the sessions that this book holds, newest first. */
  list(query: SessionQuery, nowMs: number): Promise<SessionPage>;
  /** Deletes a session and blocks its renewal until `until`; returns whether it was known. */
  end(jti: string, until: number): Promise<boolean>;
  raise(session: RaisedSession, until: number): Promise<void>;
  withdraw(jti: string, until: number): Promise<void>;
  listVersion(): Promise<number>;
  lists(nowMs: number): Promise<SessionLists>;
  /** Erases the whole book a minute after `nowMs`: its instance was deleted. */
  retire(nowMs: number): Promise<void>;
}

export interface SessionEvent {
  jti: string;
  /** Epoch milliseconds. */
  nowMs: number;
  /** Of the instance at this moment. */
  ignoredDetectors: readonly RiskDetector[];
}

export interface SessionTerms extends SessionEvent {
  visitor: SessionVisitor;
  /** The address whose sessions are counted together with this one, and the network by which they are listed. */
  neighbours: Neighbours;
  /** When the session began. In the past for one that is renewed and that this book no longer knows. */
  openedAt: number;
  /** What the page reported when it opened the session. */
  environment: JudgedReport | null;
  expiresAt: number;
  keptUntil: number;
  /** The window of its last piece of work; absent: there is none. */
  worked?: number;
  cycling: { threshold: number; windowSeconds: number };
}

/** A place in the order of a list: newest first, then by falling id. */
export interface SessionPlace {
  /** The moment that the list is ordered by. Epoch milliseconds. */
  at: number;
  jti: string;
}

/** A session and its end. The end is that of its first opening. */
export interface OpenedScore extends RiskScore {
  expiresAt: number;
  /** The window of the session's last advance. An opening that is sent again gets this one, and no second. */
  advanced: number;
}

export interface SessionQuery {
  minRisk: number;
  /** Last event at this time or later. */
  since: number;
  /** Only sessions that were opened in the network of this address and used it. */
  ip: string | null;
  before: SessionPlace | null;
  limit: number;
  /** Rows that may be read for one page. */
  examinedMax: number;
}

export interface ListedSession extends SessionPlace {
  state: Omit<SessionState, 'history'>;
}

export interface SessionPage {
  sessions: ListedSession[];
  /** Where the next page starts; `null`: there is none. */
  next: SessionPlace | null;
}

/** A score and the one before it. */
export interface RescoredSession extends RiskScore {
  before: RiskScore;
}

export interface RenewedSession extends RescoredSession {
  advance: Advance;
}

export interface ReportedSession extends RescoredSession {
  /** No page can have made the report. It raised the score and counts for nothing else. */
  isImplausible: boolean;
  /** Of the session, with this one. */
  reports: number;
}

export interface RaisedSession {
  jti: string;
  score: number;
  /** Bits, one per detector. */
  detectors: number;
}

export interface SessionLists {
  version: number;
  raised: RaisedSession[];
  withdrawn: string[];
}
