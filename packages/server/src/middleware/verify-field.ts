/** Verifies the field that a request was found to have, or to lack. */
import type { VerifyResult } from '../verify/verify-result.ts';
import type { VerifyOptions, Verifier } from '../verify/create-verifier.ts';
import type { SubmittedField } from './submitted-field.ts';

/** A field that was not found is still put to the verifier, whose fail mode says what an outage means for it. */
export async function verifyField(
  verifier: Verifier,
  submitted: SubmittedField,
  options: VerifyOptions | undefined,
): Promise<VerifyResult> {
  if ('value' in submitted) return verifier.verify(submitted.value, options);
  const result = await verifier.verify(undefined, options);
  return result.outcome === 'missing' ? { ...result, why: submitted.why } : result;
}
