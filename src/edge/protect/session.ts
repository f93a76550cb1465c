/**
 * `POST /__protect/session`: opens a session through the service, with the edge's signals, or renews
 * the one in the cookie; the visitor gets it as a cookie (design 6).
 */
import { splitSessionCookie } from '../../risk/session-token.ts';
import { cookie } from '../../contract/edge/headers.ts';
import { readCookies } from '../request/cookies.ts';
import { json, jsonError } from '../answer/respond.ts';
import { sessionCookie } from '../session/session-refresh.ts';
import { sessionVisitorOf } from '../request/visitor.ts';
import type { ProtectCall } from './routes.ts';

/** A page waits for it before its first call. */
const SESSION_TIMEOUT_MS = 3000;

export async function openSession({ passage, edge }: ProtectCall): Promise<Response> {
  if (edge.environment.rules.kind !== 'service') {
    return jsonError(passage, 'API.NOT_FOUND', 'This gate opens no sessions.');
  }
  const [value, second] = readCookies(passage.headers.cookie, cookie.session, 2);
  const known = value === undefined ? null : (splitSessionCookie(value)?.jwt ?? null);
  const visitor = sessionVisitorOf(passage);
  let session = await edge.service.session(visitor, known, SESSION_TIMEOUT_MS);
  // A JWT that can no longer be renewed is no reason to stay without a session.
  if (!session && known !== null) session = await edge.service.session(visitor, null, SESSION_TIMEOUT_MS);
  if (!session) return jsonError(passage, 'API.UNAVAILABLE', 'No session could be opened.');
  passage.jti = session.jti;
  // One of two was set for the host alone and would stand before the new one: it goes first.
  if (second !== undefined) passage.cookies.push(`${cookie.session}=; Path=/; Max-Age=0; SameSite=Lax`);
  passage.cookies.push(sessionCookie(session, passage.target!, passage.nowMs));
  return json(passage, 200, { jti: session.jti, expiresAt: session.expiresAt, jwtExpiresAt: session.jwtExpiresAt });
}
