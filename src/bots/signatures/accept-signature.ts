/**
 * `Accept-Signature` (RFC 9421, 5): asks the sender of a refused request to sign the next one. Some agents sign only
 * when asked.
 */
import { SIGNATURE_TAG } from './read-signatures.ts';

/** `nonce`: to be signed, where the policy wants each signature to count once. */
export function acceptSignature(nonce: string | null = null): string {
  const asked = nonce === null ? '' : `;nonce="${nonce}"`;
  return `sig1=("@authority" "@method" "@path" "signature-agent";key="sig1");created;expires;keyid${asked};tag="${SIGNATURE_TAG}"`;
}
