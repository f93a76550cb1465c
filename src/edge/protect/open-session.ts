/**
 * `POST /__protect/session`: renews the visitor's session, or lets them earn one. The service judges: its answer is a
 * session, which the visitor gets as a cookie, or a challenge or a refusal, which is passed on. While it is away, what
 * the edge can check itself is enough for a short session (`local-session.ts`).
 */
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { cookie } from '../../contract/edge/headers.ts';
import type { EdgeSession } from '../../contract/edge/edge-api.ts';
import { edgeSession } from '../../contract/edge/edge-responses.ts';
import { splitSessionCookie } from '../../risk/session-token.ts';
import { error, json, toldToVisitor } from '../answer/answer.ts';
import type { RequestContext } from '../decide/context.ts';
import type { Isolate } from '../isolate/isolate.ts';
import type { ServiceCall } from '../feed/service-client.ts';
import { UNREADABLE } from '../feed/upstream.ts';
import { ok } from '../../result.ts';
import { readCookies } from '../request/cookies.ts';
import { REMOVE_HOST_SESSION, sessionCookie } from '../session/set-session-cookie.ts';
import { sessionVisitorOf } from '../session/visitor.ts';
import { type Answered, answerWith } from '../step/step.ts';
import { readJsonObject } from './admission.ts';
import { isLocal, localSession } from './local-session.ts';

/** A session, or the challenge that it costs. */
type Opening = { kind: 'session'; session: EdgeSession } | { kind: 'challenge'; challenge: Record<string, unknown> };

const CALL: ServiceCall<Opening> = {
  path: '/edge/v1/sessions',
  /** A page waits for the session before its first call. */
  timeoutMs: 3000,
  /** A challenge has 3 kB. */
  maxBytes: 65_536,
  isForVisitor: true,
  read(body) {
    const answer = parseJson(body);
    const session = edgeSession.safeParse(answer);
    if (session.success) return ok({ kind: 'session', session: session.data });
    const isChallenge = isJsonObject(answer) && typeof answer['challenge'] === 'string' && 'pow' in answer;
    return isChallenge ? ok({ kind: 'challenge', challenge: answer }) : UNREADABLE;
  },
};
/** A longer cookie is no session of ours. */
const JWT_MAX_CHARS = 4096;

export async function openSession(context: RequestContext, isolate: Isolate): Promise<Answered> {
  const { facts, verdict, config } = context;
  const { environment, service } = isolate;
  if (environment.rules.kind !== 'service') {
    return answerWith(context, error('API.NOT_FOUND', 'This gate opens no sessions.'));
  }
  const body = await readJsonObject(facts.request);
  if (!body.ok) return answerWith(context, body.error);
  const page = body.value;
  const [value, second] = readCookies(facts.headers.cookie, cookie.session, 2);
  const jwt = value === undefined ? null : (splitSessionCookie(value)?.jwt ?? null);
  if (!isLocal(page)) {
    const visitor = sessionVisitorOf(facts, verdict.riskScore);
    const known = jwt === null || jwt.length > JWT_MAX_CHARS ? {} : { jwt };
    const question = { visitor, ...known, page };
    const asked = await service.ask(CALL, question);
    if (asked.ok) {
      const opening = asked.value;
      if (opening.kind === 'session') return opened(opening.session);
      return answerWith(context, json(opening.challenge));
    }
    if (asked.error.kind === 'visitor') return answerWith(context, toldToVisitor(asked.error));
    isolate.count('session_failures');
  }
  const local = config && (await localSession(context, config, isolate, page));
  if (!local) return answerWith(context, error('API.UNAVAILABLE', 'No session could be opened. Try again.'));
  return 'session' in local ? opened(local.session) : answerWith(context, local.answer);

  function opened(session: EdgeSession): Answered {
    const { jti, expiresAt, jwtExpiresAt } = session;
    const cookies = [
      ...context.cookies,
      ...(second === undefined ? [] : [REMOVE_HOST_SESSION]),
      sessionCookie(session, facts.target, facts.nowMs),
    ];
    return answerWith({ ...context, cookies, jti }, json({ jti, expiresAt, jwtExpiresAt }));
  }
}
