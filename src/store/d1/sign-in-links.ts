/**
 * One-time links into the console. The operator's command makes one; the first browser that opens it is signed in. The database
 * has the hash of the token only, and the statement that reads a row deletes it, so of two parallel exchanges one wins.
 */
import { sha256Hex } from '../../bytes/hex.ts';
import type { StoreEnv } from '../binding.ts';
import { randomToken } from '../keys/master-key.ts';

interface SignInLink {
  email: string;
  /** The account that the link opens; `null` lets a member of several choose. */
  accountId: string | null;
}

/** Long enough to walk to another computer, too short to be found in an old terminal. */
export const LINK_VALID_MS = 15 * 60_000;
const TOKEN_BYTES = 32;

/** @returns the token, which nothing stores. */
export async function createSignInLink(env: StoreEnv, link: SignInLink, nowMs: number): Promise<string> {
  const token = randomToken(TOKEN_BYTES);
  await env.DB.prepare('INSERT INTO sign_in_links (token_hash, email, account_id, expires_at) VALUES (?, ?, ?, ?)')
    .bind(await sha256Hex(token), link.email, link.accountId, nowMs + LINK_VALID_MS)
    .run();
  return token;
}

/** Whom the link signs in, without using it up; `null` as below. */
export async function signInLinkEmail(env: StoreEnv, token: string, nowMs: number): Promise<string | null> {
  const row = await env.DB.prepare('SELECT email FROM sign_in_links WHERE token_hash = ? AND expires_at > ?')
    .bind(await sha256Hex(token), nowMs)
    .first<{ email: string }>();
  return row?.email ?? null;
}

/** `null` when the token is unknown, was used before, or has expired. */
export async function takeSignInLink(env: StoreEnv, token: string, nowMs: number): Promise<SignInLink | null> {
  const row = await env.DB.prepare(
    'DELETE FROM sign_in_links WHERE token_hash = ? RETURNING email, account_id, expires_at',
  )
    .bind(await sha256Hex(token))
    .first<{ email: string; account_id: string | null; expires_at: number }>();
  return row && nowMs < row.expires_at ? { email: row.email, accountId: row.account_id } : null;
}
