/** What solving a challenge by program can come to, as one tagged union. */

/** Send the same request again with this cookie, the same `User-Agent` and from the same address. */
export interface Solved {
  outcome: 'solved';
  /** `name=value`, for the `Cookie` header. */
  cookie: string;
  /** Epoch milliseconds by the gate's clock, or `null`. */
  expiresAtMs: number | null;
}

export interface NotSolved {
  outcome: 'not-solved';
  /**
   * `person-needed`: the gate asks for an image or a puzzle, which only a person can solve. `too-much-work`: the proof of
   * work exceeds `maxWork`. `timeout`: not done within `timeoutMs`. `refused`: the gate refused the solution.
   * `unreachable`: no response. `not-understood`: a response of another form. `is-page`: the challenge came as a page for
   * people; send `Sec-Fetch-Dest: empty`. `redirected`: the challenge is of another host than the
   * request, or `url` is missing to tell. `aborted`: by the caller.
   */
  why:
    | 'person-needed'
    | 'too-much-work'
    | 'timeout'
    | 'refused'
    | 'unreachable'
    | 'not-understood'
    | 'is-page'
    | 'redirected'
    | 'aborted';
  /** More about it, for a log. */
  detail: string;
}

/** `not-challenged`: the response is not a challenge of the gate. Its body has not been read. */
export type ChallengeOutcome = Solved | NotSolved | { outcome: 'not-challenged' };

/** Ends a course early. `solveChallenge` turns it into its outcome. */
export class NotSolvedError extends Error {
  readonly outcome: NotSolved;

  constructor(why: NotSolved['why'], detail: string) {
    super(`${why}: ${detail}`);
    this.outcome = { outcome: 'not-solved', why, detail };
  }
}
