/**
 * Register of issued Protect client JWTs: for which instance, until when, and whether revoked. It stores the `jti`,
 * never the token.
 */
import type { D1PreparedStatement } from '@cloudflare/workers-types';
import type { StoreEnv } from '../binding.ts';
import { type StoredInstance, storedInstance } from './instances.ts';
import { fromRow, type Row } from './rows.ts';

export interface ClientJwtRecord {
  jti: string;
  instanceId: string;
  /** Epoch milliseconds. */
  issuedAt: number;
  expiresAt: number;
  revokedAt: number | null;
}

const clientJwtRecord = fromRow<ClientJwtRecord>({
  jti: 'plain',
  instanceId: 'plain',
  issuedAt: 'plain',
  expiresAt: 'plain',
  revokedAt: 'plain',
});

export type NewClientJwt = Omit<ClientJwtRecord, 'revokedAt'>;

export async function insertClientJwt(env: StoreEnv, record: NewClientJwt): Promise<void> {
  await clientJwtInsertion(env, record).run();
}

/** The statement alone, for a batch. */
export function clientJwtInsertion(env: StoreEnv, record: NewClientJwt): D1PreparedStatement {
  return env.DB.prepare('INSERT INTO client_jwts (jti, instance_id, issued_at, expires_at) VALUES (?, ?, ?, ?)').bind(
    record.jti,
    record.instanceId,
    record.issuedAt,
    record.expiresAt,
  );
}

/** A JWT and its instance, active or not, in one query, because every call of an edge needs both. */
export async function clientJwtById(
  env: StoreEnv,
  jti: string,
): Promise<{ registered: ClientJwtRecord; instance: StoredInstance } | null> {
  const row = await env.DB.prepare(
    `SELECT jwt.*, instance.* FROM client_jwts AS jwt JOIN protect_instances AS instance ON instance.id = jwt.instance_id
     WHERE jwt.jti = ?`,
  )
    .bind(jti)
    .first<Row>();
  return row ? { registered: clientJwtRecord(row), instance: storedInstance(row) } : null;
}

/** Issued JWTs of an instance, newest first, including expired and revoked ones. */
export async function clientJwtsOfInstance(
  env: StoreEnv,
  instanceId: string,
  limit: number,
): Promise<ClientJwtRecord[]> {
  const { results } = await env.DB.prepare(
    'SELECT * FROM client_jwts WHERE instance_id = ? ORDER BY issued_at DESC, jti LIMIT ?',
  )
    .bind(instanceId, limit)
    .all<Row>();
  return results.map(clientJwtRecord);
}

/** Returns whether the instance has this JWT. Revoking it again keeps the first time. */
export async function revokeClientJwt(env: StoreEnv, instanceId: string, jti: string, nowMs: number): Promise<boolean> {
  const result = await env.DB.prepare(
    'UPDATE client_jwts SET revoked_at = COALESCE(revoked_at, ?) WHERE instance_id = ? AND jti = ?',
  )
    .bind(nowMs, instanceId, jti)
    .run();
  return result.meta.changes === 1;
}

