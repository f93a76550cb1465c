/**
 * Passkeys of team members in D1: public keys only. A passkey belongs to a person, that is an email address, in every
 * account they are a member of. It is deleted with the last membership.
 */
import { statement } from '../sql.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';
import { fromJson, fromRow, plain, type Row } from './rows.ts';

const passkeyRecord = fromRow({
  /** Base64url. */
  credentialId: plain<string>(),
  email: plain<string>(),
  /** What the person calls it. */
  name: plain<string>(),
  /** JWK. */
  publicKey: fromJson<JsonWebKey>(),
  /** Signatures that the authenticator counted; always 0 where it does not count. */
  counter: plain<number>(),
  createdAt: plain<number>(),
  lastUsedAt: plain<number | null>(),
});
export type Passkey = ReturnType<typeof passkeyRecord>;

export const PASSKEYS_PER_PERSON_MAX = 20;

export async function addPasskey(
  env: StoreEnv,
  passkey: Omit<Passkey, 'createdAt' | 'lastUsedAt'>,
  nowMs: number,
): Promise<Result<Passkey, 'known' | 'too-many'>> {
  const { meta } = await statement(env)`
    INSERT INTO passkeys (credential_id, email, name, public_key, counter, created_at)
    SELECT ${passkey.credentialId}, ${passkey.email}, ${passkey.name}, ${JSON.stringify(passkey.publicKey)},
      ${passkey.counter}, ${nowMs} WHERE (SELECT COUNT(*) FROM passkeys
      WHERE email = ${passkey.email}) < ${PASSKEYS_PER_PERSON_MAX}
      AND EXISTS (SELECT 1 FROM users WHERE email = ${passkey.email})
    ON CONFLICT DO NOTHING`.run();
  if (meta.changes === 1) return ok({ ...passkey, createdAt: nowMs, lastUsedAt: null });
  return failed((await passkeyById(env, passkey.credentialId)) ? 'known' : 'too-many');
}

export async function passkeyById(env: StoreEnv, credentialId: string): Promise<Passkey | null> {
  const row = await statement(env)`SELECT * FROM passkeys WHERE credential_id = ${credentialId}`.first<Row>();
  return row ? passkeyRecord(row) : null;
}

/** Oldest first. */
export async function passkeysOfPerson(env: StoreEnv, email: string): Promise<Passkey[]> {
  const { results } = await statement(env)`
    SELECT * FROM passkeys WHERE email = ${email} ORDER BY created_at, credential_id
      LIMIT ${PASSKEYS_PER_PERSON_MAX}`.all<Row>();
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
  const { meta } = await statement(env)`
    UPDATE passkeys SET counter = ${counter}, last_used_at = ${nowMs}
    WHERE credential_id = ${credentialId} AND (counter < ${counter} OR (counter = 0 AND ${counter} = 0))`.run();
  return meta.changes === 1;
}

/** Returns whether the person has this passkey. */
export async function setPasskeyName(
  env: StoreEnv,
  email: string,
  credentialId: string,
  name: string,
): Promise<boolean> {
  const { meta } = await statement(env)`
    UPDATE passkeys SET name = ${name} WHERE credential_id = ${credentialId} AND email = ${email}`.run();
  return meta.changes === 1;
}

/** `mayBeLast` is for a person who has just proved who they are without a passkey. */
export async function deletePasskey(
  env: StoreEnv,
  email: string,
  credentialId: string,
  mayBeLast: boolean,
): Promise<Result<null, 'not-found' | 'last'>> {
  const { meta } = await statement(env)`
    DELETE FROM passkeys
    WHERE credential_id = ${credentialId} AND email = ${email}
      AND (${mayBeLast} = 1 OR EXISTS (SELECT 1 FROM passkeys WHERE email = ${email}
      AND credential_id <> ${credentialId}))`.run();
  if (meta.changes === 1) return ok(null);
  return failed((await passkeyById(env, credentialId))?.email === email ? 'last' : 'not-found');
}
