/**
 * `POST /__protect/session`: opens a session through the service, with the edge's signals, or renews the one in the
 * cookie. The visitor gets it as a cookie.
 */
import { cookie } from '../../contract/edge/headers.ts';
import { splitSessionCookie } from '../../risk/session-token.ts';
import { error, json } from '../answer/answer.ts';
import type { RequestContext } from '../decide/context.ts';
import type { Isolate } from '../isolate/isolate.ts';
import { readCookies } from '../request/cookies.ts';
import { REMOVE_HOST_SESSION, sessionCookie } from '../session/set-session-cookie.ts';
import { sessionVisitorOf } from '../session/visitor.ts';
import { answerWith } from '../step/step.ts';
import type { Answered } from '../step/step.ts';

/** A page waits for the session before its first call. */
const SESSION_TIMEOUT_MS = 3000;

export async function openSession(context: RequestContext, { environment, service }: Isolate): Promise<Answered> {
  const { facts, verdict } = context;
  if (environment.rules.kind !== 'service') {
    return answerWith(context, error('API.NOT_FOUND', 'This gate opens no sessions.'));
  }
  const [value, second] = readCookies(facts.headers.cookie, cookie.session, 2);
  const known = value === undefined ? null : (splitSessionCookie(value)?.jwt ?? null);
  const visitor = sessionVisitorOf(facts, verdict.riskScore);
  let session = await service.session(visitor, known, SESSION_TIMEOUT_MS);
  // A JWT that cannot be renewed any more must not keep the visitor without a session.
  if (!session && known !== null) session = await service.session(visitor, null, SESSION_TIMEOUT_MS);
  if (!session) return answerWith(context, error('API.UNAVAILABLE', 'No session could be opened. Try again.'));
  const { jti, expiresAt, jwtExpiresAt } = session;
  const cookies = [
    ...context.cookies,
    ...(second === undefined ? [] : [REMOVE_HOST_SESSION]),
    sessionCookie(session, facts.target, facts.nowMs),
  ];
  return answerWith({ ...context, cookies, jti }, json({ jti, expiresAt, jwtExpiresAt }));
}
