/**
 * What a `SpendLedger` can be asked, and what it returns: one method is one call over RPC. Callers
 * (`client/`) and the object (`object/`) share this file and no other code of each other.
 */

export interface SpendLedgerRpc {
  /**
   * Spends each key once: of all rows that ever name a key, the first wins, in this batch or another. A repeated row
   * whose call id won has still won: its caller repeats it because the response was lost. Per row: `true` won, `false`
   * did not, a text is the kept answer to the same question. Either all rows are written or none.
   */
  spendAll(rows: readonly SpendRow[]): Promise<(boolean | string)[]>;
  /** The kept answer to a question that was asked within the last ten minutes. */
  recall(key: string, bornAt: number, fingerprint: string): Promise<string | null>;
  isSpent(key: string, bornAt: number): Promise<boolean>;
  /**
   * Counts one use of each key in its window. `false` once one of them has reached its limit: then none is counted, so
   * that a use that one key refuses takes nothing from another.
   */
  count(requests: readonly CountRequest[]): Promise<boolean>;
}

export interface SpendRequest {
  /** What is spent: jti and audience. */
  key: string;
  /** First issue of the jti; epoch milliseconds. */
  bornAt: number;
  /** SHA-256 of the question, when the caller may repeat it. */
  fingerprint: string | null;
  /** The answer to keep for a repeated question. */
  answer: string;
}

/** A spend request by position, which is smaller to send; the last element is the call's id. */
export type SpendRow = readonly [
  key: string,
  bornAt: number,
  fingerprint: string | null,
  answer: string,
  callId: string,
];

/** `spent`: this call won. Otherwise `replay` holds the kept answer if this is the same question again. */
export interface SpendResult {
  spent: boolean;
  replay: string | null;
}

export interface CountRequest {
  key: string;
  limit: number;
  windowMs: number;
}
