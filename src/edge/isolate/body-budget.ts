/**
 * Bytes of challenged submissions that this isolate holds in memory, all together. One of 8 MiB costs some three
 * times that while it is parsed and sent on; ten at once would end an isolate of 128 MB, and with it
 * every request in it. Who comes too late is told to send again, and those already here are served.
 */
import type { Count } from '../feed/upstream.ts';

/** Two of the largest, or many of the usual; beside 32 MB of rules a third of the isolate at the worst. */
export const HELD_BODIES_MAX_BYTES = 16 * 1024 * 1024;
/** Read in 30 s, verified in some, answered by the origin in 100: what is older belongs to a request that was killed. */
const LOST_AFTER_MS = 180_000;

export interface HeldBody {
  bytes: number;
  /** Epoch milliseconds, of the request's arrival. */
  readonly sinceMs: number;
}

export class BodyBudget {
  readonly #bodies = new Set<HeldBody>();
  readonly #count: Count;

  constructor(count: Count) {
    this.#count = count;
  }

  /**
   * Takes room for a request's body as its bytes arrive; false: there is none, and it holds nothing any more. The gate
   * gives the room back when the request is answered.
   */
  holdFor(passage: { readonly nowMs: number; heldBody: HeldBody | null }): (bytes: number) => boolean {
    const body = (passage.heldBody ??= { bytes: 0, sinceMs: passage.nowMs });
    this.#bodies.add(body);
    return (bytes) => {
      body.bytes += bytes;
      if (this.#sumAt(body.sinceMs) <= HELD_BODIES_MAX_BYTES) return true;
      this.release(body);
      this.#count('submissions_refused{reason="memory"}');
      return false;
    };
  }

  /** Harmless for a body that holds nothing. */
  release(body: HeldBody): void {
    this.#bodies.delete(body);
  }

  /** Of all, without those whose request can no longer be there. */
  #sumAt(nowMs: number): number {
    let sum = 0;
    for (const held of this.#bodies) {
      if (nowMs - held.sinceMs > LOST_AFTER_MS) this.#bodies.delete(held);
      else sum += held.bytes;
    }
    return sum;
  }
}
