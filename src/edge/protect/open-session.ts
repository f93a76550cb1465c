/**
 * `POST /__protect/session`: renews the visitor's session, or lets them earn one. The service judges: its answer is a
 * session, which the visitor gets as a cookie, or a challenge or a refusal, which is passed on. While it is away, what
 * the edge can check itself is enough for a short session.
 */
import { cookie } from '../../contract/edge/headers.ts';
import { type EdgeSession, edgeSession } from '../../contract/edge/edge-responses.ts';
import { SESSION_JWT_SECONDS, mintSessionJwt, splitSessionCookie } from '../../risk/session-token.ts';
import { error, jsonAnswer, toldToVisitor, type Answer } from '../answer/answer.ts';
import type { RequestContext } from '../decide/context.ts';
import type { Isolate } from '../isolate/isolate.ts';
import { readObject, type ServiceQuestion } from '../feed/service-client.ts';
import type { Asked } from '../feed/upstream.ts';
import { readCookies } from '../request/cookies.ts';
import { readPageLoad } from '../session/page-load.ts';
import { REMOVE_HOST_SESSION, sessionCookie } from '../session/sessions.ts';
import { sessionVisitorOf } from '../session/visitor.ts';
import { answerWith, type Answered } from '../step/step.ts';
import { readJsonObject } from './admission.ts';
import { visitorBinding } from '../../address/visitor-binding.ts';
import { isMetered, paceWindow, type PaceUse } from '../../risk/pace.ts';
import type { Pace } from '../limits/pace.ts';
import { sessionDifficulty } from '../../captcha/plan/tariffs.ts';
import { isLocal, mintLocalWork, solvedWork } from '../challenge/local-challenge.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';

/** A session, or the challenge that it costs. */
type Opening = { kind: 'session'; session: EdgeSession } | { kind: 'challenge'; challenge: Record<string, unknown> };

const CALL: ServiceQuestion<Opening> = {
  path: '/edge/v1/sessions',
  /** A page waits for the session before its first call. */
  timeoutMs: 3000,
  /** A challenge has 3 kB. */
  maxBytes: 65_536,
  isForVisitor: true,
  read: readObject((answer) => {
    const session = edgeSession.safeParse(answer);
    if (session.success) return { kind: 'session', session: session.data };
    return typeof answer['challenge'] === 'string' && 'pow' in answer ? { kind: 'challenge', challenge: answer } : null;
  }),
};
/** A longer cookie is no session of ours. */
const JWT_MAX_CHARS = 4096;

export async function sessionEndpoint(context: RequestContext, isolate: Isolate): Promise<Answered> {
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
  if (!isLocal(page['challenge'])) {
    const visitor = sessionVisitorOf(facts, verdict.riskScore);
    const known = jwt === null || jwt.length > JWT_MAX_CHARS ? {} : { jwt };
    const asked = await askService(service, { visitor, ...known }, newerFields(context, isolate.pace, page));
    if (asked.ok) {
      const opening = asked.value;
      if (opening.kind === 'session') return opened(opening.session);
      return answerWith(context, jsonAnswer(opening.challenge));
    }
    if (asked.error.kind === 'visitor') return answerWith(context, toldToVisitor(asked.error));
    isolate.count('session_failures');
  }
  const local = config && (await localSession(context, config, isolate, page));
  if (!local) return answerWith(context, error('API.UNAVAILABLE', 'No session could be opened. Try again.'));
  return 'session' in local ? opened(local.session) : answerWith(context, local.answer);

  function opened(session: EdgeSession): Answered {
    const { jti, expiresAt, jwtExpiresAt, work } = session;
    const { renewal } = context.effects;
    if (renewal !== null) isolate.renewals.replaced(renewal);
    const cookies = [
      ...context.cookies,
      ...(second === undefined ? [] : [REMOVE_HOST_SESSION]),
      sessionCookie(session, facts.target, facts.nowMs),
    ];
    return answerWith({ ...context, cookies, jti }, jsonAnswer({ jti, expiresAt, jwtExpiresAt, work }));
  }
}

/** A service that is older than the configuration, as in the minutes of an upgrade, refuses the newer fields. */
async function askService(
  service: Isolate['service'],
  question: object,
  { page, work, ...fields }: PageQuestion,
): Promise<Asked<Opening>> {
  const newer = { ...question, ...fields, page: { ...page, ...(work === undefined ? {} : { work }) } };
  const asked = await service.ask(CALL, newer);
  const isRefused = !asked.ok && asked.error.kind === 'visitor' && asked.error.key === 'API.INVALID_BODY';
  const hasMore = work !== undefined || Object.keys(fields).length > 0;
  return isRefused && hasMore ? service.ask(CALL, { ...question, page }) : asked;
}

interface PageQuestion {
  /** What the page sent, without what a service may not know. */
  page: Record<string, unknown>;
  work?: true;
  use?: PaceUse;
  load?: string | null;
}

/** What the page sent, what its session used, and which page load it comes from: each where the service takes it. */
function newerFields(
  { config, jti, verdict, facts }: RequestContext,
  pace: Pace,
  { work, load, ...page }: Record<string, unknown>,
): PageQuestion {
  if (config === null) return { page };
  const isMeteredSite = config.policy.pace !== undefined && isMetered(config.policy.pace);
  const isActive = jti !== null && verdict.sessionStatus === 'active';
  return {
    page,
    ...(isMeteredSite && work === true ? { work } : {}),
    ...(isMeteredSite && isActive ? { use: pace.useOf(jti, facts.nowMs) } : {}),
    ...(config.knowsPageLoads ? { load: readPageLoad(load, facts, config) } : {}),
  };
}

/** How long a session of an outage outlives its challenge. Most outages are over by then; if not, it is earned again. */
const SESSION_SECONDS = 300;

/**
 * A session while the service is away. One that the edge still accepts goes on. A newcomer earns ten minutes with the edge's
 * own challenge, which names the session and its end, so that it opens one session in every isolate, however often it is
 * sent. `null`: the service failed once, but its last check was in order; the page solved a challenge that only the service
 * can judge; or the gate is to be closed.
 */
async function localSession(
  { facts, verdict, jti }: RequestContext,
  config: CompiledConfig,
  { service, environment, count }: Pick<Isolate, 'service' | 'environment' | 'count'>,
  page: Record<string, unknown>,
): Promise<{ session: EdgeSession } | { answer: Answer } | null> {
  const { signals, nowMs } = facts;
  const { challenge, solution } = page;
  if (isLocal(challenge)) {
    const solved = await solvedWork(config, 'local-session', facts, { challenge, solution });
    if (!solved.ok) return { answer: error('API.INVALID_BODY', 'Ask for a new challenge: this one does not count.') };
    count('local_sessions');
    return { session: await shortSession(config, signals, solved.value, nowMs) };
  }
  if (service.reachable || challenge !== undefined || environment.failModeChallenge === 'closed') return null;
  if (verdict.sessionStatus === 'active') return { answer: jsonAnswer({ jti }) };
  const { jti: _inside, ...minted } = await mintLocalWork(config, 'local-session', facts, sessionDifficulty(0));
  return { answer: jsonAnswer(minted) };
}

async function shortSession(
  config: CompiledConfig,
  { ip, userAgent }: { ip: string | null; userAgent: string },
  { jti, expiresAt: solvableUntil }: { jti: string; expiresAt: number },
  nowMs: number,
): Promise<EdgeSession> {
  const iat = Math.floor(nowMs / 1000);
  const sxp = Math.floor(solvableUntil / 1000) + SESSION_SECONDS;
  const exp = Math.min(iat + SESSION_JWT_SECONDS, sxp);
  const bnd = await visitorBinding(ip, userAgent);
  const { kid, session } = config.keys.current;
  // Without the service nobody can work for more, so the session has an advance in both of its windows.
  const pac = [paceWindow(nowMs), 0, 0, 0, paceWindow(sxp * 1000)] as const;
  const jwt = await mintSessionJwt(session, kid, { jti, sub: config.instanceId, iat, exp, sxp, risk: 0, bnd, pac });
  return { jti, jwt, expiresAt: sxp * 1000, jwtExpiresAt: exp * 1000, cookieDomain: null };
}
