/**
 * `X-Protect-Signature: t=<epoch seconds>,kid=<key>,v1=<base64url>` proves to an origin that a request came through
 * this gate: HMAC-SHA256 over the lines below, under the instance's origin signature key. `docs/origin-lockdown.md`
 * shows how origins check it.
 */
import { encodeBase64url } from '../../bytes/base64url.ts';
import type { HmacSha256 } from '../../bytes/hmac-sha256.ts';

export interface SignedFacts {
  /** Epoch seconds. */
  timestamp: number;
  method: string;
  /** Path and query as the origin receives them. */
  target: string;
  requestId: string;
  decision: string;
  verified: string;
  /** Visitor's address as in `X-Forwarded-For`, or empty. */
  ip: string;
}

export function signForOrigin(key: HmacSha256, kid: string, facts: SignedFacts): string {
  const { timestamp, method, target, requestId, decision, verified, ip } = facts;
  const mac = key.sign(`${timestamp}\n${method}\n${target}\n${requestId}\n${decision}\n${verified}\n${ip}`);
  return `t=${timestamp},kid=${kid},v1=${encodeBase64url(mac)}`;
}
