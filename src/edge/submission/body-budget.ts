/**
 * Bytes of challenged submissions that this isolate holds in memory, all together. One of 8 MiB costs about three times
 * that while it is parsed and sent on; ten at once would end an isolate of 128 MB and every request in it. A submission
 * that comes too late must be sent again; those already held are served.
 */

/** Two of the largest, or many of the usual size. Beside 32 MB of rules this is a third of the isolate. */
export const HELD_BODIES_MAX_BYTES = 16 * 1024 * 1024;
/** Read in 30 s, verified in some, answered by the origin in 100: an older body belongs to a request that was killed. */
const LOST_AFTER_MS = 180_000;

interface HeldBody {
  bytes: number;
  /** Arrival of its request, epoch milliseconds. */
  readonly sinceMs: number;
}

export class BodyBudget {
  readonly #bodies = new Map<string, HeldBody>();
  readonly #count: (name: string) => void;

  constructor(count: (name: string) => void) {
    this.#count = count;
  }

  /**
   * Takes room for a request's body as its bytes arrive. False: there is no room, and the request holds nothing any
   * more. The gate gives the room back when the request is answered.
   */
  hold({ requestId, nowMs }: { requestId: string; nowMs: number }): (bytes: number) => boolean {
    const body = this.#bodies.get(requestId) ?? { bytes: 0, sinceMs: nowMs };
    this.#bodies.set(requestId, body);
    return (bytes) => {
      body.bytes += bytes;
      if (this.#sumAt(nowMs) <= HELD_BODIES_MAX_BYTES) return true;
      this.release(requestId);
      this.#count('submissions_refused{reason="memory"}');
      return false;
    };
  }

  /** Has no effect for a request that holds nothing. */
  release(requestId: string): void {
    this.#bodies.delete(requestId);
  }

  /** Of all bodies but those whose request can no longer be running. */
  #sumAt(nowMs: number): number {
    let sum = 0;
    for (const [requestId, held] of this.#bodies) {
      if (nowMs - held.sinceMs > LOST_AFTER_MS) this.#bodies.delete(requestId);
      else sum += held.bytes;
    }
    return sum;
  }
}
