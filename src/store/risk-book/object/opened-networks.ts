/**
 * How many sessions each network opened lately, and how many of them had input: what cookie cycling is judged by. Kept in
 * memory, because an index costs a written row for each session. Rebuilt from the stored sessions when the object has
 * restarted, or when the instance's window has grown.
 */
import type { Neighbours } from '../../../address/networks.ts';
import { OPENED_COUNTED_MAX, type OpenedBefore } from '../../../risk/facts.ts';

/** The newest sessions of a book that are counted: about 20 MB. An instance opens 1.6 million meanwhile. */
export const OPENINGS_MAX = 100_000;

export interface Opening extends Neighbours {
  jti: string;
  openedAt: number;
  idle: boolean;
}

interface Kept extends Opening {
  /** Numbers of the openings before this one of the same networks; -1: none. */
  beforeNear: number;
  beforeAround: number;
}

export class OpenedNetworks {
  readonly #max: number;
  /** Opening number n is at n modulo the maximum. */
  #openings: Kept[] = [];
  #next = 0;
  readonly #newest = { near: new Map<string, number>(), around: new Map<string, number>() };

  constructor(max: number = OPENINGS_MAX) {
    this.#max = max;
  }

  add(opening: Opening): void {
    const slot = this.#next % this.#max;
    const replaced = this.#openings[slot];
    if (replaced !== undefined) this.#forget(replaced, this.#next - this.#max);
    const { near, around } = this.#newest;
    const beforeNear = near.get(opening.near) ?? -1;
    const beforeAround = around.get(opening.around) ?? -1;
    this.#openings[slot] = { ...opening, beforeNear, beforeAround };
    near.set(opening.near, this.#next);
    around.set(opening.around, this.#next);
    this.#next++;
  }

  /** A session had input. One that is no longer counted changes nothing. */
  touch(jti: string, near: string): void {
    for (const opening of this.#newestOf('near', near)) {
      if (opening.jti !== jti) continue;
      opening.idle = false;
      return;
    }
  }

  /** A session was ended: it counts no more. */
  remove(jti: string, near: string): void {
    for (const opening of this.#newestOf('near', near)) if (opening.jti === jti) opening.openedAt = -Infinity;
  }

  /** Sessions that these networks opened since then: those without any interaction, and the others. */
  since({ near, around }: Neighbours, since: number): OpenedBefore {
    const [idleSessions, touchedSessions] = this.#count('near', near, since);
    const [idleAround, touchedAround] = this.#count('around', around, since);
    return { idleSessions, touchedSessions, idleAround, touchedAround };
  }

  #count(level: 'near' | 'around', network: string, since: number): [idle: number, touched: number] {
    let idle = 0;
    let touched = 0;
    for (const opening of this.#newestOf(level, network)) {
      if (opening.openedAt < since) continue;
      if (opening.idle) idle++;
      else touched++;
    }
    return [idle, touched];
  }

  *#newestOf(level: 'near' | 'around', network: string): Iterable<Kept> {
    let number = this.#newest[level].get(network) ?? -1;
    for (let seen = 0; seen < OPENED_COUNTED_MAX; seen++) {
      // An older opening has given its slot to a newer one.
      const opening = number < 0 || number < this.#next - this.#max ? undefined : this.#openings[number % this.#max];
      if (opening === undefined) return;
      yield opening;
      number = level === 'near' ? opening.beforeNear : opening.beforeAround;
    }
  }

  #forget({ near, around }: Kept, number: number): void {
    if (this.#newest.near.get(near) === number) this.#newest.near.delete(near);
    if (this.#newest.around.get(around) === number) this.#newest.around.delete(around);
  }
}
