/**
 * Batches spends: those that one isolate sends to one ledger object within a millisecond share one call and one
 * transaction. The ledger alone decides which of them win. On Workers, I/O and promises belong to the request that started
 * them and end with it. So the first request of a batch sends it inside its `waitUntil`, which continues after the visitor
 * disconnects, and leaves the results in memory. Each other request looks for its own there, and repeats its spend alone
 * when none comes. The call id makes repeating safe: a call that won has still won.
 */
import { polled, type WaitUntil } from '../../../bytes/polled.ts';
import type { SpendResult, SpendRow } from '../rpc.ts';

/** Shorter than any round trip to an object in production; long enough that a busy isolate fills a batch. */
const WINDOW_MS = 1;
/** About 20 KB in one call, and one transaction of about a millisecond. */
export const SPENDS_PER_BATCH_MAX = 64;
/** The request that should have sent an older batch is gone. The next spend opens a new batch. */
const OPEN_LOST_AFTER_MS = 100;
/** Without a result by then, the sending request is gone or the object is slow. One more call decides. */
const ANSWER_LOST_AFTER_MS = 2000;

/** How the current request reaches the ledger, and its `waitUntil`. */
export interface SpendWay {
  /** One result per row, in the same order. */
  send(rows: readonly SpendRow[]): Promise<readonly SpendResult[]>;
  waitUntil: WaitUntil;
}

interface Batch {
  openedAt: number;
  rows: SpendRow[];
  outcome?: { results: readonly SpendResult[] } | { error: unknown };
}

export class SpendBatcher {
  readonly #open = new Map<string, Batch>();
  readonly #answerLostAfterMs: number;

  constructor(answerLostAfterMs: number = ANSWER_LOST_AFTER_MS) {
    this.#answerLostAfterMs = answerLostAfterMs;
  }

  /** @throws what the ledger's call threw. Then no spend of the batch was stored. */
  async spend(ledger: string, row: SpendRow, way: SpendWay, nowMs: number): Promise<SpendResult> {
    const open = this.#open.get(ledger);
    if (open === undefined || nowMs - open.openedAt > OPEN_LOST_AFTER_MS) {
      const batch: Batch = { openedAt: nowMs, rows: [row] };
      this.#open.set(ledger, batch);
      const sending = this.#send(ledger, batch, way);
      way.waitUntil(sending);
      await sending;
      return resultAt(batch, 0);
    }
    const place = open.rows.push(row) - 1;
    if (open.rows.length >= SPENDS_PER_BATCH_MAX) this.#open.delete(ledger);
    const outcome = await polled(() => open.outcome, this.#answerLostAfterMs);
    return resultAt(outcome ? open : { outcome: { results: await way.send([row]) } }, outcome ? place : 0);
  }

  /** Never rejects: an error goes to every request of the batch. */
  async #send(ledger: string, batch: Batch, way: SpendWay): Promise<void> {
    await sleep(WINDOW_MS);
    if (this.#open.get(ledger) === batch) this.#open.delete(ledger);
    try {
      batch.outcome = { results: await way.send(batch.rows) };
    } catch (error) {
      batch.outcome = { error };
    }
  }
}

function resultAt({ outcome }: Pick<Batch, 'outcome'>, place: number): SpendResult {
  if (outcome && 'error' in outcome) throw outcome.error;
  const result = outcome?.results[place];
  if (result === undefined) throw new Error('The ledger returned no result for a spend');
  return result;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
