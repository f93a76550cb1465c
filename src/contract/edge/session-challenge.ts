/** What `POST /__protect/session` returns instead of a session: work that earns one. */
import type { PowTask } from '../captcha/challenge-api.ts';

export interface SessionChallenge {
  /** Sealed; the page returns it untouched with the solution. */
  challenge: string;
  pow: PowTask;
  /** Epoch milliseconds, by the clock of the service or, in an outage, of the edge. */
  expiresAt: number;
}
