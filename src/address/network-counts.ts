/**
 * How often the networks of an address used something within a window, kept in this isolate. A larger network may use it
 * more often (`networksOf`). A use that one network refuses counts in none of them.
 */
import { WindowCounts } from '../bytes/window-counts.ts';
import { networksOf } from './networks.ts';

export class NetworkCounts {
  readonly #max: number;
  readonly #windowMs: number;
  /** By how many times the bound: networks of one size each. */
  readonly #counts = new Map<number, WindowCounts>();

  /** `max`: of the visitor's own network. */
  constructor(max: number, windowMs: number) {
    this.#max = max;
    this.#windowMs = windowMs;
  }

  /** Counts one use. False: one of the networks has used up its window. */
  take(ip: string | null, nowMs: number): boolean {
    if (!this.hasRoom(ip, nowMs)) return false;
    for (const { prefix, times } of networksOf(ip)) this.#countsOf(times).take(prefix, nowMs);
    return true;
  }

  /** Whether the next use may pass. Counts nothing. */
  hasRoom(ip: string | null, nowMs: number): boolean {
    return networksOf(ip).every(({ prefix, times }) => this.#countsOf(times).hasRoom(prefix, nowMs));
  }

  #countsOf(times: number): WindowCounts {
    let counts = this.#counts.get(times);
    if (counts === undefined) this.#counts.set(times, (counts = new WindowCounts(this.#max * times, this.#windowMs)));
    return counts;
  }
}
