/**
 * How much one account may hold of what its listings return whole (interface document 4.2, 4.6 to 4.8 know no pages).
 * Far beyond what is used; decided in the statement that inserts, so that parallel calls cannot pass together.
 */
export const accountLimits = {
  /** Inactive ones included: they are never erased. Listed with its secret, a site takes 600 bytes. */
  sites: 5000,
  users: 1000,
  /** Expired ones count for the 30 days until they are purged. */
  'API keys': 1000,
  /** The metrics ask each for its counters, within the 1,000 sub-requests of one call. */
  'active Protect instances': 300,
} as const;

/** What the account has no room for; answered as `API.TOO_MANY_ITEMS`. */
export class AccountLimitError extends Error {
  constructor(what: keyof typeof accountLimits) {
    super(`An account has at most ${accountLimits[what]} ${what}`);
    this.name = 'AccountLimitError';
  }
}
