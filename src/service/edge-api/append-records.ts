/** What edges append to the logs of their instance: verdicts, and reports of the script of a page. */
import { edgeVisitor } from '../../contract/edge/edge-api.ts';
import { verdictBatch } from '../../contract/edge/verdict-batch.ts';
import { CLOCK_SKEW_MAX_MS, SENT_AT_HEADER } from '../../contract/edge/record-bounds.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import { acceptBatch } from '../ingest/accept-batch.ts';
import { feedAttackWatch } from '../attack/feed.ts';
import { type EdgeRoute, jsonRoute } from './edge-route.ts';
import { noteSender } from './note-edge.ts';
import * as z from 'zod/mini';
import { telemetryReport } from '../../contract/edge/page-reports.ts';
import { REPORTS_PER_SESSION_MAX } from '../../store/event-log/telemetry-record.ts';
import { reportRisk } from '../../store/risk-book/client/session-risk.ts';
import { recordTelemetry } from '../ingest/recorders.ts';
import { isSessionOf, sessionClaims } from './session-claims.ts';

/** 500 records of 16 kB. The edge cuts each text of a record at 1,024 characters. */
const VERDICTS_BODY_MAX_BYTES = 8 * 1024 * 1024;

/**
 * `POST /edge/v1/verdicts`: an edge appends a batch to the log of its instance. The response comes once the rows are
 * durable. So after a 200 no retry is needed, and a retry does no harm. An edge whose clock is wrong is told the time,
 * and sends the batch again with corrected records.
 */
export const appendVerdicts: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/verdicts',
  async handler(call) {
    const { store, instance, request, requestId, nowMs } = call;
    const sentAt = Number(request.headers.get(SENT_AT_HEADER) ?? nowMs);
    if (Math.abs(sentAt - nowMs) > CLOCK_SKEW_MAX_MS) {
      return jsonResponse({ now: nowMs }, 409, { [SENT_AT_HEADER]: String(nowMs) });
    }
    const body = await readBodyAs(verdictBatch, request, VERDICTS_BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const batch = { ...body.value, batchId: body.value.batchId ?? requestId };
    noteSender(call, batch.records);
    const answer = await acceptBatch(store, instance, batch, nowMs);
    if (answer.accepted > 0) feedAttackWatch(call, instance, batch.records, nowMs);
    return jsonResponse(answer);
  },
};

/** The signals of one visitor, one JWT and one report. */
const TELEMETRY_BODY_MAX_BYTES = 64 * 1024;

const telemetryRequest = z.strictObject({
  visitor: edgeVisitor,
  jwt: z.string().check(z.minLength(1), z.maxLength(4096)),
  report: telemetryReport,
});

/**
 * `POST /edge/v1/sessions/telemetry`: what the script of a page reported. The report is stored under the session of its
 * JWT, and counts for the session's risk. The session must belong to the visitor: a report for another visitor's
 * session, or from another network or browser, is refused. So is one that no page can have made, such as one that
 * claims more time than the session has lived: it raises the score, and nothing that it claims is kept.
 */
export const appendTelemetry = jsonRoute({
  path: '/edge/v1/sessions/telemetry',
  body: telemetryRequest,
  maxBytes: TELEMETRY_BODY_MAX_BYTES,
  async answer(call, body) {
    const { store, instance, requestId, nowMs } = call;
    const { visitor, jwt, report } = body;
    const claims = await sessionClaims(call, jwt);
    if (claims === null || !(await isSessionOf(claims, visitor))) return errorResponse({ kind: 'session-over' });
    const { jti } = claims;
    const { outcome, reports } = await reportRisk(store, instance, jti, report, nowMs);
    if (outcome === 'ended') return errorResponse({ kind: 'session-over' });
    if (outcome === 'implausible') return errorResponse({ kind: 'report-implausible' });
    if (reports <= REPORTS_PER_SESSION_MAX) {
      recordTelemetry(call, instance, { id: requestId, timestamp: nowMs, jti, report });
    }
    return { accepted: true };
  },
});
