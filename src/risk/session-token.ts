/**
 * The JWT inside the session cookie `{jti}|{jwt}` (design 6). The service mints it, the edge checks
 * it without a look-up: HS256 under the instance's session key, five minutes at most, bound to the
 * visitor's network and user agent. The session itself outlives it (`sxp`) by being refreshed.
 */
import { JWSSignatureVerificationFailed } from 'jose/errors';
import { UnknownKey, openHs256, signHs256 } from '../bytes/hs256-jwt.ts';

/** Life of one JWT, seconds: how long a score or a shared cookie can be stale. */
export const SESSION_JWT_SECONDS = 300;
/** Clocks of two Workers differ; seconds. */
const CLOCK_TOLERANCE_SECONDS = 5;
/** `jti|jwt`: the reader's charset for a jti. */
export const sessionJtiPattern = /^[A-Za-z0-9._-]{1,256}$/;

export interface SessionClaims {
  jti: string;
  /** Instance the session belongs to. */
  sub: string;
  /** Epoch seconds: this JWT issued, this JWT over, the whole session over. */
  iat: number;
  exp: number;
  sxp: number;
  /** Risk score, 0 to 1. */
  risk: number;
  /** `detectorBits` of the score's parts (`contract/risk.ts`). */
  det?: number;
  /** `visitorBinding` of the visitor it was minted for. */
  bnd: string;
}

/** `expired`: everything right but its time. */
export type SessionTokenProblem = 'malformed' | 'bad-signature' | 'expired';

/** A cookie value taken apart; a bare jti is tolerated and has no JWT. `null`: not a session cookie. */
export function splitSessionCookie(value: string): { jti: string; jwt: string | null } | null {
  const bar = value.indexOf('|');
  const jti = bar === -1 ? value : value.slice(0, bar);
  if (!sessionJtiPattern.test(jti)) return null;
  return { jti, jwt: bar === -1 ? null : value.slice(bar + 1) };
}

/** `key`: the 32 bytes of `edgeKeySet.session`; `kid` goes into the header, so that a rotated key is found. */
export function mintSessionJwt(key: Uint8Array, kid: string, claims: SessionClaims): Promise<string> {
  return signHs256(claims, key, kid);
}

/**
 * Checks signature, instance and times. `keyOf` answers the session key of a `kid`, or `null`.
 * Binding and session expiry are the caller's to judge: they have different consequences.
 * `allowExpired` lets the service refresh a JWT whose five minutes are over.
 */
export async function verifySessionJwt(
  jwt: string,
  keyOf: (kid: string) => Uint8Array | null,
  instanceId: string,
  now: number,
  allowExpired = false,
): Promise<SessionClaims | SessionTokenProblem> {
  try {
    const claims = await openHs256(jwt, keyOf);
    if (!isSessionClaims(claims) || claims.sub !== instanceId) return 'malformed';
    const isOver = claims.exp <= Math.floor(now / 1000) - CLOCK_TOLERANCE_SECONDS;
    return isOver && !allowExpired ? 'expired' : claims;
  } catch (error) {
    const isForeign = error instanceof JWSSignatureVerificationFailed || error instanceof UnknownKey;
    return isForeign ? 'bad-signature' : 'malformed';
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
