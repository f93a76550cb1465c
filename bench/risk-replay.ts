/**
 * Recorded sessions and their replay: the very transitions that the service applies, on facts that were
 * recorded once. What a session opens, renews and reports is in the recording; times are since its opening.
 */
import * as z from 'zod/mini';
import { clientHeaders } from '../src/contract/edge-api.ts';
import { detectorsOf } from '../src/contract/risk.ts';
import type { RiskDetector } from '../src/contract/risk.ts';
import { telemetryReport } from '../src/contract/telemetry.ts';
import { NO_LINEAGE, opened, renewed, reported } from '../src/risk/session-state.ts';
import type { SessionState, SessionVisitor } from '../src/risk/session-state.ts';

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

export interface Replayed {
  session: RecordedSession;
  /** The highest score on the way: what the gate remembers. */
  score: number;
  detectors: RiskDetector[];
}

export function replay(sessions: readonly RecordedSession[]): Replayed[] {
  const idle = new Map<string, number>();
  return sessions.map((session) => {
    const before = idle.get(session.network) ?? 0;
    const states = statesOf(session, before);
    const last = states.at(-1)!;
    if (!last.telemetry.interacted) idle.set(session.network, before + 1);
    const highest = states.reduce((best, state) => (state.score >= best.score ? state : best));
    return { session, score: highest.score, detectors: detectorsOf(highest.detectors) };
  });
}

function statesOf({ events, network }: RecordedSession, idleSessions: number): SessionState[] {
  const states: SessionState[] = [];
  for (const given of events) {
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
      categories: [],
      headers: given.headers,
    };
    const cycling = { idleSessions, threshold: CYCLING_THRESHOLD };
    states.push(
      known
        ? renewed(known, visitor, given.atMs)
        : opened(visitor, { now: given.atMs, expiresAt: given.atMs + SESSION_MS }, cycling, NO_LINEAGE),
    );
  }
  return states;
}
