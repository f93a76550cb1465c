/**
 * `POST /edge/v1/sessions` (design 6): opens a session for the visitor the edge describes, or renews
 * the JWT of one. A JWT that was copied to another network or user agent renews nothing: it is
 * answered with a new session, and so is one whose session is over.
 */
import { edgeSessionRequest } from '../../contract/edge-api.ts';
import type { EdgeSession, EdgeVisitor } from '../../contract/edge-api.ts';
import { SESSION_JWT_SECONDS, mintSessionJwt, verifySessionJwt } from '../../challenge/session-token.ts';
import type { SessionClaims } from '../../challenge/session-token.ts';
import { visitorBinding } from '../../challenge/visitor-binding.ts';
import { decodeProtectedHeader } from 'jose';
import { randomToken } from '../../store/master-key.ts';
import { parseWithSchema } from '../body/parse-with-schema.ts';
import { readBody } from '../body/read-body.ts';
import { jsonResponse } from '../respond-error.ts';
import { cookieDomain } from './cookie-domain.ts';
import type { EdgeCall, EdgeRoute } from './edge-call.ts';
import { sessionKeyByKid, sessionMintingKey } from './edge-keys.ts';

/** One visitor's signals and one JWT. */
const SESSION_BODY_MAX_BYTES = 32 * 1024;
const JTI_BYTES = 16;

export const createSession: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/sessions',
  async handler(call) {
    const { visitor, jwt } = parseWithSchema(edgeSessionRequest, await readBody(call.request, SESSION_BODY_MAX_BYTES));
    const known = jwt === undefined ? null : await renewable(call, visitor, jwt);
    return jsonResponse(await mintFor(call, visitor, known));
  },
};

async function mintFor(call: EdgeCall, visitor: EdgeVisitor, known: SessionClaims | null): Promise<EdgeSession> {
  const { env, instance, now } = call;
  const nowSeconds = Math.floor(now / 1000);
  const sessionExpiry = known?.sxp ?? nowSeconds + instance.jtiExpirySeconds;
  const claims: SessionClaims = {
    jti: known?.jti ?? randomToken(JTI_BYTES),
    sub: instance.id,
    iat: nowSeconds,
    exp: Math.min(nowSeconds + SESSION_JWT_SECONDS, sessionExpiry),
    sxp: sessionExpiry,
    // Nothing is known against a visitor who just arrived; a renewed session keeps its score.
    risk: known?.risk ?? 0,
    bnd: await visitorBinding(visitor.ip, visitor.userAgent),
  };
  const { kid, key } = await sessionMintingKey(env.MASTER_KEY, instance.id, now);
  return {
    jti: claims.jti,
    jwt: await mintSessionJwt(key, kid, claims),
    expiresAt: claims.sxp * 1000,
    jwtExpiresAt: claims.exp * 1000,
    cookieDomain: cookieDomain(visitor.host),
  };
}

/** Claims of a JWT that may be renewed for this visitor, or `null`. */
async function renewable(call: EdgeCall, visitor: EdgeVisitor, jwt: string): Promise<SessionClaims | null> {
  const { env, instance, now } = call;
  let kid: string;
  try {
    kid = decodeProtectedHeader(jwt).kid ?? '';
  } catch {
    return null;
  }
  const key = await sessionKeyByKid(env.MASTER_KEY, instance.id, kid, now);
  const claims = await verifySessionJwt(jwt, () => key, instance.id, now, true);
  if (typeof claims === 'string' || claims.sxp * 1000 <= now) return null;
  return claims.bnd === (await visitorBinding(visitor.ip, visitor.userAgent)) ? claims : null;
}
