/**
 * How many items one account may hold of each kind whose listing has no pages. The limits are far above normal use. The
 * statement that inserts a row checks its limit, so that parallel calls cannot exceed it together.
 */
export const accountLimits = {
  /** Includes inactive sites, which are never deleted. A listed site with its secret takes about 600 bytes. */
  sites: 5000,
  users: 1000,
  /** Includes expired keys, which are deleted after 30 days. */
  'API keys': 1000,
  /** The metrics endpoint calls every instance's log once, and a Worker has 1,000 subrequests per call. */
  'active Protect instances': 300,
} as const;

/** The account is at its limit. The response is `API.TOO_MANY_ITEMS`. */
export class AccountLimitError extends Error {
  constructor(what: keyof typeof accountLimits) {
    super(`An account has at most ${accountLimits[what]} ${what}`);
    this.name = 'AccountLimitError';
  }
}
