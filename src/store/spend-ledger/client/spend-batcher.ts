/**
 * Group commit of spends: those of one isolate and one ledger object that come within a millisecond leave
 * in one call and one transaction (design 11). Which of them wins is still the ledger's word alone.
 *
 * I/O on Workers belongs to the request that made it and dies with it, so nobody waits for another's
 * promise without a way out: the first request of a batch sends it inside its `waitUntil`, which outlives
 * a visitor who hangs up; each other waits on a promise of its own beside a timer of its own, and asks for
 * itself when that ends. The call id makes the second asking harmless: who won the first time still has.
 */
import type { SpendResult, SpendRow } from '../rpc.ts';

/** Shorter than any way to an object in production; long enough that a busy isolate fills a batch. */
const WINDOW_MS = 1;
/** One call of some 20 KB and one transaction of about a millisecond. */
export const SPENDS_PER_BATCH_MAX = 64;
/** An open batch older than this lost its request before it left; the next spend opens another. */
const OPEN_LOST_AFTER_MS = 100;
/** No answer by then: the request that sent is gone, or the object is slow and one more call decides. */
const ANSWER_LOST_AFTER_MS = 2000;

/** The current request's own way to the ledger, and its `waitUntil`. */
export interface SpendWay {
  /** One result per row, in order. */
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

  /** @throws what the ledger's call threw: then nobody of the batch has spent, and nobody is told so. */
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

  /** Never rejects: what went wrong is told to every seat. */
  async #send(ledger: string, batch: Batch, way: SpendWay): Promise<void> {
    await sleep(WINDOW_MS);
    if (this.#open.get(ledger) === batch) this.#open.delete(ledger);
    try {
      const results = await way.send(batch.rows);
      batch.seats.forEach((seat, index) => {
        const result = results[index];
        if (result === undefined) seat.reject(new Error('the ledger left a spend unanswered'));
        else seat.resolve(result);
      });
    } catch (error) {
      for (const seat of batch.seats) seat.reject(error);
    }
  }

  async #answered(promise: Promise<SpendResult>, row: SpendRow, way: SpendWay): Promise<SpendResult> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    // This request's own timer: while it runs, the request has something to wait for that is its own.
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
    if (own === undefined) throw new Error('the ledger left a spend unanswered');
    return own;
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
