/**
 * The JWTs in the session and clearance cookies. jose signs and verifies them, with HS256 only, under the key that the
 * header names. `subject` is the instance. Callers judge what else the claims say.
 */
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';

export type CookieKey = CryptoKey | Uint8Array;

/** jose also reads a signature with blanks, padding or spare bits. A JWT is remembered by its text, so it has one only. */
const ONE_SPELLING = /\.[\w-]{42}[AEIMQUYcgkosw048]$/;

export function signCookieJwt(claims: object, key: CookieKey, kid: string): Promise<string> {
  return new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid }).sign(key);
}

/**
 * The claims of a JWT that has not expired at `nowMs`; 0 reads expired ones too. `keyOf` returns `null` for an unknown
 * key. @throws when the JWT is not valid, see `isForeign` and `errors.JWTExpired`.
 */
export async function verifyCookieJwt(
  jwt: string,
  keyOf: (kid: string) => CookieKey | null,
  subject: string,
  nowMs: number,
  toleranceSeconds = 0,
): Promise<JWTPayload> {
  if (!ONE_SPELLING.test(jwt)) throw new errors.JWTInvalid('another spelling of a signature');
  const keyOfHeader = ({ kid }: { kid?: unknown }): CookieKey => {
    const key = typeof kid === 'string' ? keyOf(kid) : null;
    if (key === null) throw new errors.JWKSNoMatchingKey();
    return key;
  };
  const { payload } = await jwtVerify(jwt, keyOfHeader, {
    algorithms: ['HS256'],
    subject,
    currentDate: new Date(nowMs),
    clockTolerance: toleranceSeconds,
  });
  return payload;
}

/** The JWT names a key that does not exist, or no longer does, or was not signed with it. */
export function isForeign(error: unknown): boolean {
  return error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWSSignatureVerificationFailed;
}
