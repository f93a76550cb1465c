/**
 * Bytes of challenged submissions that this isolate holds in memory, all together. One of 8 MiB costs about three times
 * that while it is parsed and sent on; ten at once would end an isolate of 128 MB and every request in it. When the room
 * is full, the network that holds the most gives some back: its largest body that is still on its way. So nobody can stop
 * the submissions of others by sending half of theirs.
 */
import type { Room } from '../../bytes/read-bounded.ts';
import { type Neighbours, neighboursOf } from '../../address/networks.ts';

/** Two of the largest, or many of the usual size. Beside 32 MB of rules this is a third of the isolate. */
export const HELD_BODIES_MAX_BYTES = 16 * 1024 * 1024;
/** What a body counts at least, so that there are no more than 4,096 to compare. */
const BODY_MIN_BYTES = 4096;
/** Read in 30 s, verified in some, answered by the origin in 100: an older body belongs to a request that was killed. */
const LOST_AFTER_MS = 180_000;

interface HeldBody extends Neighbours {
  readonly requestId: string;
  /** Arrival of its request, epoch milliseconds. */
  readonly sinceMs: number;
  bytes: number;
  /** Frees what has arrived. `null` once the body is whole: it is in use. */
  forget: (() => void) | null;
}

export interface Holder {
  requestId: string;
  nowMs: number;
  signals: { ip: string | null };
}

export class BodyBudget {
  readonly #bodies = new Map<string, HeldBody>();
  readonly #count: (name: string) => void;

  constructor(count: (name: string) => void) {
    this.#count = count;
  }

  /** Room for a request's body as its bytes arrive. The gate gives it back when the request is answered. */
  hold({ requestId, nowMs, signals }: Holder): Room {
    let body = this.#bodies.get(requestId);
    if (!body) {
      body = { ...neighboursOf(signals.ip), requestId, sinceMs: nowMs, bytes: BODY_MIN_BYTES, forget: null };
      this.#bodies.set(requestId, body);
    }
    const own = body;
    return {
      take: (bytes) => {
        own.bytes += bytes;
        return this.#bodies.get(requestId) === own && this.#fits(own, nowMs);
      },
      lend: (forget) => (own.forget = forget),
      keep: () => (own.forget = null),
    };
  }

  /** Has no effect for a request that holds nothing. */
  release(requestId: string): void {
    this.#bodies.delete(requestId);
  }

  /** Whether there is room for `own`, if need be after others gave theirs back. */
  #fits(own: HeldBody, nowMs: number): boolean {
    for (let excess = this.#sumAt(nowMs) - HELD_BODIES_MAX_BYTES; excess > 0;) {
      const victim = this.#largestOfTheHeaviest(own);
      excess -= victim.bytes;
      this.release(victim.requestId);
      this.#count('submissions_refused{reason="memory"}');
      if (victim === own) return false;
      victim.forget?.();
    }
    return true;
  }

  /** Among those on their way. `own` where nobody has more. */
  #largestOfTheHeaviest(own: HeldBody): HeldBody {
    const bodies = [...this.#bodies.values()];
    const arriving = [own, ...bodies.filter((body) => body !== own && body.forget !== null)];
    const town = heaviest(arriving, bodies, ({ around }) => around);
    const network = heaviest(town, bodies, ({ near }) => near);
    return network.reduce((largest, body) => (body.bytes > largest.bytes ? body : largest));
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

/** Those of `some` in the group that holds the most of `all`; the first group among equals. */
function heaviest(
  some: readonly HeldBody[],
  all: readonly HeldBody[],
  groupOf: (body: HeldBody) => string,
): HeldBody[] {
  const sums = new Map<string, number>();
  for (const body of all) sums.set(groupOf(body), (sums.get(groupOf(body)) ?? 0) + body.bytes);
  const weight = (body: HeldBody): number => sums.get(groupOf(body)) ?? 0;
  const first = some.reduce((most, body) => (weight(body) > weight(most) ? body : most));
  return some.filter((body) => groupOf(body) === groupOf(first));
}
