/**
 * `POST /edge/v1/sessions/telemetry`: what the script of a page reported. The report is stored under the session of its
 * JWT, and counts for the session's risk. The session must belong to the visitor: a report for another visitor's
 * session, or from another network or browser, is refused. So is one that no page can have made, such as one that claims
 * more time than the session has lived: it raises the score, and nothing that it claims is kept.
 */
import * as z from 'zod/mini';
import { edgeVisitor } from '../../contract/edge/edge-api.ts';
import { telemetryReport } from '../../contract/edge/telemetry.ts';
import { REPORTS_PER_SESSION_MAX } from '../../store/event-log/telemetry-record.ts';
import { reportRisk } from '../../store/risk-book/client/session-risk.ts';
import { recordTelemetry } from '../ingest/record-telemetry.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';
import { isSessionOf, sessionClaims } from './session-claims.ts';

/** The signals of one visitor, one JWT and one report. */
const TELEMETRY_BODY_MAX_BYTES = 64 * 1024;

const telemetryRequest = z.strictObject({
  visitor: edgeVisitor,
  jwt: z.string().check(z.minLength(1), z.maxLength(4096)),
  report: telemetryReport,
});

export const appendTelemetry: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/sessions/telemetry',
  async handler(call) {
    const { store, instance, request, requestId, nowMs } = call;
    const body = await readBodyAs(telemetryRequest, request, TELEMETRY_BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const { visitor, jwt, report } = body.value;
    const claims = await sessionClaims(call, jwt);
    if (claims === null || !(await isSessionOf(claims, visitor))) return errorResponse({ kind: 'session-over' });
    const { jti } = claims;
    const { outcome, reports } = await reportRisk(store, instance, jti, report, nowMs);
    if (outcome === 'ended') return errorResponse({ kind: 'session-over' });
    if (outcome === 'implausible') return errorResponse({ kind: 'report-implausible' });
    if (reports <= REPORTS_PER_SESSION_MAX) {
      recordTelemetry(call, instance, { id: requestId, timestamp: nowMs, jti, report });
    }
    return jsonResponse({ accepted: true });
  },
};
