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
import type { ServiceCall } from './service-call.ts';

/** A foreign `kid` may make this isolate read the key table again, but no more often than this. */
const KEY_REREAD_MILLISECONDS = 10_000;
/** A token of ours is below 500 characters. */
const CLIENT_JWT_MAX_CHARS = 2048;
let lastReread = 0;

type EdgeRequest = Pick<ServiceCall, 'store' | 'serviceUrl' | 'request' | 'nowMs'>;

/** The active instance that the client JWT of the request belongs to. */
export async function authenticateEdge(call: EdgeRequest): Promise<StoredInstance> {
  const token = bearerToken(call.request);
  if (token.length > CLIENT_JWT_MAX_CHARS) throw refused('is too long to be one of ours');
  const { jti, sub } = await verifiedClaims(call, token);
  const known = await clientJwtById(call.store, jti);
  if (known?.instance.id !== sub) throw refused('is not registered');
  const { registered, instance } = known;
  if (registered.revokedAt !== null) throw refused('was revoked');
  if (!instance.active) throw refused('belongs to an instance that is gone');
  // The register has the moment of issue in milliseconds; `iat` has it in seconds only.
  if (instance.clientJwtsRevokedBefore !== null && registered.issuedAt <= instance.clientJwtsRevokedBefore) {
    throw refused('was issued before the instance revoked its JWTs');
  }
  return instance;
}

async function verifiedClaims(call: EdgeRequest, token: string): Promise<{ jti: string; sub: string }> {
  const { store, serviceUrl, nowMs } = call;
  try {
    const { kid, alg } = decodeProtectedHeader(token);
    if (alg !== 'EdDSA' || kid === undefined) throw refused('is of another kind');
    let key = (await verificationKeys(store, 'client-jwt', nowMs)).find((one) => one.kid === kid);
    if (!key && nowMs - lastReread >= KEY_REREAD_MILLISECONDS) {
      lastReread = nowMs;
      key = (await verificationKeys(store, 'client-jwt', nowMs, true)).find((one) => one.kid === kid);
    }
    if (!key) throw refused('is signed by an unknown key');
    const { payload } = await jwtVerify(token, key.publicKey, {
      algorithms: ['EdDSA'],
      issuer: serviceUrl,
      audience: CLIENT_JWT_AUDIENCE,
      currentDate: new Date(nowMs),
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
