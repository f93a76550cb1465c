/** Who calls: an edge with its client JWT, or a person with a session of the console. */
import { failed, ok, type Result } from '../../result.ts';
import type { CredentialError, RateLimitError, SignInError } from './service-error.ts';
import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import { CLIENT_JWT_AUDIENCE } from '../../contract/edge/edge-api.ts';
import { clientJwtById } from '../../store/d1/client-jwts.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { verificationKeys } from '../../store/keys/signing-keys.ts';
import type { ServiceCall } from './service-call.ts';
import { isSeenLongAgo, markSeen, type SignedInUser, signedInUser } from '../../store/d1/console-sessions.ts';
import { RateLimit } from './rate-limit.ts';
import { isFromConsole } from './same-origin.ts';
import { sessionSecret } from './session-cookie.ts';

/**
 * The bearer token of the `Authorization` header (RFC 6750). Anything else is refused before a signature is checked.
 */
export function bearerToken(request: Request): Result<string, CredentialError> {
  const value = request.headers.get('authorization')?.trim() ?? '';
  if (value === '') return failed({ kind: 'authorization-missing' });
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(value)?.[1];
  return token === undefined ? failed({ kind: 'authorization-malformed' }) : ok(token);
}

/** An unknown `kid` makes this isolate read the key table again, but at most this often. */
const KEY_REREAD_MS = 10_000;
/** A client JWT has fewer than 500 characters. */
const CLIENT_JWT_MAX_CHARS = 2048;
let lastRereadMs = 0;

type EdgeRequest = Pick<ServiceCall, 'store' | 'serviceUrl' | 'request' | 'nowMs'>;

/** Who calls: an edge is known by its client JWT. */
export interface CallingEdge {
  /** Active. */
  instance: StoredInstance;
  /** The `jti` of its client JWT. */
  clientJwtId: string;
}

/**
 * Which edge calls. Its client JWT must have a signature of this deployment, be registered and not revoked, belong to
 * an active instance, and be newer than the instance's revocation time. Nothing else is read before. Every call checks
 * all of this, in one query: a cached result would let a revoked JWT in. The edge that the client JWT of the request
 * belongs to.
 */
export async function authenticateEdge(call: EdgeRequest): Promise<Result<CallingEdge, CredentialError>> {
  const token = bearerToken(call.request);
  if (!token.ok) return token;
  if (token.value.length > CLIENT_JWT_MAX_CHARS) return refused('is too long');
  const claims = await verifiedClaims(call, token.value);
  if (!claims.ok) return claims;
  const known = await clientJwtById(call.store, claims.value.jti);
  if (known?.instance.id !== claims.value.sub) return refused('is not registered');
  const { registered, instance } = known;
  if (registered.revokedAt !== null) return refused('was revoked');
  if (!instance.active) return refused('belongs to a deleted instance');
  // The table has the time of issue in milliseconds; the claim `iat` has seconds only.
  if (instance.clientJwtsRevokedBefore !== null && registered.issuedAt <= instance.clientJwtsRevokedBefore) {
    return refused('was issued before the instance revoked its client JWTs');
  }
  return ok({ instance, clientJwtId: registered.jti });
}

async function verifiedClaims(
  { store, serviceUrl, nowMs }: EdgeRequest,
  token: string,
): Promise<Result<{ jti: string; sub: string }, CredentialError>> {
  try {
    const { kid, alg } = decodeProtectedHeader(token);
    if (alg !== 'EdDSA' || kid === undefined) return refused('is not signed with EdDSA');
    let key = (await verificationKeys(store, 'client-jwt', nowMs)).find((one) => one.kid === kid);
    if (!key && nowMs - lastRereadMs >= KEY_REREAD_MS) {
      lastRereadMs = nowMs;
      key = (await verificationKeys(store, 'client-jwt', nowMs, true)).find((one) => one.kid === kid);
    }
    if (!key) return refused('is signed with an unknown key');
    const { payload } = await jwtVerify(token, key.publicKey, {
      algorithms: ['EdDSA'],
      issuer: serviceUrl,
      audience: CLIENT_JWT_AUDIENCE,
      currentDate: new Date(nowMs),
      requiredClaims: ['sub', 'jti', 'iat', 'exp'],
    });
    return ok({ jti: payload.jti as string, sub: payload.sub as string });
  } catch (error) {
    if (error instanceof errors.JWTExpired) return failed({ kind: 'client-jwt-expired' });
    if (error instanceof errors.JOSEError || error instanceof TypeError) return refused('cannot be verified');
    throw error;
  }
}

/** `why` completes the sentence "The client JWT …". */
function refused(why: string): { ok: false; error: CredentialError } {
  return failed({ kind: 'client-jwt-refused', why });
}

/**
 * Per minute and session, in one isolate; far more than a page of the console asks. It is counted before the database is
 * read, so the cookie of a session that has ended costs no more than that of an open one.
 */
const CALLS_PER_MINUTE_MAX = 3000;
const calls = new RateLimit(CALLS_PER_MINUTE_MAX, 'Too many calls in this session');

type SessionCall = Pick<ServiceCall, 'store' | 'signIn' | 'request' | 'nowMs' | 'waitUntil'>;

/**
 * Who is signed in to the console. The row of the session, the user and the account are read from D1 at every call, so
 * that signing out, removing a user and changing a role count from the next call on. `null`: the request has no cookie
 * of a session.
 */
export async function authenticateSession(
  call: SessionCall,
): Promise<Result<SignedInUser, SignInError | RateLimitError> | null> {
  const { store, signIn, request, nowMs } = call;
  if (signIn.console === null) return null;
  const secret = await sessionSecret(store, request, signIn.console);
  if (secret === null) return null;
  if (!isFromConsole(request, signIn.console)) {
    return failed({ kind: 'not-from-console', origin: signIn.console.origin });
  }
  const limited = calls.take(secret, nowMs);
  if (limited !== null) return failed(limited);
  const user = await signedInUser(store, secret, nowMs);
  if (user === null) return failed({ kind: 'signed-out' });
  if (isSeenLongAgo(user.session, nowMs)) call.waitUntil(markSeen(store, user.session, nowMs));
  return ok(user);
}
