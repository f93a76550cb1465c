/** `POST /__protect/telemetry`: passes the page's report on to the service, for the session in the visitor's cookie. */
import { cookie } from '../../contract/edge/headers.ts';
import { splitSessionCookie } from '../../risk/session-token.ts';
import { error, json } from '../answer/answer.ts';
import type { RequestContext } from '../decide/context.ts';
import type { WaitUntil } from '../gate.ts';
import type { Isolate } from '../isolate/isolate.ts';
import { readCookie } from '../request/cookies.ts';
import { visitorOf } from '../session/visitor.ts';
import { answerWith } from '../step/step.ts';
import type { Answered } from '../step/step.ts';
import { readJsonObject } from './admission.ts';

const TELEMETRY_TIMEOUT_MS = 5000;

export async function passTelemetry(
  context: RequestContext,
  { service, count }: Isolate,
  waitUntil: WaitUntil,
): Promise<Answered> {
  const { facts, verdict } = context;
  const report = await readJsonObject(facts.request);
  if (!report.ok) return answerWith(context, report.error);
  const value = readCookie(facts.headers.cookie, cookie.session);
  const jwt = value === null ? null : (splitSessionCookie(value)?.jwt ?? null);
  if (jwt === null) return answerWith(context, error('API.NO_SESSION', 'Telemetry belongs to a session. Open one.'));
  const body = JSON.stringify({ visitor: visitorOf(facts, verdict.riskScore), jwt, report: report.value });
  // The page does not wait for the service. A lost report is only counted.
  waitUntil(
    service
      .call('/edge/v1/sessions/telemetry', TELEMETRY_TIMEOUT_MS, body)
      .then((response) => response.body?.cancel())
      .catch(() => count('telemetry_failures')),
  );
  return answerWith(context, json({ accepted: true }, 202));
}
