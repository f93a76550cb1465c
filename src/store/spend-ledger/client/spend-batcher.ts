/**
 * Batches spends: those that one isolate sends to one ledger object within a millisecond share one call and one
 * transaction. The ledger alone decides which of them win. A request that finds no result of its batch repeats its spend
 * alone. The call id makes repeating safe: a call that won has still won.
 */
import type { WaitUntil } from '../../../bytes/polled.ts';
import { SharedBatch } from '../../../bytes/shared-batch.ts';
import type { SpendResult, SpendRow } from '../rpc.ts';

/** About 20 KB in one call, and one transaction of about a millisecond. */
export const SPENDS_PER_BATCH_MAX = 64;
/** Without a result by then, the sending request is gone or the object is slow. One more call decides. */
const ANSWER_LOST_AFTER_MS = 2000;

/** How the current request reaches the ledger, and its `waitUntil`. */
export interface SpendWay {
  /** One result per row, in the same order. */
  send(rows: readonly SpendRow[]): Promise<readonly SpendResult[]>;
  waitUntil: WaitUntil;
}

type Outcome = { results: readonly SpendResult[] } | { error: unknown };

export class SpendBatcher {
  readonly #batches = new Map<string, SharedBatch<SpendRow[], Outcome>>();
  readonly #answerLostAfterMs: number;

  constructor(answerLostAfterMs: number = ANSWER_LOST_AFTER_MS) {
    this.#answerLostAfterMs = answerLostAfterMs;
  }

  /** @throws what the ledger's call threw. Then no spend of the batch was stored. */
  async spend(ledger: string, row: SpendRow, way: SpendWay, nowMs: number): Promise<SpendResult> {
    let batches = this.#batches.get(ledger);
    if (batches === undefined) this.#batches.set(ledger, (batches = new SharedBatch(this.#answerLostAfterMs)));
    let place = 0;
    const question = {
      empty: (): SpendRow[] => [],
      add: (rows: SpendRow[]) => {
        place = rows.push(row) - 1;
        return rows.length < SPENDS_PER_BATCH_MAX;
      },
      // An error goes to every request of the batch.
      send: (rows: readonly SpendRow[]): Promise<Outcome> =>
        way.send(rows).then(
          (results) => ({ results }),
          (error: unknown) => ({ error }),
        ),
      waitUntil: way.waitUntil,
    };
    const outcome = await batches.ask(question, nowMs);
    if (outcome && 'error' in outcome) throw outcome.error;
    const result = outcome ? outcome.results[place] : (await way.send([row]))[0];
    if (result === undefined) throw new Error('The ledger returned no result for a spend');
    return result;
  }
}
