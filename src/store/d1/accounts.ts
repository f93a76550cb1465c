/**
 * Accounts in D1. No endpoint creates an account: the CLI and the local stack call `createAccount` from Node with a D1
 * binding, and the service only reads.
 */
import { statement } from '../sql.ts';
import type { D1PreparedStatement } from '@cloudflare/workers-types';
import { type Feature, features as allFeatures } from '../../contract/management/permissions.ts';
import type { AccountTier } from '../../contract/vocabulary.ts';
import type { StoreEnv } from '../binding.ts';
import { randomToken } from '../keys/master-key.ts';
import { flag, fromJson, fromRow, plain, type Row } from './rows.ts';

export const accountRecord = fromRow({
  id: plain<string>(),
  tier: plain<AccountTier>(),
  /** Features that are enabled on the account. */
  features: fromJson<readonly Feature[]>(),
  ownerEmail: plain<string>(),
  disabled: flag(),
  paymentOwed: flag(),
  createdAt: plain<number>(),
  updatedAt: plain<number>(),
});
export type AccountRecord = ReturnType<typeof accountRecord>;

const ACCOUNT_ID_BYTES = 12;

/** Creates an account with its owner as the first user. All features are enabled unless `features` is given. */
export async function createAccount(
  env: StoreEnv,
  account: { ownerEmail: string; ownerName?: string; tier: AccountTier; features?: readonly Feature[] },
  nowMs: number,
): Promise<AccountRecord> {
  const id = `acc_${randomToken(ACCOUNT_ID_BYTES)}`;
  const ownerEmail = normaliseEmail(account.ownerEmail);
  const enabled = account.features ?? allFeatures;
  await env.DB.batch([
    statement(env)`
      INSERT INTO accounts (id, owner_email, tier, features, created_at, updated_at) VALUES (${id}, ${ownerEmail},
        ${account.tier}, ${JSON.stringify(enabled)}, ${nowMs}, ${nowMs})`,
    statement(env)`
      INSERT INTO users (account_id, email, name, role, status, created_at, updated_at)
      VALUES (${id}, ${ownerEmail}, ${account.ownerName ?? ownerEmail}, 'admin', 'active', ${nowMs}, ${nowMs})`,
  ]);
  return {
    id,
    tier: account.tier,
    features: enabled,
    ownerEmail,
    disabled: false,
    paymentOwed: false,
    createdAt: nowMs,
    updatedAt: nowMs,
  };
}

export async function accountById(env: StoreEnv, id: string): Promise<AccountRecord | null> {
  return accountOf(await selectAccount(env, id).all());
}

/** The statement alone, for a batch; `accountOf` reads its result. */
export function selectAccount(env: StoreEnv, id: string): D1PreparedStatement {
  return statement(env)`SELECT * FROM accounts WHERE id = ${id}`;
}

export function accountOf(result: { results: unknown[] }): AccountRecord | null {
  const row = result.results[0] as Row | undefined;
  return row ? accountRecord(row) : null;
}

export async function listAccounts(env: StoreEnv): Promise<AccountRecord[]> {
  const { results } = await statement(env)`SELECT * FROM accounts ORDER BY created_at, id`.all<Row>();
  return results.map(accountRecord);
}

/**
 * Applies an operator's change. A new owner becomes an admin user unless they already are one; the former owner stays a
 * user. The change takes effect on the account's next call.
 */
export async function updateAccount(
  env: StoreEnv,
  id: string,
  change: Partial<Pick<AccountRecord, 'tier' | 'features' | 'disabled' | 'paymentOwed' | 'ownerEmail'>>,
  nowMs: number,
): Promise<AccountRecord | null> {
  const current = await accountById(env, id);
  if (!current) return null;
  const next = { ...current, ...change, updatedAt: nowMs };
  next.ownerEmail = normaliseEmail(next.ownerEmail);
  await env.DB.batch([
    statement(env)`
      UPDATE accounts SET owner_email = ${next.ownerEmail}, tier = ${next.tier},
        features = ${JSON.stringify(next.features)}, disabled = ${next.disabled}, payment_owed = ${next.paymentOwed},
        updated_at = ${nowMs}
      WHERE id = ${id}`,
    statement(env)`
      INSERT INTO users (account_id, email, name, role, status, created_at, updated_at)
      VALUES (${id}, ${next.ownerEmail}, ${next.ownerEmail}, 'admin', 'active', ${nowMs}, ${nowMs})
      ON CONFLICT (account_id, email) DO UPDATE SET role = 'admin', updated_at = excluded.updated_at
        WHERE role <> 'admin'`,
  ]);
  return next;
}

/** Email addresses identify users. Letter case and the spelling of an international domain do not make another user. */
export function normaliseEmail(email: string): string {
  const text = email.trim().normalize('NFC').toLowerCase();
  const at = text.lastIndexOf('@');
  const domain = text.slice(at + 1);
  // A URL would read other characters as a port, a path or a number.
  if (at < 1 || !/^(?=.*\p{L})[\p{L}\p{M}\p{N}.-]+$/u.test(domain)) return text;
  const host = URL.parse(`http://${domain}/`)?.hostname.replace(/\.$/, '');
  return `${text.slice(0, at)}@${host ?? domain}`;
}
