/**
 * Client JWTs, the credentials that edge Workers call the service with: EdDSA JWTs whose `sub` is the instance. The
 * register has for which instance, until when, and whether revoked. It stores the `jti`, never the token.
 */
import { statement } from '../sql.ts';
import type { D1PreparedStatement } from '@cloudflare/workers-types';
import type { StoreEnv } from '../binding.ts';
import { storedInstance, type StoredInstance } from './instances.ts';
import { fromRow, plain, type Row } from './rows.ts';
import { SignJWT } from 'jose';
import { CLIENT_JWT_AUDIENCE } from '../../contract/edge/edge-api.ts';
import { randomToken } from '../keys/master-key.ts';
import { signingKey } from '../keys/signing-keys.ts';

const clientJwtRecord = fromRow({
  jti: plain<string>(),
  instanceId: plain<string>(),
  /** Epoch milliseconds. */
  issuedAt: plain<number>(),
  expiresAt: plain<number>(),
  revokedAt: plain<number | null>(),
});
export type ClientJwtRecord = ReturnType<typeof clientJwtRecord>;

export type NewClientJwt = Omit<ClientJwtRecord, 'revokedAt'>;

export async function insertClientJwt(env: StoreEnv, record: NewClientJwt): Promise<void> {
  await clientJwtInsertion(env, record).run();
}

/** The statement alone, for a batch. */
export function clientJwtInsertion(env: StoreEnv, record: NewClientJwt): D1PreparedStatement {
  return statement(env)`
    INSERT INTO client_jwts (jti, instance_id, issued_at, expires_at) VALUES (${record.jti}, ${record.instanceId},
      ${record.issuedAt}, ${record.expiresAt})`;
}

/** A JWT and its instance, active or not, in one query, because every call of an edge needs both. */
export async function clientJwtById(
  env: StoreEnv,
  jti: string,
): Promise<{ registered: ClientJwtRecord; instance: StoredInstance } | null> {
  const row = await statement(env)`
    SELECT jwt.*, instance.* FROM client_jwts AS jwt JOIN protect_instances AS instance
      ON instance.id = jwt.instance_id
    WHERE jwt.jti = ${jti}`.first<Row>();
  return row ? { registered: clientJwtRecord(row), instance: storedInstance(row) } : null;
}

/** Issued JWTs of an instance, newest first, including expired and revoked ones. */
export async function clientJwtsOfInstance(
  env: StoreEnv,
  instanceId: string,
  limit: number,
): Promise<ClientJwtRecord[]> {
  const { results } = await statement(env)`
    SELECT * FROM client_jwts WHERE instance_id = ${instanceId} ORDER BY issued_at DESC, jti LIMIT ${limit}`.all<Row>();
  return results.map(clientJwtRecord);
}

/** Returns whether the instance has this JWT. Revoking it again keeps the first time. */
export async function revokeClientJwt(env: StoreEnv, instanceId: string, jti: string, nowMs: number): Promise<boolean> {
  const result = await statement(env)`
    UPDATE client_jwts SET revoked_at = COALESCE(revoked_at, ${nowMs})
    WHERE instance_id = ${instanceId} AND jti = ${jti}`.run();
  return result.meta.changes === 1;
}

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

/** Registers the JWT before returning it, so that it can be revoked. `expiresInWeeks`: 0 to 5200; 0 is 100 years. */
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
