/**
 * What a verification can come to, as one tagged union. `pass` says what the handler does; the rest says why. A form
 * that passes because the service did not respond is visible as such, and never looks like a verified one.
 */

/** What happens to a form while the service does not respond. */
export type FailMode = 'open' | 'closed';

/** The service confirmed the token. */
export interface Verified {
  outcome: 'verified';
  pass: true;
  /** The action that the widget was given, or `null`. */
  action: string | null;
  /** The host name of the page, or `null`. */
  hostname: string | null;
  /** 0 waited, 1 a proof of work, 2 four times the work, with an image or a puzzle. */
  level: number | null;
  /** Premium tier: closer to 1 means more likely a bot. */
  score: number | null;
  /** Why the service flagged a token that it verified, or `null`. */
  flagged: string | null;
  /** When the challenge was issued, in epoch milliseconds, or `null`. */
  challengedAtMs: number | null;
  /** Settings of the site that could not be judged. */
  notEvaluated: readonly string[];
  /** A test key was used. No visitor was verified. */
  test: boolean;
}

/** The service, or an expectation of this verifier, refuses the token. */
export interface Refused {
  outcome: 'refused';
  pass: false;
  /** A key such as `API.USER_ALREADY_VERIFIED`, or `null` where the account's tier has none. */
  reason: string | null;
  score: number | null;
  test: boolean;
}

/** The submission has no token. */
export interface Missing {
  outcome: 'missing';
  pass: false;
  /** `unparsed`: the framework has not parsed the body yet. Put its body parser before this middleware. */
  why: 'absent' | 'malformed' | 'too-large' | 'unparsed';
}

/** The service did not give a usable response in time. */
export interface Unavailable {
  outcome: 'unavailable';
  /** `true` with the fail mode `open`. */
  pass: boolean;
  failMode: FailMode;
  /** `aborted`: the caller gave up, which never passes. */
  cause: 'timeout' | 'network' | 'server-error' | 'rate-limited' | 'unreadable' | 'aborted';
  attempts: number;
  /** How long the service asked to wait, or `null`. */
  retryAfterMs: number | null;
}

/** The service refuses this backend's request. It never passes, because waiting does not repair it. */
export interface Misconfigured {
  outcome: 'misconfigured';
  pass: false;
  status: number;
  /** The service's error key, such as `GENERAL.INVALID_SECRET_KEY`, or `null`. */
  key: string | null;
  message: string;
}

export type VerifyResult = Verified | Refused | Missing | Unavailable | Misconfigured;
