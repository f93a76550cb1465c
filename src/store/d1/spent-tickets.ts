/**
 * Tickets of a sign-in that were used. A ticket (`src/service/console/sign-in/ticket.ts`) carries its own content, so
 * starting a sign-in makes no row; using its ticket makes one, once, until the ticket expires.
 */
import { sha256Hex } from '../../bytes/hex.ts';
import type { StoreEnv } from '../binding.ts';

/** Returns whether this call is the first use. */
export async function spendTicket(env: StoreEnv, ticket: string, expiresAt: number): Promise<boolean> {
  const { meta } = await env.DB.prepare(
    'INSERT INTO spent_tickets (ticket_hash, expires_at) VALUES (?, ?) ON CONFLICT DO NOTHING',
  )
    .bind(await sha256Hex(ticket), expiresAt)
    .run();
  return meta.changes === 1;
}
