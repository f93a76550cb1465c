/**
 * Tells a page that the gate refused the session of the request for it, for example because the visitor has moved to
 * another network. Its protect script then opens another one at once, and not when the refused one expires.
 */
import { sessionRefusedTiming } from '../../contract/edge/headers.ts';
import type { SessionStatus } from '../../contract/vocabulary.ts';

/** Such a page is about this visitor: no cache may keep it. */
export function tellRefusedSession(headers: Headers, status: SessionStatus): void {
  if (status !== 'invalid-session' && status !== 'session-not-found') return;
  headers.append('server-timing', sessionRefusedTiming);
  headers.set('cache-control', 'private, no-store');
}
