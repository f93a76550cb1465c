/** `POST /__protect/telemetry`: passes the page's report on to the service, for the session in the visitor's cookie. */
import { cookie } from '../../contract/edge/headers.ts';
import { splitSessionCookie } from '../../risk/session-token.ts';
import { error, jsonAnswer } from '../answer/answer.ts';
import type { RequestContext } from '../decide/context.ts';
import { readObject, type ServiceQuestion } from '../feed/service-client.ts';
import type { Asked } from '../feed/upstream.ts';
import type { Isolate } from '../isolate/isolate.ts';
import { readCookie } from '../request/cookies.ts';
import { edgeVisitorOf } from '../session/visitor.ts';
import { type Answered, answerWith } from '../step/step.ts';
import { readJsonObject } from './admission.ts';

const CALL: ServiceQuestion<true> = {
  path: '/edge/v1/sessions/telemetry',
  timeoutMs: 5000,
  maxBytes: 1024,
  isForVisitor: true,
  read: readObject(({ accepted }) => (accepted === true ? accepted : null)),
};
const NO_SESSION = error('API.NO_SESSION', 'Telemetry belongs to a session. Open one.');
const REFUSED = error('API.INVALID_BODY', 'No page of this session can have made the report.');

export async function passTelemetry(context: RequestContext, { service, count }: Isolate): Promise<Answered> {
  const { facts, verdict } = context;
  const report = await readJsonObject(facts.request);
  if (!report.ok) return answerWith(context, report.error);
  const value = readCookie(facts.headers.cookie, cookie.session);
  const jwt = value === null ? null : (splitSessionCookie(value)?.jwt ?? null);
  if (jwt === null) return answerWith(context, NO_SESSION);
  // A page sends its report as a beacon and waits for nothing. A lost report is only counted.
  const visitor = edgeVisitorOf(facts, verdict.riskScore);
  const asked = await askService(service, { visitor, jwt }, report.value);
  if (!asked.ok && asked.error.kind === 'visitor')
    return answerWith(context, asked.error.status === 401 ? NO_SESSION : REFUSED);
  if (!asked.ok) count('telemetry_failures');
  return answerWith(context, jsonAnswer({ accepted: true }, 202));
}

/** A service that is older, as in the minutes of an upgrade, refuses fields that it does not know. */
async function askService(
  service: Isolate['service'],
  question: object,
  { agent, hands, ...report }: Record<string, unknown>,
): Promise<Asked<true>> {
  const asked = await service.ask(CALL, { ...question, report: { ...report, agent, hands } });
  const isRefused = !asked.ok && asked.error.kind === 'visitor' && asked.error.key === 'API.INVALID_BODY';
  const hasMore = agent !== undefined || hands !== undefined;
  return isRefused && hasMore ? service.ask(CALL, { ...question, report }) : asked;
}
