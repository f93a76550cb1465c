/**
 * Counters of one isolate. The next batch takes them and resets them: one isolate's own numbers mean nothing, their sum
 * in the store does. Bounded, because names carry labels.
 */

/** Far more names than are in use, so that a bug cannot grow this map without end. */
const NAMES_MAX = 256;

export class Counters {
  #values = new Map<string, number>();

  /** `name` is `word` or `word{label="value"}`, the grammar of `verdictBatch.counters`. */
  add(name: string, by = 1): void {
    const value = this.#values.get(name);
    if (value === undefined && this.#values.size >= NAMES_MAX) return;
    this.#values.set(name, (value ?? 0) + by);
  }

  /** What was counted since the last take. All counters start again from zero. */
  take(): Record<string, number> {
    const taken = Object.fromEntries(this.#values);
    this.#values = new Map();
    return taken;
  }

  /** Adds back what a batch could not deliver. */
  restore(taken: Readonly<Record<string, number>>): void {
    for (const [name, by] of Object.entries(taken)) this.add(name, by);
  }
}
