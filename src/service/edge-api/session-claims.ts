/**
 * The claims of a session JWT that an edge hands in: ours, of this instance, and its session not over. Its five
 * minutes may be: a session outlives its JWTs. Whether it is still of this visitor, the caller judges.
 */
import { decodeProtectedHeader } from 'jose';
import { verifySessionJwt } from '../../risk/session-token.ts';
import type { SessionClaims } from '../../risk/session-token.ts';
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

/** Whether the session was opened from this network with this user agent. */
export async function isOf(claims: SessionClaims, visitor: EdgeVisitor): Promise<boolean> {
  return claims.bnd === (await visitorBinding(visitor.ip, visitor.userAgent));
}
