/**
 * `POST /edge/v1/sessions` (design 6): opens a session for the visitor the edge describes, or renews
 * the JWT of one, its risk evaluated either way. A JWT that was copied to another network or user agent
 * renews nothing: it is answered with a new session, which remembers that, and so is one whose session is
 * over or was withdrawn.
 */
import { edgeSessionRequest } from '../../contract/edge/edge-api.ts';
import type { EdgeSession, EdgeVisitor } from '../../contract/edge/edge-api.ts';
import { SESSION_JWT_SECONDS, mintSessionJwt } from '../../risk/session-token.ts';
import type { SessionClaims } from '../../risk/session-token.ts';
import { visitorBinding } from '../../address/visitor-binding.ts';
import { parseWithSchema } from '../http/body/parse-with-schema.ts';
import { readBody } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/respond-error.ts';
import { openRisk, renewRisk } from '../../store/risk-book/client/session-risk.ts';
import type { OpenedRisk } from '../../store/risk-book/client/session-risk.ts';
import { cookieDomain } from './cookie-domain.ts';
import type { EdgeCall, EdgeRoute } from './edge-route.ts';
import { sessionMintingKey } from '../../store/keys/edge-keys.ts';
import { isOf, sessionClaims } from './session-claims.ts';
import { rootKey } from '../../store/keys/root-key.ts';

/** One visitor's signals and one JWT. */
const SESSION_BODY_MAX_BYTES = 32 * 1024;

export const createSession: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/sessions',
  async handler(call) {
    const { visitor, jwt } = parseWithSchema(edgeSessionRequest, await readBody(call.request, SESSION_BODY_MAX_BYTES));
    const known = jwt === undefined ? null : await sessionClaims(call, jwt);
    const isOwn = known !== null && (await isOf(known, visitor));
    const renewed = isOwn ? await renew(call, visitor, known) : null;
    return jsonResponse(renewed ?? (await open(call, visitor, isOwn ? null : (known?.jti ?? null))));
  },
};

async function open(call: EdgeCall, visitor: EdgeVisitor, formerJti: string | null): Promise<EdgeSession> {
  const { store, instance, nowMs } = call;
  const sessionExpiry = Math.floor(nowMs / 1000) + instance.jtiExpirySeconds;
  const risk = await openRisk(store, instance, visitor, { nowMs, expiresAt: sessionExpiry * 1000 }, formerJti);
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
