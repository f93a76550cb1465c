/**
 * How many sessions each address opened lately, and how many of them had input: what cookie cycling is judged by. An
 * address answers for itself: what its neighbours open raises no newcomer's score. Kept in memory, because an index costs
 * a written row for each session. Rebuilt from the stored sessions when the object has restarted, or when the instance's
 * window has grown.
 */
import { OPENED_COUNTED_MAX, type OpenedBefore } from '../../../risk/facts.ts';

/** The newest sessions of a book that are counted: about 20 MB. An instance opens 1.6 million meanwhile. */
export const OPENINGS_MAX = 100_000;

export interface Opening {
  jti: string;
  /** Of the visitor: an IPv4 address or a /64. */
  address: string;
  openedAt: number;
  idle: boolean;
}

interface Kept extends Opening {
  /** Number of the opening before this one of the same address; -1: none. */
  before: number;
}

export class OpenedSessions {
  readonly #max: number;
  /** Opening number n is at n modulo the maximum. */
  #openings: Kept[] = [];
  #next = 0;
  readonly #newest = new Map<string, number>();

  constructor(max: number = OPENINGS_MAX) {
    this.#max = max;
  }

  add(opening: Opening): void {
    const slot = this.#next % this.#max;
    const replaced = this.#openings[slot];
    if (replaced !== undefined) this.#forget(replaced, this.#next - this.#max);
    const before = this.#newest.get(opening.address) ?? -1;
    this.#openings[slot] = { ...opening, before };
    this.#newest.set(opening.address, this.#next);
    this.#next++;
  }

  /** A session had input. One that is no longer counted changes nothing. */
  touch(jti: string, address: string): void {
    for (const opening of this.#newestOf(address)) {
      if (opening.jti !== jti) continue;
      opening.idle = false;
      return;
    }
  }

  /** A session was ended: it counts no more. */
  remove(jti: string, address: string): void {
    for (const opening of this.#newestOf(address)) if (opening.jti === jti) opening.openedAt = -Infinity;
  }

  /** Sessions that the address opened since then: those without any interaction, and the others. */
  since(address: string, since: number): OpenedBefore {
    const counts = { idleSessions: 0, touchedSessions: 0 };
    for (const { openedAt, idle } of this.#newestOf(address)) {
      if (openedAt >= since) counts[idle ? 'idleSessions' : 'touchedSessions']++;
    }
    return counts;
  }

  *#newestOf(address: string): Iterable<Kept> {
    let number = this.#newest.get(address) ?? -1;
    for (let seen = 0; seen < OPENED_COUNTED_MAX; seen++) {
      // An older opening has given its slot to a newer one.
      const opening = number < 0 || number < this.#next - this.#max ? undefined : this.#openings[number % this.#max];
      if (opening === undefined) return;
      yield opening;
      number = opening.before;
    }
  }

  #forget({ address }: Kept, number: number): void {
    if (this.#newest.get(address) === number) this.#newest.delete(address);
  }
}
