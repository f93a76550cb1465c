/** A stored session in the form that the API returns. */
import type { sessionFacts } from '../../../../contract/management/verdict-query.ts';
import { riskParts } from '../../../../risk/session-score.ts';
import type { SessionState } from '../../../../risk/session-state.ts';
import type * as z from 'zod/mini';

type Facts = z.infer<typeof sessionFacts>;

export function factsOfSession(session: Omit<SessionState, 'history'>): Facts {
  const { telemetry } = session;
  return {
    opened_at: session.openedAt,
    expires_at: session.expiresAt,
    updated_at: session.updatedAt,
    risk_score: session.score,
    parts: riskParts(session.detectors),
    renewals: session.renewals,
    address_changes: session.addressChanges,
    user_agent_changes: session.userAgentChanges,
    idle_sessions_of_network: session.idleSessions,
    requests_per_minute: session.requestsPerMinute,
    reports: telemetry.reports,
    implausible_reports: telemetry.implausible,
    interacted: telemetry.interacted,
    traits: [...telemetry.traits],
  };
}
