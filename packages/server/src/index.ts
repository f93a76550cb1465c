/**
 * The server side of Gatehouse, on web standards alone: verifies tokens of the widget, and checks the signature of
 * requests that came through the gate.
 */
export { createVerifier, ServiceUnavailableError } from './verify/create-verifier.ts';
export type { Verifier, VerifyOptions } from './verify/create-verifier.ts';
export type { VerifierOptions } from './verify/verifier-options.ts';
export type {
  FailMode,
  Misconfigured,
  Missing,
  Refused,
  Unavailable,
  Verified,
  VerifyResult,
} from './verify/verify-result.ts';
export { checkSignature } from './signature/check-signature.ts';
export type {
  SignatureFault,
  SignatureKeys,
  SignatureOptions,
  SignatureResult,
  SignedRequest,
} from './signature/check-signature.ts';
