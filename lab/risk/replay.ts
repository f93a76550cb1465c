/**
 * Recorded sessions and their replay: the very transitions that the service applies, on facts that were
 * recorded once. What a session opens, renews and reports is in the recording; times are since its opening.
 */
import * as z from 'zod/mini';
import { clientHeaders } from '../../src/contract/edge/edge-api.ts';
import { detectorsOf } from '../../src/contract/edge/risk-detectors.ts';
import type { RiskDetector } from '../../src/contract/edge/risk-detectors.ts';
import { telemetryReport } from '../../src/contract/edge/telemetry.ts';
import { NO_LINEAGE, opened, renewed, reported } from '../../src/risk/session-state.ts';
import type { SessionState, SessionVisitor } from '../../src/risk/session-state.ts';

/**
 * `window`: a driven browser with a window; `window-stealth`: one that hides it. `os-input`: a browser that nothing drives, under
 * a tool that has the real pointer and keyboard. `person-like`: the same under a hand as a person's, since no person was recorded.
 */
export const recordedKinds = [
  'headless',
  'stealth',
  'curl',
  'script',
  'window',
  'window-stealth',
  'os-input',
  'person-like',
] as const;
export type RecordedKind = (typeof recordedKinds)[number];

const event = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('call'),
    atMs: z.int(),
    userAgent: z.string(),
    headers: clientHeaders,
  }),
  z.strictObject({ type: z.literal('report'), atMs: z.int(), report: telemetryReport }),
]);
export type RecordedEvent = z.infer<typeof event>;

export const recordedSession = z.strictObject({
  kind: z.enum(recordedKinds),
  variant: z.string(),
  /** Sessions of one name came one after another from one network. */
  network: z.string(),
  events: z.array(event).check(z.minLength(1)),
});
export type RecordedSession = z.infer<typeof recordedSession>;
export const recording = z.array(recordedSession);

/** The instance's defaults. */
const CYCLING_THRESHOLD = 5;
const SESSION_MS = 86_400_000;
/** Before a JWT's five minutes are over. */
const RENEWED_AT_MS = 200_000;

export interface Replayed {
  session: RecordedSession;
  /** The highest score on the way: what the gate remembers. */
  score: number;
  detectors: RiskDetector[];
}

/** What one machine cannot record: where somebody comes from. */
export interface Circumstances {
  categories?: readonly string[];
  addressChanges?: number;
  /** Sessions that the network opened before. */
  idleSessions?: number;
  touchedSessions?: number;
  /** No report arrives, and the session lives on. */
  reportsBlocked?: boolean;
}

/** An office of twenty where eight only looked; a train goes through three networks; a cloud desktop is in a datacenter. */
export const circumstances: Readonly<Record<string, Circumstances>> = {
  'at home': {},
  'in an office': { idleSessions: 8, touchedSessions: 12 },
  'on a VPN': { categories: ['vpn'] },
  'in an office on a VPN': { categories: ['vpn'], idleSessions: 8, touchedSessions: 12 },
  'on a cloud desktop': { categories: ['datacenter'] },
  'on a VPN of a datacenter': { categories: ['vpn', 'datacenter'] },
  'on Tor': { categories: ['tor'] },
  'on a train': { addressChanges: 3 },
  'with a blocker of reports': { reportsBlocked: true },
  'with a blocker, on a VPN': { reportsBlocked: true, categories: ['vpn'] },
};

export function replay(sessions: readonly RecordedSession[], around: Circumstances = {}): Replayed[] {
  const openedBy = new Map<string, { idleSessions: number; touchedSessions: number }>();
  return sessions.map((session) => {
    const { idleSessions = 0, touchedSessions = 0 } = around;
    const before = openedBy.get(session.network) ?? { idleSessions, touchedSessions };
    const states = statesOf(session, before, around);
    const last = states.at(-1)!;
    const kind = last.telemetry.interacted ? 'touchedSessions' : 'idleSessions';
    openedBy.set(session.network, { ...before, [kind]: before[kind] + 1 });
    const highest = states.reduce((best, state) => (state.score >= best.score ? state : best));
    return { session, score: highest.score, detectors: detectorsOf(highest.detectors) };
  });
}

function statesOf(
  { events, network }: RecordedSession,
  before: { idleSessions: number; touchedSessions: number },
  { categories = [], addressChanges = 0, reportsBlocked = false }: Circumstances,
): SessionState[] {
  const states: SessionState[] = [];
  const calls = events.filter(({ type }) => type === 'call');
  const happened = reportsBlocked ? [...calls, { ...calls[0]!, atMs: RENEWED_AT_MS }] : events;
  for (const given of happened) {
    const known = states.at(-1);
    if (given.type === 'report') {
      // A report before the session was open went nowhere.
      if (known) states.push(reported(known, given.report, given.atMs));
      continue;
    }
    const visitor: SessionVisitor = {
      userAgent: given.userAgent,
      ip: null,
      network,
      categories,
      headers: given.headers,
    };
    const cycling = { ...before, threshold: CYCLING_THRESHOLD };
    states.push(
      known
        ? renewed(known, visitor, given.atMs)
        : opened(visitor, { now: given.atMs, expiresAt: given.atMs + SESSION_MS }, cycling, {
            ...NO_LINEAGE,
            addressChanges,
          }),
    );
  }
  return states;
}
