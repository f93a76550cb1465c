/**
 * `X-Protect-Signature: t=<epoch seconds>,kid=<key>,v1=<base64url>` proves to an origin that a
 * request came through this gate (design 3.2): HMAC-SHA256 over the lines below, under the
 * instance's origin signature key. `docs/origin-lockdown.md` shows how origins check it.
 */
import { encodeBase64url } from '../challenge/base64url.ts';

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

/** What an origin accepts, and what loop detection takes for fresh, seconds. */
export const SIGNATURE_MAX_AGE_SECONDS = 300;
const encoder = new TextEncoder();

export async function signForOrigin(key: CryptoKey, kid: string, facts: SignedFacts): Promise<string> {
  const mac = await crypto.subtle.sign('HMAC', key, signedBytes(facts));
  return `t=${facts.timestamp},kid=${kid},v1=${encodeBase64url(new Uint8Array(mac))}`;
}

function signedBytes(facts: SignedFacts): Uint8Array<ArrayBuffer> {
  return encoder.encode(
    `${facts.timestamp}\n${facts.method}\n${facts.target}\n${facts.requestId}\n${facts.decision}\n${facts.verified}\n${facts.ip}`,
  ) as Uint8Array<ArrayBuffer>;
}
