/**
 * Team members of an account in D1. The statements themselves keep the last user and the owner, so that two parallel
 * calls cannot remove both.
 */
import { AccountLimitError, accountLimits } from './account-limits.ts';
import { failed, ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';

export type UserRole = 'admin' | 'viewer';

export interface UserRecord {
  email: string;
  name: string;
  role: UserRole;
  /** `invited` until the person signs in to a portal for the first time. The API has no sign-in. */
  status: 'active' | 'invited';
  marketingPreferences: unknown;
  createdAt: number;
  updatedAt: number;
}

interface UserRow {
  email: string;
  name: string;
  role: UserRole;
  status: 'active' | 'invited';
  marketing_preferences: string | null;
  created_at: number;
  updated_at: number;
}

/** Oldest first. */
export async function usersOfAccount(env: StoreEnv, accountId: string): Promise<UserRecord[]> {
  const { results } = await env.DB.prepare('SELECT * FROM users WHERE account_id = ? ORDER BY created_at, email')
    .bind(accountId)
    .all<UserRow>();
  return results.map(userRecord);
}

export async function userByEmail(env: StoreEnv, accountId: string, email: string): Promise<UserRecord | null> {
  const row = await env.DB.prepare('SELECT * FROM users WHERE account_id = ? AND email = ?')
    .bind(accountId, email)
    .first<UserRow>();
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

/** Fails with `'last-user'` when the account would have no user left. The caller has ruled out the owner. */
export async function deleteUser(
  env: StoreEnv,
  accountId: string,
  email: string,
): Promise<Result<null, 'last-user' | 'not-found'>> {
  const result = await env.DB.prepare(
    `DELETE FROM users WHERE account_id = ?1 AND email = ?2
     AND EXISTS (SELECT 1 FROM users WHERE account_id = ?1 AND email <> ?2)`,
  )
    .bind(accountId, email)
    .run();
  if (result.meta.changes === 1) return ok(null);
  return failed((await userByEmail(env, accountId, email)) ? 'last-user' : 'not-found');
}

function userRecord(row: UserRow): UserRecord {
  return {
    email: row.email,
    name: row.name,
    role: row.role,
    status: row.status,
    marketingPreferences: row.marketing_preferences === null ? null : JSON.parse(row.marketing_preferences),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
