/**
 * Isolate memory for verified tokens. Bounded by dropping the older half's worth at once: two
 * generations, no per-entry bookkeeping, and a flood of forged tokens cannot push the memory of an
 * isolate up, only cost itself a signature check each.
 */
export class BoundedMap<Value> {
  readonly #maxEntries: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  /** Holds between `maxEntries / 2` and `maxEntries` of the entries used last. */
  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  get(key: string): Value | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const older = this.#old.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#maxEntries / 2) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
