/**
 * Passkeys of team members in D1: public keys only. A passkey belongs to a person, that is an email address, in every
 * account they are a member of. It is deleted with the last membership.
 */
import { failed, ok, type Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';
import { fromRow, type Row } from './rows.ts';

export interface Passkey {
  /** Base64url. */
  credentialId: string;
  email: string;
  /** What the person calls it. */
  name: string;
  /** JWK. */
  publicKey: JsonWebKey;
  /** Signatures that the authenticator counted; always 0 where it does not count. */
  counter: number;
  createdAt: number;
  lastUsedAt: number | null;
}

const passkeyRecord = fromRow<Passkey>({
  credentialId: 'plain',
  email: 'plain',
  name: 'plain',
  publicKey: 'json',
  counter: 'plain',
  createdAt: 'plain',
  lastUsedAt: 'plain',
});

export const PASSKEYS_PER_PERSON_MAX = 20;

export async function addPasskey(
  env: StoreEnv,
  passkey: Omit<Passkey, 'createdAt' | 'lastUsedAt'>,
  nowMs: number,
): Promise<Result<Passkey, 'known' | 'too-many'>> {
  const { meta } = await env.DB.prepare(
    `INSERT INTO passkeys (credential_id, email, name, public_key, counter, created_at)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE (SELECT COUNT(*) FROM passkeys WHERE email = ?2) < ?7
       AND EXISTS (SELECT 1 FROM users WHERE email = ?2)
     ON CONFLICT DO NOTHING`,
  )
    .bind(
      passkey.credentialId,
      passkey.email,
      passkey.name,
      JSON.stringify(passkey.publicKey),
      passkey.counter,
      nowMs,
      PASSKEYS_PER_PERSON_MAX,
    )
    .run();
  if (meta.changes === 1) return ok({ ...passkey, createdAt: nowMs, lastUsedAt: null });
  return failed((await passkeyById(env, passkey.credentialId)) ? 'known' : 'too-many');
}

export async function passkeyById(env: StoreEnv, credentialId: string): Promise<Passkey | null> {
  const row = await env.DB.prepare('SELECT * FROM passkeys WHERE credential_id = ?').bind(credentialId).first<Row>();
  return row ? passkeyRecord(row) : null;
}

/** Oldest first. */
export async function passkeysOfPerson(env: StoreEnv, email: string): Promise<Passkey[]> {
  const { results } = await env.DB.prepare(
    'SELECT * FROM passkeys WHERE email = ? ORDER BY created_at, credential_id LIMIT ?',
  )
    .bind(email, PASSKEYS_PER_PERSON_MAX)
    .all<Row>();
  return results.map(passkeyRecord);
}

/**
 * Records a use. Returns `false` when the counter does not rise: a copy of the authenticator has signed. An
 * authenticator that does not count sends 0 each time.
 */
export async function countPasskeyUse(
  env: StoreEnv,
  credentialId: string,
  counter: number,
  nowMs: number,
): Promise<boolean> {
  const { meta } = await env.DB.prepare(
    `UPDATE passkeys SET counter = ?2, last_used_at = ?3
     WHERE credential_id = ?1 AND (counter < ?2 OR (counter = 0 AND ?2 = 0))`,
  )
    .bind(credentialId, counter, nowMs)
    .run();
  return meta.changes === 1;
}

/** Returns whether the person has this passkey. */
export async function renamePasskey(
  env: StoreEnv,
  email: string,
  credentialId: string,
  name: string,
): Promise<boolean> {
  const { meta } = await env.DB.prepare('UPDATE passkeys SET name = ? WHERE credential_id = ? AND email = ?')
    .bind(name, credentialId, email)
    .run();
  return meta.changes === 1;
}

/** `mayBeLast` is for a person who has just proved who they are without a passkey. */
export async function removePasskey(
  env: StoreEnv,
  email: string,
  credentialId: string,
  mayBeLast: boolean,
): Promise<Result<null, 'not-found' | 'last'>> {
  const { meta } = await env.DB.prepare(
    `DELETE FROM passkeys WHERE credential_id = ?1 AND email = ?2
     AND (?3 = 1 OR EXISTS (SELECT 1 FROM passkeys WHERE email = ?2 AND credential_id <> ?1))`,
  )
    .bind(credentialId, email, mayBeLast ? 1 : 0)
    .run();
  if (meta.changes === 1) return ok(null);
  return failed((await passkeyById(env, credentialId))?.email === email ? 'last' : 'not-found');
}
