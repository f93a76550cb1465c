/**
 * Sessions while the service is away. One that the edge still accepts goes on. A newcomer earns ten minutes with the
 * edge's own challenge, unless the operator closes the gate in an outage. The challenge names the session and its end, so
 * that it opens one session in every isolate, however often it is sent.
 */
import { visitorBinding } from '../../address/visitor-binding.ts';
import type { EdgeSession } from '../../contract/edge/edge-api.ts';
import { SESSION_JWT_SECONDS, mintSessionJwt } from '../../risk/session-token.ts';
import { type Answer, error, json } from '../answer/answer.ts';
import { LOCAL_PREFIX, mintWork, solvedWork } from '../challenge/local-challenge.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { RequestContext } from '../decide/context.ts';
import type { Isolate } from '../isolate/isolate.ts';

/** After the challenge has expired. Most outages are over by then; if not, the next ten minutes are earned again. */
const SESSION_SECONDS = 300;
const SESSION_DIFFICULTY = 4;

/** Whether a page solved a challenge of the edge, which only the edge can judge. */
export function isLocal({ challenge }: Record<string, unknown>): boolean {
  return typeof challenge === 'string' && challenge.startsWith(LOCAL_PREFIX);
}

/**
 * `null`: the service failed once, but its last check was in order; the page solved a challenge that only the service can
 * judge; or the gate is to be closed.
 */
export async function localSession(
  { facts, verdict, jti }: RequestContext,
  config: CompiledConfig,
  { service, environment, count }: Pick<Isolate, 'service' | 'environment' | 'count'>,
  page: Record<string, unknown>,
): Promise<{ session: EdgeSession } | { answer: Answer } | null> {
  const { signals, nowMs } = facts;
  const { challenge, solution } = page;
  if (typeof challenge === 'string' && isLocal(page)) {
    const solved = await solvedWork(config, 'local-session', facts, { challenge, solution });
    if (!solved.ok) return { answer: error('API.INVALID_BODY', 'Ask for a new challenge: this one does not count.') };
    count('local_sessions');
    return { session: await shortSession(config, signals, solved.value, nowMs) };
  }
  if (service.reachable || challenge !== undefined || environment.failModeChallenge === 'closed') return null;
  if (verdict.sessionStatus === 'active') return { answer: json({ jti }) };
  const { jti: _inside, ...minted } = await mintWork(config, 'local-session', facts, SESSION_DIFFICULTY);
  return { answer: json(minted) };
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
  const jwt = await mintSessionJwt(session, kid, { jti, sub: config.instanceId, iat, exp, sxp, risk: 0, bnd });
  return { jti, jwt, expiresAt: sxp * 1000, jwtExpiresAt: exp * 1000, cookieDomain: null };
}
