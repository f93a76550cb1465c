/**
 * Team members of an account in D1. The statements themselves keep the last user and the owner, so that two parallel
 * calls cannot remove both.
 */
import { AccountLimitError, accountLimits } from './account-limits.ts';
import { fromRow, type Row } from './rows.ts';
import type { UserRole } from '../../contract/management/permissions.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';

export interface UserRecord {
  email: string;
  name: string;
  role: UserRole;
  /** `invited` until the person signs in to the console for the first time. */
  status: 'active' | 'invited';
  marketingPreferences: unknown;
  createdAt: number;
  updatedAt: number;
}

const userRecord = fromRow<UserRecord>({
  email: 'plain',
  name: 'plain',
  role: 'plain',
  status: 'plain',
  marketingPreferences: 'json',
  createdAt: 'plain',
  updatedAt: 'plain',
});

/** Oldest first. */
export async function usersOfAccount(env: StoreEnv, accountId: string): Promise<UserRecord[]> {
  const { results } = await env.DB.prepare('SELECT * FROM users WHERE account_id = ? ORDER BY created_at, email')
    .bind(accountId)
    .all<Row>();
  return results.map(userRecord);
}

export async function userByEmail(env: StoreEnv, accountId: string, email: string): Promise<UserRecord | null> {
  const row = await env.DB.prepare('SELECT * FROM users WHERE account_id = ? AND email = ?')
    .bind(accountId, email)
    .first<Row>();
  return row ? userRecord(row) : null;
}

/** Fails with `'email-taken'` when the account has a user with this address. */
export async function createUser(
  env: StoreEnv,
  accountId: string,
  user: { email: string; name: string; role: UserRole },
  nowMs: number,
): Promise<Result<UserRecord, 'email-taken'>> {
  const result = await env.DB.prepare(
    `INSERT INTO users (account_id, email, name, role, status, created_at, updated_at)
     SELECT ?1, ?2, ?3, ?4, 'invited', ?5, ?5 WHERE (SELECT COUNT(*) FROM users WHERE account_id = ?1) < ?6
     ON CONFLICT DO NOTHING`,
  )
    .bind(accountId, user.email, user.name, user.role, nowMs, accountLimits.users)
    .run();
  if (result.meta.changes === 0) {
    if (await userByEmail(env, accountId, user.email)) return failed('email-taken');
    throw new AccountLimitError('users');
  }
  return ok({ ...user, status: 'invited', marketingPreferences: null, createdAt: nowMs, updatedAt: nowMs });
}

/** Changes the given fields; returns whether the user exists. */
export async function updateUser(
  env: StoreEnv,
  accountId: string,
  email: string,
  change: { name?: string | undefined; role?: UserRole | undefined; marketingPreferences?: unknown },
  nowMs: number,
): Promise<boolean> {
  const preferences = change.marketingPreferences;
  const result = await env.DB.prepare(
    `UPDATE users SET name = COALESCE(?, name), role = COALESCE(?, role),
       marketing_preferences = COALESCE(?, marketing_preferences), updated_at = ?
     WHERE account_id = ? AND email = ?`,
  )
    .bind(
      change.name ?? null,
      change.role ?? null,
      preferences === undefined ? null : JSON.stringify(preferences),
      nowMs,
      accountId,
      email,
    )
    .run();
  return result.meta.changes === 1;
}

/** An account that a person is a member of. */
export interface Membership {
  accountId: string;
  ownerEmail: string;
  role: UserRole;
  disabled: boolean;
}

const membership = fromRow<Membership>({ accountId: 'plain', ownerEmail: 'plain', role: 'plain', disabled: 'flag' });

/** More are not shown: nobody chooses among hundreds. */
const MEMBERSHIPS_MAX = 200;

/** Oldest account first. */
export async function membershipsOf(env: StoreEnv, email: string): Promise<Membership[]> {
  const { results } = await env.DB.prepare(
    `SELECT accounts.id AS account_id, accounts.owner_email, accounts.disabled, users.role
     FROM users JOIN accounts ON accounts.id = users.account_id
     WHERE users.email = ? ORDER BY accounts.created_at, accounts.id LIMIT ?`,
  )
    .bind(email, MEMBERSHIPS_MAX)
    .all<Row>();
  return results.map(membership);
}

/**
 * Deletes a user, their sessions in the account, and their passkeys when this was their last account. Fails with
 * `'last-user'` when the account would have no user left. The caller has ruled out the owner.
 */
export async function deleteUser(
  env: StoreEnv,
  accountId: string,
  email: string,
): Promise<Result<null, 'last-user' | 'not-found'>> {
  const [deleted] = await env.DB.batch([
    env.DB.prepare(
      `DELETE FROM users WHERE account_id = ?1 AND email = ?2
       AND EXISTS (SELECT 1 FROM users WHERE account_id = ?1 AND email <> ?2)`,
    ).bind(accountId, email),
    env.DB.prepare(
      `DELETE FROM console_sessions WHERE account_id = ?1 AND email = ?2
       AND NOT EXISTS (SELECT 1 FROM users WHERE account_id = ?1 AND email = ?2)`,
    ).bind(accountId, email),
    env.DB.prepare('DELETE FROM passkeys WHERE email = ?1 AND NOT EXISTS (SELECT 1 FROM users WHERE email = ?1)').bind(
      email,
    ),
  ]);
  if (deleted?.meta.changes === 1) return ok(null);
  return failed((await userByEmail(env, accountId, email)) ? 'last-user' : 'not-found');
}
