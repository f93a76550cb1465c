/**
 * The JWT inside the session cookie `{jti}|{jwt}`. The service mints it and the edge checks it without a lookup: HS256
 * under the instance's session key, valid for five minutes at most, bound to the visitor's network and user agent. The
 * session lasts longer (`sxp`), because its JWT is renewed.
 */
import { errors, type JWTPayload } from 'jose';
import { type CookieKey, isForeign, signCookieJwt, verifyCookieJwt } from '../bytes/cookie-jwt.ts';
import { failed, ok, type Result } from '../result.ts';
import type { PaidWork } from './pace.ts';

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
  /** `PaidWork`. Absent: the session is not metered. */
  pac?: PaidWorkClaim;
}

/** JWTs of an upgrade's first five minutes have three numbers, and an advance in every window. */
export type PaidWorkClaim = readonly [window: number, before: number, now: number, worked?: number, advanced?: number];

export function paidWorkOf([
  window,
  before,
  now,
  worked = 0,
  advanced = Number.MAX_SAFE_INTEGER,
]: PaidWorkClaim): PaidWork {
  return { window, before, now, worked, advanced };
}

export function paidWorkClaim({ window, before, now, worked, advanced }: PaidWork): PaidWorkClaim {
  return [window, before, now, worked, advanced];
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

/** `key`: `edgeKeySet.session`. `kid` goes into the header, so that a rotated key is found. */
export function mintSessionJwt(key: CookieKey, kid: string, claims: SessionClaims): Promise<string> {
  return signCookieJwt(claims, key, kid);
}

/**
 * Checks signature, instance and times. `keyOf` returns the session key of a `kid`, or `null`. The caller checks the
 * binding and the session's expiry, which have other consequences. `allowExpired` lets the service renew a JWT whose five
 * minutes are over.
 */
export async function verifySessionJwt(
  jwt: string,
  keyOf: (kid: string) => CookieKey | null,
  instanceId: string,
  nowMs: number,
  allowExpired = false,
): Promise<Result<SessionClaims, SessionTokenProblem>> {
  try {
    const claims = await verifyCookieJwt(jwt, keyOf, instanceId, allowExpired ? 0 : nowMs, CLOCK_TOLERANCE_SECONDS);
    return isSessionClaims(claims) ? ok(claims) : failed('malformed');
  } catch (error) {
    if (error instanceof errors.JWTExpired) return failed('expired');
    return failed(isForeign(error) ? 'bad-signature' : 'malformed');
  }
}

function isSessionClaims(payload: JWTPayload): payload is JWTPayload & SessionClaims {
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
    typeof claims.bnd === 'string' &&
    (claims.pac === undefined || isPaidWork(claims.pac))
  );
}

function isPaidWork(value: unknown): value is PaidWorkClaim {
  return Array.isArray(value) && value.length >= 3 && value.every((part) => Number.isSafeInteger(part) && part >= 0);
}
