/** The scheduled run deletes what sign-in has left: sessions that are over, links and tickets that have expired. */
import type { StoreEnv } from '../binding.ts';
import { SESSION_IDLE_MS } from './console-sessions.ts';

/** Deletes at most `limit` rows of each table. A session that is not idle yet and past its end is idle within 12 hours. */
export async function purgeSignIn(env: StoreEnv, nowMs: number, limit: number): Promise<void> {
  await env.DB.batch([
    env.DB.prepare(
      `DELETE FROM console_sessions WHERE secret_hash IN
         (SELECT secret_hash FROM console_sessions WHERE last_seen_at <= ? LIMIT ?)`,
    ).bind(nowMs - SESSION_IDLE_MS, limit),
    env.DB.prepare(
      `DELETE FROM sign_in_links WHERE token_hash IN
         (SELECT token_hash FROM sign_in_links WHERE expires_at <= ? LIMIT ?)`,
    ).bind(nowMs, limit),
    env.DB.prepare(
      `DELETE FROM spent_tickets WHERE ticket_hash IN
         (SELECT ticket_hash FROM spent_tickets WHERE expires_at <= ? LIMIT ?)`,
    ).bind(nowMs, limit),
  ]);
}
