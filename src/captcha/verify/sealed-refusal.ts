/** The refusal a challenge was sealed with, if any: text from inside a seal, read back as a known key. */
import type { SealedFacts } from '../seal/sealed-facts.ts';
import { verifyReasons } from '../../contract/captcha/siteverify.ts';
import type { VerifyReason } from '../../contract/captcha/siteverify.ts';

export function sealedRefusal(facts: SealedFacts): VerifyReason | null {
  const { refusal } = facts;
  if (refusal === null) return null;
  // A key of another release is still a refusal.
  return isReason(refusal) ? refusal : 'API.USER_NOT_VERIFIED';
}

function isReason(text: string): text is VerifyReason {
  return Object.hasOwn(verifyReasons, text);
}
