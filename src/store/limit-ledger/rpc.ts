/**
 * What a `LimitLedger` can be asked, and what it returns. Callers (`client.ts`) and the object (`object/`) share this
 * file and no other code of each other.
 */
import type { LimitCounter, LimitSums, LimitTake, LimitTakings } from '../../contract/edge/limits.ts';

export interface LimitLedgerRpc {
  /** Adds counts and returns the sums of each key, in the same order. A window that is over or far ahead adds nothing. */
  add(windowMs: number, counters: readonly LimitCounter[]): Promise<LimitSums>;
  /** Grants as many uses as the limit has left, for each key. What is granted is stored before the answer. */
  take(takes: readonly LimitTake[]): Promise<LimitTakings>;
}
