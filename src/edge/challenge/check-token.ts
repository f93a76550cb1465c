/**
 * Asks `/siteverify` about a token, as the edge (design 3.3): audience `edge`, so that the site's own
 * backend can still verify the same token once; at least the level this instance asks for. Towards a
 * service that knows only the interface document, only the document's members are sent.
 */
import { CLEARANCE_ACTION } from '../../contract/captcha/challenge-terms.ts';
import { verifyToken } from '../../verify/client.ts';
import type { Edge } from '../isolate/edge.ts';
import { LOCAL_LEVEL, LOCAL_PREFIX, spendLocalToken } from './local-challenge.ts';
import type { Passage } from '../request/passage.ts';

/** Design 8 calls 500 ms slow for the feed; a verification is waited for by a person, and spends. */
const VERIFY_TIMEOUT_MS = 3000;

export type TokenCheck =
  | { outcome: 'verified'; jti: string | null; level: number; action: string | null; isLocal: boolean }
  | { outcome: 'refused'; expired: boolean; reason: string }
  | { outcome: 'fault' };

export async function checkToken(
  passage: Passage,
  edge: Edge,
  token: string,
  action: string | null,
): Promise<TokenCheck> {
  const { environment } = edge;
  const config = passage.config!;
  if (token.startsWith(LOCAL_PREFIX)) {
    const jti = await spendLocalToken(config, passage.signals!, token, passage.nowMs);
    if (jti === null || config.policy.clearanceLevel > LOCAL_LEVEL) {
      return { outcome: 'refused', expired: false, reason: 'local-token' };
    }
    return { outcome: 'verified', jti, level: LOCAL_LEVEL, action: CLEARANCE_ACTION, isLocal: true };
  }
  const isOwnService = environment.rules.kind === 'service';
  const level = config.policy.clearanceLevel;
  const answer = await verifyToken({
    url: environment.siteverifyUrl,
    secret: config.secretKey,
    token,
    ip: passage.signals?.ip ?? null,
    ...(isOwnService ? { level, audience: 'edge' as const, ...(action === null ? {} : { action }) } : {}),
    timeoutMs: VERIFY_TIMEOUT_MS,
    fetch: (request) => (environment.service ? environment.service.fetch(request) : fetch(request)),
  });
  if (!answer.ok) {
    edge.count(`verify_failures{kind="${answer.fault}"}`);
    return { outcome: 'fault' };
  }
  edge.count(`verifications{verified="${answer.verified}"}`);
  const reason = answer.reason ?? 'not-verified';
  if (!answer.verified) return { outcome: 'refused', expired: /expired|timeout/i.test(reason), reason };
  // The service was asked to insist on them; it is believed only where it says so again.
  const reached = answer.level ?? 0;
  if (isOwnService && reached < level) return { outcome: 'refused', expired: false, reason: 'level' };
  if (isOwnService && action !== null && answer.action !== action)
    return { outcome: 'refused', expired: false, reason: 'action' };
  return {
    outcome: 'verified',
    jti: answer.jti ?? null,
    level: reached,
    action: answer.action ?? null,
    isLocal: false,
  };
}
