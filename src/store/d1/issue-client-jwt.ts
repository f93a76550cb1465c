/**
 * Issues the one credential an edge Worker lives on (design 4): an EdDSA JWT whose `sub` is the
 * instance. Registered before it is handed out, so that it can be listed and revoked.
 */
import { SignJWT } from 'jose';
import { CLIENT_JWT_AUDIENCE } from '../../contract/edge/edge-api.ts';
import type { StoreEnv } from '../binding.ts';
import { insertClientJwt } from './client-jwts.ts';
import { randomToken } from '../keys/master-key.ts';
import { signingKey } from '../keys/signing-keys.ts';

const WEEK_SECONDS = 7 * 24 * 3600;
/** What "0 weeks" means: effectively unlimited, yet a real `exp` that every checker understands. */
const UNLIMITED_SECONDS = 100 * 365 * 24 * 3600;
export const CLIENT_JWT_WEEKS_MAX = 5200;

export interface IssuedClientJwt {
  clientJwt: string;
  jti: string;
  /** Epoch milliseconds. */
  issuedAt: number;
  expiresAt: number;
}

/** @param expiresInWeeks 0 to 5200; 0 is 100 years. @param nowMs epoch milliseconds. */
export async function issueClientJwt(
  env: StoreEnv,
  serviceUrl: string,
  instanceId: string,
  expiresInWeeks: number,
  nowMs: number,
): Promise<IssuedClientJwt> {
  const key = await signingKey(env, 'client-jwt', nowMs);
  const issuedSeconds = Math.floor(nowMs / 1000);
  const expiresSeconds = issuedSeconds + (expiresInWeeks === 0 ? UNLIMITED_SECONDS : expiresInWeeks * WEEK_SECONDS);
  const jti = randomToken(16);
  await insertClientJwt(env, { jti, instanceId, issuedAt: nowMs, expiresAt: expiresSeconds * 1000 });
  const clientJwt = await new SignJWT()
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: key.kid })
    .setIssuer(serviceUrl)
    .setSubject(instanceId)
    .setAudience(CLIENT_JWT_AUDIENCE)
    .setJti(jti)
    .setIssuedAt(issuedSeconds)
    .setExpirationTime(expiresSeconds)
    .sign(key.privateKey);
  return { clientJwt, jti, issuedAt: nowMs, expiresAt: expiresSeconds * 1000 };
}
