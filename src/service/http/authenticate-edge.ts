/**
 * Which edge calls (design 4). The client JWT is checked against every signing key ever kept; then its
 * `jti` must be registered and not revoked, its instance active, and its issue after the
 * instance's revocation time. Everything else is 401, and no data was read by then. Asked at every call, in one
 * query: a memo would let a revoked JWT in.
 */
import { decodeProtectedHeader, errors, jwtVerify } from 'jose';
import { CLIENT_JWT_AUDIENCE } from '../../contract/edge/edge-api.ts';
import { clientJwtById } from '../../store/d1/client-jwts.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { verificationKeys } from '../../store/keys/signing-keys.ts';
import { ApiError } from './api-error.ts';
import { bearerToken } from './bearer-token.ts';

/** A foreign `kid` may make this isolate read the key table again, but no more often than this. */
const KEY_REREAD_MILLISECONDS = 10_000;
/** A token of ours is below 500 characters. */
const CLIENT_JWT_MAX_CHARS = 2048;
let lastReread = 0;

export async function authenticateEdge(
  env: ServiceEnv,
  request: Request,
  now: number,
): Promise<{ instance: StoredInstance; clientJwtId: string }> {
  const token = bearerToken(request);
  if (token.length > CLIENT_JWT_MAX_CHARS) throw refused('is too long to be one of ours');
  const { jti, sub } = await verifiedClaims(env, token, now);
  const known = await clientJwtById(env, jti);
  if (known?.instance.id !== sub) throw refused('is not registered');
  const { registered, instance } = known;
  if (registered.revokedAt !== null) throw refused('was revoked');
  if (!instance.active) throw refused('belongs to an instance that is gone');
  // The register has the moment of issue in milliseconds; `iat` has it in seconds only.
  if (instance.clientJwtsRevokedBefore !== null && registered.issuedAt <= instance.clientJwtsRevokedBefore) {
    throw refused('was issued before the instance revoked its JWTs');
  }
  return { instance, clientJwtId: jti };
}

async function verifiedClaims(env: ServiceEnv, token: string, now: number): Promise<{ jti: string; sub: string }> {
  try {
    const { kid, alg } = decodeProtectedHeader(token);
    if (alg !== 'EdDSA' || kid === undefined) throw refused('is of another kind');
    let key = (await verificationKeys(env, 'client-jwt', now)).find((one) => one.kid === kid);
    if (!key && now - lastReread >= KEY_REREAD_MILLISECONDS) {
      lastReread = now;
      key = (await verificationKeys(env, 'client-jwt', now, true)).find((one) => one.kid === kid);
    }
    if (!key) throw refused('is signed by an unknown key');
    const { payload } = await jwtVerify(token, key.publicKey, {
      algorithms: ['EdDSA'],
      issuer: env.SERVICE_URL,
      audience: CLIENT_JWT_AUDIENCE,
      currentDate: new Date(now),
      requiredClaims: ['sub', 'jti', 'iat', 'exp'],
    });
    return { jti: payload.jti as string, sub: payload.sub as string };
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (error instanceof errors.JWTExpired) throw new ApiError('API.KEY_EXPIRED', 'The client JWT has expired');
    if (error instanceof errors.JOSEError || error instanceof TypeError) throw refused('cannot be verified');
    throw error;
  }
}

function refused(why: string): ApiError {
  return new ApiError('API.UNAUTHORIZED', `The client JWT ${why}`);
}
