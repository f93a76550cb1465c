/**
 * Counters of one isolate, handed to the next batch and reset (design 7): one isolate's own numbers
 * mean nothing, their sum in the store does. Bounded, because names carry labels.
 */

/** The service refuses more names than anyone counts; a bug must not grow this map for ever. */
const NAMES_MAX = 256;

export class Counters {
  #values = new Map<string, number>();

  /** `name` is `word` or `word{label="value"}`, the grammar of `verdictBatch.counters`. */
  add(name: string, by = 1): void {
    const value = this.#values.get(name);
    if (value === undefined && this.#values.size >= NAMES_MAX) return;
    this.#values.set(name, (value ?? 0) + by);
  }

  /** What was counted since the last take; starts again at nothing. */
  take(): Record<string, number> {
    const taken = Object.fromEntries(this.#values);
    this.#values = new Map();
    return taken;
  }

  /** Puts back what a batch could not deliver. */
  restore(taken: Readonly<Record<string, number>>): void {
    for (const [name, by] of Object.entries(taken)) this.add(name, by);
  }
}
