/**
 * `POST /edge/v1/sessions/telemetry` (design 6): what a page's script reported, filed under the session whose
 * JWT came with it, and weighed for its risk. The JWT is checked as at any other use: a report for somebody else's session, or
 * from another network or browser than the session's, is refused.
 */
import * as z from 'zod/mini';
import { edgeVisitor } from '../../contract/edge/edge-api.ts';
import { telemetryReport } from '../../contract/edge/telemetry.ts';
import { addTelemetry, verdictLogOf } from '../../store/event-log/client/verdict-log.ts';
import { parseWithSchema } from '../http/body/parse-with-schema.ts';
import { readBody } from '../http/body/read-body.ts';
import { ApiError } from '../http/api-error.ts';
import { jsonResponse } from '../http/respond-error.ts';
import { hasEnded, reportRisk } from '../../store/risk-book/client/session-risk.ts';
import type { EdgeRoute } from './edge-route.ts';
import { isOf, sessionClaims } from './session-claims.ts';

/** One visitor's signals, one JWT, one report. */
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
    const given = parseWithSchema(telemetryRequest, await readBody(request, TELEMETRY_BODY_MAX_BYTES));
    const claims = await sessionClaims(call, given.jwt);
    if (claims === null || !(await isOf(claims, given.visitor)) || (await hasEnded(store, instance.id, claims.jti))) {
      throw new ApiError('API.NO_SESSION', 'The session is over or was opened by another visitor');
    }
    const { jti } = claims;
    const body = JSON.stringify(given.report);
    await Promise.all([
      addTelemetry(store, verdictLogOf(instance), { jti, timestamp: nowMs, id: requestId, body }),
      reportRisk(store, instance, jti, given.report, nowMs),
    ]);
    return jsonResponse({ accepted: true });
  },
};
