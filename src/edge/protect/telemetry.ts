/** `POST /__protect/telemetry`: the page's report, passed on for the session in the visitor's cookie (design 6). */
import { splitSessionCookie } from '../../risk/session-token.ts';
import { cookie } from '../../contract/edge/headers.ts';
import { readCookie } from '../request/cookies.ts';
import { json, jsonError } from '../answer/respond.ts';
import { visitorOf } from '../request/visitor.ts';
import { readJsonObject } from './admission.ts';
import type { ProtectCall } from './routes.ts';

const TELEMETRY_TIMEOUT_MS = 5000;

export async function passTelemetry(call: ProtectCall): Promise<Response> {
  const { passage, edge, ctx } = call;
  const report = await readJsonObject(call);
  if (report instanceof Response) return report;
  const value = readCookie(passage.request.headers.get('cookie'), cookie.session);
  const jwt = value === null ? null : (splitSessionCookie(value)?.jwt ?? null);
  if (jwt === null) return jsonError(passage, 'API.NO_SESSION', 'Telemetry belongs to a session.');
  const body = JSON.stringify({ visitor: visitorOf(passage), jwt, report });
  // Nobody waits for it: the page is told at once, and a lost report is only counted.
  ctx.waitUntil(
    edge.service
      .call('/edge/v1/sessions/telemetry', TELEMETRY_TIMEOUT_MS, body)
      .then((answer) => answer.body?.cancel())
      .catch(() => edge.count('telemetry_failures')),
  );
  return json(passage, 202, { accepted: true });
}
