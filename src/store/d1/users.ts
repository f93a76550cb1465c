/**
 * Team members of an account in D1. The statements themselves keep the last user and the owner, so that two parallel
 * calls cannot remove both.
 */
import { statement } from '../sql.ts';
import { AccountLimitError, accountLimits } from './account-limits.ts';
import { flag, fromJson, fromRow, plain, type Row } from './rows.ts';
import type { UserRole } from '../../contract/management/permissions.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { StoreEnv } from '../binding.ts';

const userRecord = fromRow({
  email: plain<string>(),
  name: plain<string>(),
  role: plain<UserRole>(),
  /** `invited` until the person signs in to the console for the first time. */
  status: plain<'active' | 'invited'>(),
  marketingPreferences: fromJson<unknown>(),
  createdAt: plain<number>(),
  updatedAt: plain<number>(),
});
export type UserRecord = ReturnType<typeof userRecord>;

/** Oldest first. */
export async function usersOfAccount(env: StoreEnv, accountId: string): Promise<UserRecord[]> {
  const { results } = await statement(env)`
    SELECT * FROM users WHERE account_id = ${accountId} ORDER BY created_at, email`.all<Row>();
  return results.map(userRecord);
}

export async function userByEmail(env: StoreEnv, accountId: string, email: string): Promise<UserRecord | null> {
  const row = await statement(env)`
    SELECT * FROM users WHERE account_id = ${accountId} AND email = ${email}`.first<Row>();
  return row ? userRecord(row) : null;
}

/** Fails with `'email-taken'` when the account has a user with this address. */
export async function createUser(
  env: StoreEnv,
  accountId: string,
  user: { email: string; name: string; role: UserRole },
  nowMs: number,
): Promise<Result<UserRecord, 'email-taken'>> {
  const result = await statement(env)`
    INSERT INTO users (account_id, email, name, role, status, created_at, updated_at)
    SELECT ${accountId}, ${user.email}, ${user.name}, ${user.role}, 'invited', ${nowMs}, ${nowMs} WHERE
      (SELECT COUNT(*) FROM users WHERE account_id = ${accountId}) < ${accountLimits.users}
    ON CONFLICT DO NOTHING`.run();
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
  const result = await statement(env)`
    UPDATE users SET name = COALESCE(${change.name ?? null}, name), role = COALESCE(${change.role ?? null}, role),
      marketing_preferences = COALESCE(${preferences === undefined ? null : JSON.stringify(preferences)},
        marketing_preferences), updated_at = ${nowMs}
    WHERE account_id = ${accountId} AND email = ${email}`.run();
  return result.meta.changes === 1;
}

/** An account that a person is a member of. */
const membership = fromRow({
  accountId: plain<string>(),
  ownerEmail: plain<string>(),
  role: plain<UserRole>(),
  disabled: flag(),
});
export type Membership = ReturnType<typeof membership>;

/** More are not shown: nobody chooses among hundreds. */
const MEMBERSHIPS_MAX = 200;

/** Oldest account first. */
export async function membershipsOf(env: StoreEnv, email: string): Promise<Membership[]> {
  const { results } = await statement(env)`
    SELECT accounts.id AS account_id, accounts.owner_email, accounts.disabled, users.role
    FROM users JOIN accounts ON accounts.id = users.account_id
    WHERE users.email = ${email} ORDER BY accounts.created_at, accounts.id LIMIT ${MEMBERSHIPS_MAX}`.all<Row>();
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
    statement(env)`
      DELETE FROM users
      WHERE account_id = ${accountId} AND email = ${email}
        AND EXISTS (SELECT 1 FROM users WHERE account_id = ${accountId} AND email <> ${email})`,
    statement(env)`
      DELETE FROM console_sessions
      WHERE account_id = ${accountId} AND email = ${email}
        AND NOT EXISTS (SELECT 1 FROM users WHERE account_id = ${accountId} AND email = ${email})`,
    statement(env)`
      DELETE FROM passkeys WHERE email = ${email} AND NOT EXISTS (SELECT 1 FROM users WHERE email = ${email})`,
  ]);
  if (deleted?.meta.changes === 1) return ok(null);
  return failed((await userByEmail(env, accountId, email)) ? 'last-user' : 'not-found');
}
