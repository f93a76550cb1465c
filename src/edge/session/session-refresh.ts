/**
 * Renews a session's JWT behind the response (design 6): asked for in its last minutes, handed to the
 * visitor with a later response. A renewal that fails costs nothing, the protect script opens anew.
 */
import type { EdgeSession } from '../../contract/edge/edge-api.ts';
import { cookie } from '../../contract/edge/headers.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import type { CanonicalTarget } from '../request/canonical-path.ts';
import type { Edge } from '../isolate/edge.ts';
import type { Passage } from '../request/passage.ts';
import { sessionVisitorOf } from '../request/visitor.ts';

const PENDING_MAX = 4000;
const REFRESH_TIMEOUT_MS = 5000;
/** Asked for again only after this: a service in trouble is not asked by every request of a session. */
const ASK_AGAIN_AFTER_MS = 15_000;

/** JWT that is running out → when it was asked for, and its successor once there is one. */
const renewals = new BoundedMap<{ askedAtMs: number; successor: EdgeSession | null }>(PENDING_MAX);

export function refreshBehind(passage: Passage, edge: Edge, jwt: string, ctx: ExecutionContext): void {
  const known = renewals.get(jwt);
  if (known?.successor) {
    passage.cookies.push(sessionCookie(known.successor, passage.target!, passage.nowMs));
    return;
  }
  if (known && passage.nowMs - known.askedAtMs < ASK_AGAIN_AFTER_MS) return;
  renewals.set(jwt, { askedAtMs: passage.nowMs, successor: null });
  ctx.waitUntil(renew(passage, edge, jwt));
}

async function renew(passage: Passage, edge: Edge, jwt: string): Promise<void> {
  const successor = await edge.service.session(sessionVisitorOf(passage), jwt, REFRESH_TIMEOUT_MS);
  if (successor) renewals.set(jwt, { askedAtMs: passage.nowMs, successor });
  else edge.count('session_refresh_failures');
}

/** Readable by script: the protect script shows it to no one, but must see whether there is one. */
export function sessionCookie(session: EdgeSession, target: CanonicalTarget, nowMs: number): string {
  const maxAgeSeconds = Math.max(1, Math.floor((session.expiresAt - nowMs) / 1000));
  const host = target.host.toLowerCase().replace(/:\d+$/, '');
  const wanted = session.cookieDomain ?? '';
  // A browser throws a cookie away whose domain the host is not in.
  const domain = wanted !== '' && (host === wanted || host.endsWith(`.${wanted}`)) ? `; Domain=${wanted}` : '';
  const secure = target.scheme === 'https' ? '; Secure' : '';
  return `${cookie.session}=${session.jti}|${session.jwt}; Path=/; Max-Age=${maxAgeSeconds}; SameSite=Lax${domain}${secure}`;
}
