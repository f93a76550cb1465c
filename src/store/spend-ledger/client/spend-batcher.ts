/**
 * Batches spends: those that one isolate sends to one ledger object within a millisecond share one call and one
 * transaction. The ledger alone decides which of them win. On Workers, I/O belongs to the request that started it and
 * ends with it. So the first request of a batch sends it inside its `waitUntil`, which continues after the visitor
 * disconnects. Each other request also starts a timer and repeats its spend alone when that ends. The call id makes
 * repeating safe: a call that won has still won.
 */
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
  waitUntil(work: Promise<unknown>): void;
}

interface Seat {
  resolve(result: SpendResult): void;
  reject(error: unknown): void;
}

interface Batch {
  openedAt: number;
  rows: SpendRow[];
  seats: Seat[];
}

export class SpendBatcher {
  readonly #open = new Map<string, Batch>();
  readonly #answerLostAfterMs: number;

  constructor(answerLostAfterMs: number = ANSWER_LOST_AFTER_MS) {
    this.#answerLostAfterMs = answerLostAfterMs;
  }

  /** @throws what the ledger's call threw. Then no spend of the batch was stored. */
  spend(ledger: string, row: SpendRow, way: SpendWay, nowMs: number): Promise<SpendResult> {
    const { promise, resolve, reject } = Promise.withResolvers<SpendResult>();
    const seat = { resolve, reject };
    const open = this.#open.get(ledger);
    if (open === undefined || nowMs - open.openedAt > OPEN_LOST_AFTER_MS) {
      const batch = { openedAt: nowMs, rows: [row], seats: [seat] };
      this.#open.set(ledger, batch);
      way.waitUntil(this.#send(ledger, batch, way));
      return promise;
    }
    open.rows.push(row);
    open.seats.push(seat);
    if (open.rows.length >= SPENDS_PER_BATCH_MAX) this.#open.delete(ledger);
    return this.#answered(promise, row, way);
  }

  /** Never rejects: an error goes to every request of the batch. */
  async #send(ledger: string, batch: Batch, way: SpendWay): Promise<void> {
    await sleep(WINDOW_MS);
    if (this.#open.get(ledger) === batch) this.#open.delete(ledger);
    try {
      const results = await way.send(batch.rows);
      batch.seats.forEach((seat, index) => {
        const result = results[index];
        if (result === undefined) seat.reject(new Error('The ledger returned no result for a spend'));
        else seat.resolve(result);
      });
    } catch (error) {
      for (const seat of batch.seats) seat.reject(error);
    }
  }

  async #answered(promise: Promise<SpendResult>, row: SpendRow, way: SpendWay): Promise<SpendResult> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    // A timer of this request, so that it always has I/O of its own to wait for.
    const lost = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), this.#answerLostAfterMs);
    });
    try {
      const result = await Promise.race([promise, lost]);
      if (result !== null) return result;
    } finally {
      clearTimeout(timer);
    }
    const [own] = await way.send([row]);
    if (own === undefined) throw new Error('The ledger returned no result for a spend');
    return own;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
