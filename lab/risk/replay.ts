/** Replays recorded sessions through the transitions that the service applies, and reports each session's highest score. */
import { detectorsOf, type RiskDetector } from '../../src/contract/edge/risk-detectors.ts';
import type { TelemetryReport } from '../../src/contract/edge/page-reports.ts';
import {
  NO_LINEAGE,
  opened,
  renewed,
  reported,
  type SessionState,
  type SessionVisitor,
} from '../../src/risk/session-state.ts';
import type { RecordedSession } from './recording.ts';

/** The default of an instance. */
const CYCLING_THRESHOLD = 5;
const SESSION_MS = 86_400_000;
/** Before the five minutes of a JWT are over. */
const RENEWED_AT_MS = 200_000;
/** The most that a page of the recordings was older than its session: several browsers shared two cores. */
const PAGE_BEFORE_SESSION_MS = 20_000;

export interface Replayed {
  session: RecordedSession;
  /** The highest score of the session: an isolate of the edge acts on that one. */
  score: number;
  detectors: RiskDetector[];
}

/** What one machine cannot record: where a visitor comes from. */
export interface Circumstances {
  categories?: readonly string[];
  addressChanges?: number;
  /** Sessions without and with input that the network opened before. */
  idleSessions?: number;
  touchedSessions?: number;
  /** No report arrives, and the session is renewed. */
  reportsBlocked?: boolean;
  /** Detectors that do not count. */
  ignoredDetectors?: readonly RiskDetector[];
}

/** Of an office of 20 people, eight only look. A train passes through three networks. A cloud desktop is in a datacenter. */
export const circumstances: Readonly<Record<string, Circumstances>> = {
  home: {},
  'an office': { idleSessions: 8, touchedSessions: 12 },
  'a VPN': { categories: ['vpn'] },
  'an office on a VPN': { categories: ['vpn'], idleSessions: 8, touchedSessions: 12 },
  'a cloud desktop': { categories: ['datacenter'] },
  'a VPN in a datacenter': { categories: ['vpn', 'datacenter'] },
  Tor: { categories: ['tor'] },
  'a train': { addressChanges: 3 },
  'home, reports blocked': { reportsBlocked: true },
  'a VPN, reports blocked': { reportsBlocked: true, categories: ['vpn'] },
};

export function replay(sessions: readonly RecordedSession[], around: Circumstances = {}): Replayed[] {
  const openedBy = new Map<string, { idleSessions: number; touchedSessions: number }>();
  return sessions.map((session) => {
    const { idleSessions = 0, touchedSessions = 0 } = around;
    const before = openedBy.get(session.network) ?? { idleSessions, touchedSessions };
    const states = statesOf(session, before, around);
    const last = states.at(-1)!;
    const kind = last.telemetry.touched ? 'touchedSessions' : 'idleSessions';
    openedBy.set(session.network, { ...before, [kind]: before[kind] + 1 });
    const highest = states.reduce((best, state) => (state.score >= best.score ? state : best));
    return { session, score: highest.score, detectors: detectorsOf(highest.detectors) };
  });
}

function statesOf(
  { events, network }: RecordedSession,
  before: { idleSessions: number; touchedSessions: number },
  { categories = [], addressChanges = 0, reportsBlocked = false, ignoredDetectors = [] }: Circumstances,
): SessionState[] {
  const states: SessionState[] = [];
  const calls = events.filter(({ type }) => type === 'call');
  const happened = reportsBlocked ? [...calls, { ...calls[0]!, atMs: RENEWED_AT_MS }] : events;
  for (const given of happened) {
    const known = states.at(-1);
    if (given.type === 'report') {
      // A report that came before the session was open was lost.
      if (known) states.push(reported(known, sinceOpened(given.report, given.atMs - known.openedAt), given.atMs));
      continue;
    }
    const { userAgent, headers, atMs } = given;
    const visitor: SessionVisitor = { userAgent, ip: null, network, categories, headers };
    if (known) {
      states.push(renewed(known, visitor, atMs));
      continue;
    }
    const times = { nowMs: atMs, expiresAt: atMs + SESSION_MS };
    const cycling = { ...before, idleAround: 0, touchedAround: 0, threshold: CYCLING_THRESHOLD };
    const lineage = { ...NO_LINEAGE, addressChanges };
    states.push(opened(visitor, times, cycling, lineage, given.environment ?? null, ignoredDetectors));
  }
  return states;
}

/**
 * The pages of the recordings counted from their own start, and today's count from the opening of the session, which is
 * up to twenty seconds later on a busy machine. What a report claims beyond that is left as it is.
 */
function sinceOpened(report: TelemetryReport, ageMs: number): TelemetryReport {
  const { elapsedMs, visibleMs, firstInteractionMs } = report;
  if (elapsedMs <= ageMs || elapsedMs > ageMs + PAGE_BEFORE_SESSION_MS) return report;
  return {
    ...report,
    elapsedMs: ageMs,
    visibleMs: Math.min(visibleMs, ageMs),
    firstInteractionMs: firstInteractionMs === null ? null : Math.min(firstInteractionMs, ageMs),
  };
}
