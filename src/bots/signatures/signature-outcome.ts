/**
 * What the signature of a request says about its sender (Web Bot Auth, a profile of RFC 9421). Three results are kept
 * apart: `verified` names the agent, `invalid` is a signature that cannot be right, and `unverified` is one that cannot
 * be decided, such as with a directory that is not known yet. Only the first is a reason to trust, and only the second
 * is a reason to suspect.
 */

export type InvalidReason =
  | 'too-large'
  | 'unreadable'
  | 'label-repeated'
  /** `created`, `expires` or `keyid` is missing or not of its form. */
  | 'parameters'
  | 'component-repeated'
  /** The request does not have what the signature covers. */
  | 'component-missing'
  | 'target-not-covered'
  | 'agent-not-covered'
  | 'agent-ambiguous'
  | 'agent-not-https'
  | 'not-yet'
  | 'expired'
  | 'lives-too-long'
  | 'algorithm'
  | 'test-key'
  | 'signature';

export type UnverifiedReason =
  /** The request names no agent, or one with parameters, which verifiers ignore. */
  | 'agent-missing'
  | 'component-unknown'
  | 'algorithm-unknown'
  /** The agent's keys are not known here, or not any more. */
  | 'keys-unknown'
  /** The agent's directory does not have the key. */
  | 'key-not-listed'
  /** The policy wants each signature once, and this one has no nonce, a used one, or the service does not say. */
  | 'nonce';

export interface VerifiedAgent {
  outcome: 'verified';
  /** The agent's address without a query, such as `https://agent.test/keys.json`. */
  agent: string;
  /** What the keys are asked for by. */
  directory: string;
  /** Thumbprint of the key. */
  keyid: string;
  label: string;
  nonce: string | null;
  /** Epoch milliseconds. Nothing that is made from this signature may live longer. */
  expiresAtMs: number;
}

export type SignatureOutcome =
  /** No signature of this profile, and no agent named. */
  | { outcome: 'none' }
  /** Names an agent without signing. */
  | { outcome: 'unsigned' }
  | VerifiedAgent
  | { outcome: 'invalid'; reason: InvalidReason }
  | {
      outcome: 'unverified';
      reason: UnverifiedReason;
      /** Whose keys would decide. */
      missing: MissingKey | null;
    };

export interface MissingKey {
  directory: string;
  agent: string;
  keyid: string;
}

export const invalid = (reason: InvalidReason): SignatureOutcome => ({ outcome: 'invalid', reason });

export const unverified = (reason: UnverifiedReason, missing: MissingKey | null = null): SignatureOutcome => ({
  outcome: 'unverified',
  reason,
  missing,
});
