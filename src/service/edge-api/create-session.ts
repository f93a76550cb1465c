/**
 * `POST /edge/v1/sessions`: opens a session for the visitor that the edge describes, or renews the JWT of one. Either
 * way the risk of the session is evaluated. A JWT that was copied to another network or user agent is not renewed: the
 * visitor gets a new session, which remembers the copy. A session that is over or withdrawn is not renewed either.
 */
import { visitorBinding } from '../../address/visitor-binding.ts';
import { edgeSessionRequest } from '../../contract/edge/edge-api.ts';
import type { EdgeSession, EdgeVisitor } from '../../contract/edge/edge-api.ts';
import type { EnvironmentReport } from '../../contract/edge/environment-report.ts';
import { SESSION_JWT_SECONDS, mintSessionJwt } from '../../risk/session-token.ts';
import type { SessionClaims } from '../../risk/session-token.ts';
import { sessionMintingKey } from '../../store/keys/edge-keys.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import { openRisk, renewRisk } from '../../store/risk-book/client/session-risk.ts';
import type { OpenedRisk } from '../../store/risk-book/client/session-risk.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import { cookieDomain } from './cookie-domain.ts';
import type { EdgeCall, EdgeRoute } from './edge-route.ts';
import { isSessionOf, sessionClaims } from './session-claims.ts';

/** The signals of one visitor, and one JWT. */
const SESSION_BODY_MAX_BYTES = 32 * 1024;

export const createSession: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/sessions',
  async handler(call) {
    const body = await readBodyAs(edgeSessionRequest, call.request, SESSION_BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const { visitor, jwt, environment = null } = body.value;
    const known = jwt === undefined ? null : await sessionClaims(call, jwt);
    const isOwn = known !== null && (await isSessionOf(known, visitor));
    const renewed = isOwn ? await renew(call, visitor, known) : null;
    const formerJti = isOwn ? null : (known?.jti ?? null);
    return jsonResponse(renewed ?? (await open(call, visitor, formerJti, environment)));
  },
};

async function open(
  call: EdgeCall,
  visitor: EdgeVisitor,
  formerJti: string | null,
  environment: EnvironmentReport | null,
): Promise<EdgeSession> {
  const { store, instance, nowMs } = call;
  const sessionExpiry = Math.floor(nowMs / 1000) + instance.jtiExpirySeconds;
  const times = { nowMs, expiresAt: sessionExpiry * 1000 };
  const risk = await openRisk(store, instance, visitor, times, formerJti, environment);
  return mint(call, visitor, risk, sessionExpiry);
}

/** `null`: the session was withdrawn. */
async function renew(call: EdgeCall, visitor: EdgeVisitor, { jti, sxp }: SessionClaims): Promise<EdgeSession | null> {
  const { store, instance, nowMs } = call;
  const risk = await renewRisk(store, instance, jti, visitor, { nowMs, expiresAt: sxp * 1000 });
  return risk === null ? null : mint(call, visitor, { jti, ...risk }, sxp);
}

async function mint(
  { store, instance, nowMs }: EdgeCall,
  visitor: EdgeVisitor,
  { jti, score, detectors }: OpenedRisk,
  sessionExpiry: number,
): Promise<EdgeSession> {
  const nowSeconds = Math.floor(nowMs / 1000);
  const claims: SessionClaims = {
    jti,
    sub: instance.id,
    iat: nowSeconds,
    exp: Math.min(nowSeconds + SESSION_JWT_SECONDS, sessionExpiry),
    sxp: sessionExpiry,
    risk: score,
    det: detectors,
    bnd: await visitorBinding(visitor.ip, visitor.userAgent),
  };
  const { kid, key } = await sessionMintingKey(await rootKey(store), instance.id, nowMs);
  return {
    jti,
    jwt: await mintSessionJwt(key, kid, claims),
    expiresAt: claims.sxp * 1000,
    jwtExpiresAt: claims.exp * 1000,
    cookieDomain: cookieDomain(visitor.host),
  };
}
