/**
 * One-time links into the console, and tickets of sign-ins that were used. The operator's command makes a link; the first
 * browser that opens it is signed in. The database has the hash of the token only, and the statement that reads a row
 * deletes it, so of two parallel exchanges one wins.
 */
import { statement } from '../sql.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import type { StoreEnv } from '../binding.ts';
import { randomToken } from '../keys/master-key.ts';
import { SESSION_IDLE_MS } from './console-sessions.ts';

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
  await statement(env)`
    INSERT INTO sign_in_links (token_hash, email, account_id, expires_at) VALUES (${await sha256Hex(token)},
      ${link.email}, ${link.accountId}, ${nowMs + LINK_VALID_MS})`.run();
  return token;
}

/** Whom the link signs in, without using it up; `null` as below. */
export async function signInLinkEmail(env: StoreEnv, token: string, nowMs: number): Promise<string | null> {
  const row = await statement(env)`
    SELECT email FROM sign_in_links
    WHERE token_hash = ${await sha256Hex(token)} AND expires_at > ${nowMs}`.first<{ email: string }>();
  return row?.email ?? null;
}

/** `null` when the token is unknown, was used before, or has expired. */
export async function takeSignInLink(env: StoreEnv, token: string, nowMs: number): Promise<SignInLink | null> {
  const row = await statement(env)`
    DELETE FROM sign_in_links WHERE token_hash = ${await sha256Hex(token)}
      RETURNING email, account_id, expires_at`.first<{
    email: string;
    account_id: string | null;
    expires_at: number;
  }>();
  return row && nowMs < row.expires_at ? { email: row.email, accountId: row.account_id } : null;
}

/**
 * Returns whether this call is the first use. A ticket (`src/service/console/sign-in/ticket.ts`) carries its own content,
 * so starting a sign-in makes no row; using its ticket makes one, once, until the ticket expires.
 */
export async function spendTicket(env: StoreEnv, ticket: string, expiresAt: number): Promise<boolean> {
  const { meta } = await statement(env)`
    INSERT INTO spent_tickets (ticket_hash, expires_at) VALUES (${await sha256Hex(ticket)}, ${expiresAt})
      ON CONFLICT DO NOTHING`.run();
  return meta.changes === 1;
}

/**
 * Deletes sessions that are over, and links and tickets that have expired, at most `limit` rows of each table. A session
 * that is not idle yet and past its end is idle within 12 hours.
 */
export async function purgeSignIn(env: StoreEnv, nowMs: number, limit: number): Promise<void> {
  await env.DB.batch([
    statement(env)`
      DELETE FROM console_sessions WHERE secret_hash IN
      (SELECT secret_hash FROM console_sessions WHERE last_seen_at <= ${nowMs - SESSION_IDLE_MS} LIMIT ${limit})`,
    statement(env)`
      DELETE FROM sign_in_links WHERE token_hash IN
      (SELECT token_hash FROM sign_in_links WHERE expires_at <= ${nowMs} LIMIT ${limit})`,
    statement(env)`
      DELETE FROM spent_tickets WHERE ticket_hash IN
      (SELECT ticket_hash FROM spent_tickets WHERE expires_at <= ${nowMs} LIMIT ${limit})`,
  ]);
}
