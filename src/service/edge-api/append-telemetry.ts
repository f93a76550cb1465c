/**
 * `POST /edge/v1/sessions/telemetry` (design 6): what a page's script reported, filed under the session whose
 * JWT came with it. The JWT is checked as at any other use: a report for somebody else's session, or
 * from another network or browser than the session's, is refused.
 */
import * as z from 'zod/mini';
import { decodeProtectedHeader } from 'jose';
import { verifySessionJwt } from '../../challenge/session-token.ts';
import { visitorBinding } from '../../challenge/visitor-binding.ts';
import { edgeVisitor } from '../../contract/edge-api.ts';
import { telemetryReport } from '../../contract/telemetry.ts';
import { addTelemetry } from '../../store/verdict-log/log.ts';
import { parseWithSchema } from '../body/parse-with-schema.ts';
import { readBody } from '../body/read-body.ts';
import { ApiError } from '../operation.ts';
import { verdictLogOf } from '../protect/verdicts/accept-batch.ts';
import { jsonResponse } from '../respond-error.ts';
import type { EdgeCall, EdgeRoute } from './edge-call.ts';
import { sessionKeyByKid } from './edge-keys.ts';

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
    const { env, instance, request, requestId, now } = call;
    const given = parseWithSchema(telemetryRequest, await readBody(request, TELEMETRY_BODY_MAX_BYTES));
    const jti = await sessionOf(call, given);
    if (jti === null) throw new ApiError('API.NO_SESSION', 'The session is over or was opened by another visitor');
    const body = JSON.stringify(given.report);
    await addTelemetry(env, verdictLogOf(instance), { jti, timestamp: now, id: requestId, body });
    return jsonResponse({ accepted: true });
  },
};

/** The session's jti when the JWT is ours, of this visitor, and its session is not over. */
async function sessionOf(call: EdgeCall, given: z.infer<typeof telemetryRequest>): Promise<string | null> {
  const { env, instance, now } = call;
  let kid: string;
  try {
    kid = decodeProtectedHeader(given.jwt).kid ?? '';
  } catch {
    return null;
  }
  const key = await sessionKeyByKid(env.MASTER_KEY, instance.id, kid, now);
  const claims = await verifySessionJwt(given.jwt, () => key, instance.id, now, true);
  if (typeof claims === 'string' || claims.sxp * 1000 <= now) return null;
  return claims.bnd === (await visitorBinding(given.visitor.ip, given.visitor.userAgent)) ? claims.jti : null;
}
