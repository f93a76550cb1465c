/** What a signature was found to be, in one word. */
import type { SignatureOutcome } from '../../src/bots/signatures/signature-outcome.ts';

/** `verified`, `invalid-expired`, `unverified-keys-unknown`; `null` for a request without a signature. */
export function outcomeWord(found: SignatureOutcome): string | null {
  if (found.outcome === 'none') return null;
  return 'reason' in found ? `${found.outcome}-${found.reason}` : found.outcome;
}
