/**
 * The state of one session, and how each event changes it: it is opened or renewed, a page reports, or many requests
 * come at once. Pure: state and event in, new state out, with its score computed again. `store/risk-book` keeps the
 * state and decides nothing.
 */
import type { ClientHeaders } from '../contract/edge/edge-api.ts';
import type { HandCounts, TelemetryReport } from '../contract/edge/page-reports.ts';
import type { RiskCause, RiskDetector } from '../contract/edge/risk-detectors.ts';
import { environmentFindings, type JudgedReport } from './environment/environment-findings.ts';
import type { EnvironmentFacts, OpenedBefore, RiskFacts, TelemetryFacts, TypingFacts } from './facts.ts';
import { addHands, areImpossible, handlessActions } from './hands.ts';
import { type Advance, advanceAt, paceWindow } from './pace.ts';
import { scoreRisk, type ExplainedScore } from './session-score.ts';

/** The visitor of a session call, as the edge reports them. */
export interface SessionVisitor {
  userAgent: string;
  ip: string | null;
  /** `addressPrefix` of the address. */
  network: string;
  categories: readonly string[];
  headers: ClientHeaders | null;
}

/** A score with the time and the event that it was computed at. */
export interface ScoredAt extends ExplainedScore {
  at: number;
  cause: RiskCause;
}

export interface SessionState extends ExplainedScore, OpenedBefore {
  /** Epoch milliseconds, like every time in here. */
  openedAt: number;
  expiresAt: number;
  updatedAt: number;
  userAgent: string;
  network: string;
  /** Newest last. */
  addresses: string[];
  categories: string[];
  headers: ClientHeaders | null;
  /** `null` when the session was opened without one. */
  environment: EnvironmentFacts | null;
  renewals: number;
  /** The last advance that the session was given. Absent: it was last renewed by a release without advances. */
  advance?: Advance;
  addressChanges: number;
  userAgentChanges: number;
  /** The threshold when this one was opened. */
  cyclingThreshold: number;
  telemetry: TelemetryFacts;
  minute: { startedAt: number; requests: number };
  requestsPerMinute: number;
  /** Of the instance, at the newest event. */
  ignoredDetectors: readonly RiskDetector[];
  /** Oldest first: the first score and every change of it. */
  history: ScoredAt[];
}

/** Enough for a household's phones. The verdicts hold every address. */
const ADDRESSES_MAX = 8;
/** A score has 30 parts. If it changes more often than this, the newest changes are kept. */
const HISTORY_MAX = 50;
const USER_AGENT_MAX_CHARS = 512;
const MINUTE_MS = 60_000;
/** A program that invents input has to keep each session for this long. Pages report for the first time after four seconds. */
const TOUCHED_AFTER_MS = 3000;

const NO_TELEMETRY: TelemetryFacts = {
  reports: 0,
  visibleMs: 0,
  interacted: false,
  touched: false,
  pointerMoves: 0,
  presses: 0,
  leaps: 0,
  keys: 0,
  wheels: 0,
  scrolls: 0,
  untrusted: 0,
  typing: { gaps: 0, meanMs: 0, deviationMs: 0 },
  traits: [],
  implausible: 0,
};

/** Changes that a session takes over from the one before, whose cookie the browser came with. */
export interface Lineage {
  addressChanges: number;
  userAgentChanges: number;
}
export const NO_LINEAGE: Lineage = { addressChanges: 0, userAgentChanges: 0 };

/** What a new session takes over from `state`, whose cookie came from another network or user agent. */
export function lineageOf(state: SessionState, visitor: SessionVisitor): Lineage {
  return {
    addressChanges: state.addressChanges + (visitor.network === state.network ? 0 : 1),
    userAgentChanges: state.userAgentChanges + (bounded(visitor.userAgent) === state.userAgent ? 0 : 1),
  };
}

/** A session that was opened or renewed since sessions have an advance. */
type Renewed = SessionState & { advance: Advance };

export function opened(
  visitor: SessionVisitor,
  times: { nowMs: number; expiresAt: number },
  cycling: OpenedBefore & { threshold: number },
  lineage: Lineage,
  environment: JudgedReport | null,
  ignoredDetectors: readonly RiskDetector[] = [],
): Renewed {
  return scored(
    {
      score: 0,
      detectors: 0,
      ignored: 0,
      openedAt: times.nowMs,
      expiresAt: times.expiresAt,
      updatedAt: times.nowMs,
      userAgent: bounded(visitor.userAgent),
      network: visitor.network,
      addresses: visitor.ip === null ? [] : [visitor.ip],
      categories: [...visitor.categories],
      headers: visitor.headers,
      environment: environment && {
        traits: environment.traits,
        findings: environmentFindings(environment, visitor),
      },
      renewals: 0,
      advance: advanceAt(undefined, 0, paceWindow(times.nowMs)),
      addressChanges: lineage.addressChanges,
      userAgentChanges: lineage.userAgentChanges,
      idleSessions: cycling.idleSessions,
      touchedSessions: cycling.touchedSessions,
      cyclingThreshold: cycling.threshold,
      telemetry: NO_TELEMETRY,
      minute: { startedAt: times.nowMs, requests: 0 },
      requestsPerMinute: 0,
      ignoredDetectors,
      history: [],
    },
    'opened',
    times.nowMs,
  );
}

/** `worked`: the window of its last piece of work. */
export function renewed(state: SessionState, visitor: SessionVisitor, nowMs: number, worked = 0): Renewed {
  const { ip } = visitor;
  const others = state.addresses.filter((known) => known !== ip);
  return scored(
    {
      ...state,
      addresses: ip === null ? state.addresses : [...others, ip].slice(-ADDRESSES_MAX),
      categories: [...new Set([...state.categories, ...visitor.categories])],
      headers: visitor.headers ?? state.headers,
      renewals: state.renewals + 1,
      advance: advanceAt(state.advance, worked, paceWindow(nowMs)),
    },
    'renewed',
    nowMs,
  );
}

/** A report that no page can have made counts as such. Nothing in it counts but the traits, which speak against it. */
export function reported(state: SessionState, report: TelemetryReport, nowMs: number): SessionState {
  const { telemetry: known } = state;
  const ageMs = nowMs - state.openedAt;
  const traits = [...new Set([...known.traits, ...report.traits])];
  const added = { reports: known.reports + 1, traits };
  const telemetry: TelemetryFacts = isImplausible(report, ageMs)
    ? { ...known, ...added, implausible: known.implausible + 1 }
    : { ...counted(known, report, ageMs), ...added };
  return scored({ ...state, telemetry }, 'telemetry', nowMs);
}

function counted(known: TelemetryFacts, report: TelemetryReport, ageMs: number): TelemetryFacts {
  const interacted = report.firstInteractionMs !== null;
  return {
    ...known,
    visibleMs: Math.max(known.visibleMs, report.visibleMs),
    interacted: known.interacted || interacted,
    touched: known.touched || (interacted && ageMs >= TOUCHED_AFTER_MS),
    pointerMoves: Math.max(known.pointerMoves, report.pointerMoves),
    presses: Math.max(known.presses, report.presses),
    leaps: Math.max(known.leaps, report.leaps),
    keys: Math.max(known.keys, report.keys),
    wheels: Math.max(known.wheels, report.wheels),
    scrolls: Math.max(known.scrolls, report.scrolls),
    untrusted: Math.max(known.untrusted, report.untrusted),
    isAgent: known.isAgent === true || report.agent === true,
    ...handsOf(known, report.hands),
    typing: report.keyGaps >= known.typing.gaps ? typingOf(report) : known.typing,
  };
}

function handsOf({ hands, handless = 0 }: TelemetryFacts, added: HandCounts | undefined): Partial<TelemetryFacts> {
  if (added === undefined) return {};
  return { hands: addHands(hands, added), handless: handless + (handlessActions(added) > 0 ? 1 : 0) };
}

function typingOf({ keyGaps, keyGapMeanMs, keyGapDeviationMs }: TelemetryReport): TypingFacts {
  return { gaps: keyGaps, meanMs: keyGapMeanMs, deviationMs: keyGapDeviationMs };
}

/** `requests` of this session were in one batch, which ends at `nowMs`. */
export function crowded(state: SessionState, requests: number, nowMs: number): SessionState {
  const within = nowMs - state.minute.startedAt < MINUTE_MS;
  const minute = within
    ? { startedAt: state.minute.startedAt, requests: state.minute.requests + requests }
    : { startedAt: nowMs, requests };
  const requestsPerMinute = Math.max(state.requestsPerMinute, minute.requests);
  return scored({ ...state, minute, requestsPerMinute }, 'burst', nowMs);
}

export function factsOf(state: SessionState, nowMs: number): RiskFacts {
  return { ...state, ageMs: nowMs - state.openedAt };
}

function scored<State extends SessionState>(state: State, cause: RiskCause, nowMs: number): State {
  const risk = scoreRisk(factsOf(state, nowMs));
  const changed = state.history.length === 0 || risk.detectors !== state.detectors || risk.ignored !== state.ignored;
  const history = changed ? [...state.history, { at: nowMs, ...risk, cause }].slice(-HISTORY_MAX) : state.history;
  return { ...state, ...risk, history, updatedAt: nowMs };
}

function bounded(userAgent: string): string {
  return userAgent.slice(0, USER_AGENT_MAX_CHARS);
}

/** Browsers send pointer and scroll events once a frame: 240 a second on the fastest screens. */
const EVENTS_PER_SECOND_MAX = 250;
/** No one presses or types faster, even with ten fingers. */
const PRESSES_PER_SECOND_MAX = 40;
/**
 * A page counts from the moment its session was opened, as the browser learned of it, so an honest report is always
 * younger than the session. This much is for the clocks of two Workers.
 */
const CLOCK_SLACK_MS = 2000;
/** Many events at the start of a short report prove nothing. */
const GRACE_EVENTS = 50;

/**
 * A report that no page can have made: its counts contradict each other or the clock. A script that posts telemetry
 * without a page has to invent its counts. `ageMs`: how long the session has lived, by the service's clock.
 */
export function isImplausible(report: TelemetryReport, ageMs: number): boolean {
  const { elapsedMs, visibleMs, firstInteractionMs, pointerMoves, presses, touches, leaps, keys, keyGaps } = report;
  const { wheels, scrolls, hands } = report;
  if (elapsedMs > ageMs + CLOCK_SLACK_MS) return true;
  if (hands !== undefined && areImpossible(hands)) return true;
  if (visibleMs > elapsedMs || touches + leaps > presses || keyGaps > keys) return true;
  const touched = pointerMoves + presses + keys + wheels;
  if (firstInteractionMs === null ? touched > 0 : touched === 0) return true;
  if (firstInteractionMs !== null && firstInteractionMs > elapsedMs) return true;
  const seconds = elapsedMs / 1000;
  const moved = pointerMoves + wheels + scrolls;
  if (moved > 3 * EVENTS_PER_SECOND_MAX * seconds + GRACE_EVENTS) return true;
  return presses + keys > PRESSES_PER_SECOND_MAX * seconds + GRACE_EVENTS;
}
