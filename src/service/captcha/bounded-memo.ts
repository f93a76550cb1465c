/**
 * A map that forgets: entries live a fixed time, and the oldest goes when it is full. What an isolate
 * may remember of D1 rows and of visitors' recent calls, bounded against whoever sends many keys.
 */
export class BoundedMemo<Value> {
  readonly #entries = new Map<string, { value: Value; until: number }>();
  readonly #maxEntries: number;
  readonly #lifeMs: number;

  constructor(maxEntries: number, lifeMs: number) {
    this.#maxEntries = maxEntries;
    this.#lifeMs = lifeMs;
  }

  get(key: string, nowMs: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.until > nowMs) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value, nowMs: number): void {
    this.#entries.delete(key);
    if (this.#entries.size >= this.#maxEntries) {
      const oldest = this.#entries.keys().next().value;
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    this.#entries.set(key, { value, until: nowMs + this.#lifeMs });
  }
}
