/** Counts per key in a fixed window that opens with the key's first use. Kept in this isolate, bounded in size. */
import { BoundedMap } from './bounded-map.ts';

const KEYS_MAX = 10_000;

export class WindowCounts {
  readonly #windows = new BoundedMap<{ openedAtMs: number; used: number }>(KEYS_MAX);
  readonly #max: number;
  readonly #windowMs: number;

  constructor(max: number, windowMs: number) {
    this.#max = max;
    this.#windowMs = windowMs;
  }

  /** Counts one use. False: the key has used up its window. */
  take(key: string, nowMs: number): boolean {
    const window = this.#windows.get(key);
    if (window && nowMs - window.openedAtMs <= this.#windowMs) return ++window.used <= this.#max;
    this.#windows.set(key, { openedAtMs: nowMs, used: 1 });
    return true;
  }

  /** Whether the next use may pass. Counts nothing. */
  hasRoom(key: string, nowMs: number): boolean {
    const window = this.#windows.get(key);
    return this.#max > 0 && (!window || nowMs - window.openedAtMs > this.#windowMs || window.used < this.#max);
  }
}
