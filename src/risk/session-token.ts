/**
 * The JWT inside the session cookie `{jti}|{jwt}`. The service mints it and the edge checks it without a lookup: HS256
 * under the instance's session key, valid for five minutes at most, bound to the visitor's network and user agent. The
 * session lasts longer (`sxp`), because its JWT is renewed.
 */
import { ForeignJwt, openHs256, signHs256 } from '../bytes/hs256-jwt.ts';
import { failed, ok } from '../result.ts';
import type { Result } from '../result.ts';

/** Lifetime of one JWT: a score or a shared cookie can be outdated for as long. */
export const SESSION_JWT_SECONDS = 300;
/** The clocks of two Workers differ. */
const CLOCK_TOLERANCE_SECONDS = 5;
/** Characters of a jti. `|` separates it from the JWT. */
export const sessionJtiPattern = /^[A-Za-z0-9._-]{1,256}$/;

export interface SessionClaims {
  jti: string;
  /** Instance the session belongs to. */
  sub: string;
  /** Epoch seconds: when this JWT was issued, when it expires, when the whole session expires. */
  iat: number;
  exp: number;
  sxp: number;
  /** Risk score, 0 to 1. */
  risk: number;
  /** `detectorBits` of the score's parts. */
  det?: number;
  /** `visitorBinding` of the visitor that it was minted for. */
  bnd: string;
}

/** `expired`: valid except for its time. */
export type SessionTokenProblem = 'malformed' | 'bad-signature' | 'expired';

/** Splits a cookie value. A bare jti is accepted and has no JWT. `null`: not a session cookie. */
export function splitSessionCookie(value: string): { jti: string; jwt: string | null } | null {
  const bar = value.indexOf('|');
  const jti = bar === -1 ? value : value.slice(0, bar);
  if (!sessionJtiPattern.test(jti)) return null;
  return { jti, jwt: bar === -1 ? null : value.slice(bar + 1) };
}

/** `key`: the 32 bytes of `edgeKeySet.session`. `kid` goes into the header, so that a rotated key is found. */
export function mintSessionJwt(key: Uint8Array, kid: string, claims: SessionClaims): Promise<string> {
  return signHs256(claims, key, kid);
}

/**
 * Checks signature, instance and times. `keyOf` returns the session key of a `kid`, or `null`. The caller checks the
 * binding and the session's expiry, which have other consequences. `allowExpired` lets the service renew a JWT whose five
 * minutes are over.
 */
export async function verifySessionJwt(
  jwt: string,
  keyOf: (kid: string) => Uint8Array | null,
  instanceId: string,
  nowMs: number,
  allowExpired = false,
): Promise<Result<SessionClaims, SessionTokenProblem>> {
  try {
    const claims = await openHs256(jwt, keyOf);
    if (!isSessionClaims(claims) || claims.sub !== instanceId) return failed('malformed');
    const isOver = claims.exp <= Math.floor(nowMs / 1000) - CLOCK_TOLERANCE_SECONDS;
    return isOver && !allowExpired ? failed('expired') : ok(claims);
  } catch (error) {
    return failed(error instanceof ForeignJwt ? 'bad-signature' : 'malformed');
  }
}

function isSessionClaims(payload: object): payload is SessionClaims {
  const claims = payload as Partial<Record<keyof SessionClaims, unknown>>;
  return (
    typeof claims.jti === 'string' &&
    sessionJtiPattern.test(claims.jti) &&
    typeof claims.sub === 'string' &&
    typeof claims.iat === 'number' &&
    typeof claims.exp === 'number' &&
    typeof claims.sxp === 'number' &&
    typeof claims.risk === 'number' &&
    (claims.det === undefined || typeof claims.det === 'number') &&
    typeof claims.bnd === 'string'
  );
}
