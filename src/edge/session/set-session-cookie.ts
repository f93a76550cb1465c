/** The session cookie's `Set-Cookie` values. */
import type { EdgeSession } from '../../contract/edge/edge-api.ts';
import { cookie, sessionRefusedTiming } from '../../contract/edge/headers.ts';
import type { CanonicalTarget } from '../request/canonical-path.ts';
import type { SessionStatus } from '../../contract/vocabulary.ts';

/** Readable by script: the protect script checks whether there is a session. */
export function sessionCookie(session: EdgeSession, target: CanonicalTarget, nowMs: number): string {
  const maxAgeSeconds = Math.max(1, Math.floor((session.expiresAt - nowMs) / 1000));
  const host = target.host.toLowerCase().replace(/:\d+$/, '');
  const wanted = session.cookieDomain ?? '';
  // A browser discards a cookie whose domain does not contain the host.
  const domain = wanted !== '' && (host === wanted || host.endsWith(`.${wanted}`)) ? `; Domain=${wanted}` : '';
  const secure = target.scheme === 'https' ? '; Secure' : '';
  return `${cookie.session}=${session.jti}|${session.jwt}; Path=/; Max-Age=${maxAgeSeconds}; SameSite=Lax${domain}${secure}`;
}

/** Removes a cookie that was set for the host alone, which would hide the one for its domain. */
export const REMOVE_HOST_SESSION = `${cookie.session}=; Path=/; Max-Age=0; SameSite=Lax`;

/** Such a page is about this visitor: no cache may keep it. */
export function tellRefusedSession(headers: Headers, status: SessionStatus): void {
  if (status !== 'invalid-session' && status !== 'session-not-found') return;
  headers.append('server-timing', sessionRefusedTiming);
  headers.set('cache-control', 'private, no-store');
}
