/**
 * The memory of an isolate: maps with a bound, so that a sender of many keys cannot fill it. A flood of forged
 * tokens or addresses only pushes out what was remembered; it never makes the map grow.
 */

/**
 * Keeps the entries used last, in two generations: when the young one is half of the bound, the old one is dropped
 * at once. There is no bookkeeping per entry.
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

/** A bounded map whose entries also expire, `ttlMs` after they were set: for rows of a database that may change. */
export class ExpiringMap<Value> {
  readonly #entries: BoundedMap<{ value: Value; expiresAtMs: number }>;
  readonly #ttlMs: number;

  constructor(maxEntries: number, ttlMs: number) {
    this.#entries = new BoundedMap(maxEntries);
    this.#ttlMs = ttlMs;
  }

  get(key: string, nowMs: number): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.expiresAtMs > nowMs) return entry?.value;
    this.#entries.delete(key);
    return undefined;
  }

  set(key: string, value: Value, nowMs: number): void {
    this.#entries.set(key, { value, expiresAtMs: nowMs + this.#ttlMs });
  }
}

/**
 * A copy of a text that was cut out of a longer one. V8 keeps a whole header in memory for a substring of it that is
 * remembered. A few thousand requests with headers of 60 kB each would exceed the memory of an isolate.
 */
export function ownText(piece: string): string {
  // Concatenating and slicing again makes a new text; `slice` alone refers to the longer one.
  return ` ${piece}`.slice(1);
}
