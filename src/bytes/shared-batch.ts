/**
 * What several requests of an isolate ask within a millisecond, in one call. On Workers, I/O and promises belong to the
 * request that started them and end with it. So the first request of a batch sends it inside its `waitUntil`, which
 * continues after the visitor disconnects, and leaves the answer in memory, where each other one looks for it.
 */
import { polled, sleepFor, type WaitUntil } from './polled.ts';

/** Shorter than any round trip; long enough that a busy isolate fills a batch. */
const BATCH_MS = 1;
/** The request that should have sent an older batch is gone. The next question opens a new one. */
const OPEN_LOST_AFTER_MS = 100;

interface Batch<Asked, Answer> {
  openedAtMs: number;
  asked: Asked;
  answer?: Answer;
}

export class SharedBatch<Asked, Answer> {
  readonly #answerLostAfterMs: number;
  readonly #sleep: (ms: number) => Promise<unknown>;
  #open: Batch<Asked, Answer> | null = null;

  /** `answerLostAfterMs`: longer than a call takes. Without an answer by then, the sending request is gone. */
  constructor(answerLostAfterMs: number, sleep: (ms: number) => Promise<unknown> = sleepFor) {
    this.#answerLostAfterMs = answerLostAfterMs;
    this.#sleep = sleep;
  }

  /**
   * Adds a question to the batch that is open, or to a new one.
   * @param question `add` puts the question in, and returns whether there is room for another one. `send` never rejects.
   * @returns the answer to the whole batch; `undefined` where the request that should have sent it is gone.
   */
  async ask(
    question: {
      empty: () => Asked;
      add: (asked: Asked) => boolean;
      send: (asked: Asked) => Promise<Answer>;
      waitUntil: WaitUntil;
    },
    nowMs: number,
  ): Promise<Answer | undefined> {
    const open = this.#open;
    const isOpen = open !== null && Math.abs(nowMs - open.openedAtMs) <= OPEN_LOST_AFTER_MS;
    const batch: Batch<Asked, Answer> = isOpen ? open : { openedAtMs: nowMs, asked: question.empty() };
    this.#open = question.add(batch.asked) ? batch : null;
    if (isOpen) return polled(() => batch.answer, this.#answerLostAfterMs, this.#sleep);
    const sending = this.#send(batch, question.send);
    question.waitUntil(sending);
    await sending;
    return batch.answer;
  }

  async #send(batch: Batch<Asked, Answer>, send: (asked: Asked) => Promise<Answer>): Promise<void> {
    await this.#sleep(BATCH_MS);
    if (this.#open === batch) this.#open = null;
    batch.answer = await send(batch.asked);
  }
}
