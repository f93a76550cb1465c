/**
 * Issues the credential that an edge Worker calls the service with: an EdDSA JWT whose `sub` is the instance. It is
 * registered before it is returned, so that it can be listed and revoked.
 */
import { SignJWT } from 'jose';
import { CLIENT_JWT_AUDIENCE } from '../../contract/edge/edge-api.ts';
import type { StoreEnv } from '../binding.ts';
import { insertClientJwt, type NewClientJwt } from './client-jwts.ts';
import { randomToken } from '../keys/master-key.ts';
import { signingKey } from '../keys/signing-keys.ts';

const WEEK_SECONDS = 7 * 24 * 3600;
/** The meaning of "0 weeks": practically unlimited, but a real `exp` that every JWT library understands. */
const UNLIMITED_SECONDS = 100 * 365 * 24 * 3600;
export const CLIENT_JWT_WEEKS_MAX = 5200;

interface IssuedClientJwt {
  clientJwt: string;
  jti: string;
  /** Epoch milliseconds. */
  issuedAt: number;
  expiresAt: number;
}

/** `expiresInWeeks`: 0 to 5200; 0 is 100 years. */
export async function issueClientJwt(
  env: StoreEnv,
  serviceUrl: string,
  instanceId: string,
  expiresInWeeks: number,
  nowMs: number,
): Promise<IssuedClientJwt> {
  const { record, clientJwt } = await signedClientJwt(env, serviceUrl, instanceId, expiresInWeeks, nowMs);
  await insertClientJwt(env, record);
  return { clientJwt, jti: record.jti, issuedAt: record.issuedAt, expiresAt: record.expiresAt };
}

/** Signed, but not registered: it is valid only once `record` is inserted. */
export async function signedClientJwt(
  env: StoreEnv,
  serviceUrl: string,
  instanceId: string,
  expiresInWeeks: number,
  nowMs: number,
): Promise<{ record: NewClientJwt; clientJwt: string }> {
  const key = await signingKey(env, 'client-jwt', nowMs);
  const issuedSeconds = Math.floor(nowMs / 1000);
  const expiresSeconds = issuedSeconds + (expiresInWeeks === 0 ? UNLIMITED_SECONDS : expiresInWeeks * WEEK_SECONDS);
  const jti = randomToken(16);
  const clientJwt = await new SignJWT()
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: key.kid })
    .setIssuer(serviceUrl)
    .setSubject(instanceId)
    .setAudience(CLIENT_JWT_AUDIENCE)
    .setJti(jti)
    .setIssuedAt(issuedSeconds)
    .setExpirationTime(expiresSeconds)
    .sign(key.privateKey);
  return { record: { jti, instanceId, issuedAt: nowMs, expiresAt: expiresSeconds * 1000 }, clientJwt };
}
