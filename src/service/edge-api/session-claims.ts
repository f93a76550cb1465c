/**
 * The claims of a session JWT that an edge hands in. The JWT must have a signature of this deployment and belong to the
 * instance, and its session must not be over. The JWT itself may have expired: a session outlives its JWTs. Whether the
 * session belongs to the visitor is a separate question.
 */
import { decodeProtectedHeader } from 'jose';
import { type SessionClaims, verifySessionJwt } from '../../risk/session-token.ts';
import { visitorBinding } from '../../address/visitor-binding.ts';
import type { EdgeVisitor } from '../../contract/edge/edge-api.ts';
import type { EdgeCall } from './edge-route.ts';
import { sessionKeyByKid } from '../../store/keys/edge-keys.ts';
import { rootKey } from '../../store/keys/root-key.ts';

export async function sessionClaims({ store, instance, nowMs }: EdgeCall, jwt: string): Promise<SessionClaims | null> {
  let kid: string;
  try {
    kid = decodeProtectedHeader(jwt).kid ?? '';
  } catch {
    return null;
  }
  const key = await sessionKeyByKid(await rootKey(store), instance.id, kid, nowMs);
  const verified = await verifySessionJwt(jwt, () => key, instance.id, nowMs, true);
  return verified.ok && verified.value.sxp * 1000 > nowMs ? verified.value : null;
}

/** Whether the session was opened from the visitor's network with the visitor's user agent. */
export async function isSessionOf(claims: SessionClaims, visitor: EdgeVisitor): Promise<boolean> {
  return claims.bnd === (await visitorBinding(visitor.ip, visitor.userAgent));
}
