/**
 * Sums of what edges counted and of the verdicts that are stored. A batch carries its counters into the row that stores
 * it, so they count once, however often it arrives. Counters without a stored record are added once per batch id.
 */
import type { BatchCounters } from '../packed-batch.ts';

/** Names per log that edges count. One edge sends at most 256; labels of several versions may add up. */
const COUNTERS_MAX = 2000;

export class CounterSums {
  readonly #sql: SqlStorage;
  /** What arrived since the last merge. */
  #fresh = new Map<string, number>();
  /** Every name in use; read by the first batch that counts something. */
  #names: Set<string> | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add({ traffic, edge }: BatchCounters): void {
    for (const [name, value] of Object.entries(edge)) if (this.#takes(name, value)) this.#raise(name, value);
    for (const [name, value] of Object.entries(traffic)) this.#raise(name, value);
  }

  #takes(name: string, value: number): boolean {
    this.#names ??= new Set([...Object.keys(this.#read()), ...this.#fresh.keys()]);
    const isTaken = Number.isFinite(value) && (this.#names.has(name) || this.#names.size < COUNTERS_MAX);
    if (isTaken) this.#names.add(name);
    return isTaken;
  }

  #raise(name: string, value: number): void {
    this.#fresh.set(name, (this.#fresh.get(name) ?? 0) + value);
  }

  /** Adds these at once, in a transaction of their own, unless the batch id is known. */
  addOnce(
    storage: DurableObjectStorage,
    batchId: string,
    counters: Readonly<Record<string, number>>,
    nowMs: number,
  ): void {
    storage.transactionSync(() => {
      const { rowsWritten } = this.#sql.exec(
        'INSERT INTO counted_batches (id, at) VALUES (?, ?) ON CONFLICT (id) DO NOTHING',
        batchId,
        nowMs,
      );
      if (rowsWritten === 0) return;
      for (const [name, value] of Object.entries(counters)) {
        if (this.#takes(name, value)) this.#addToTable(name, value);
      }
    });
  }

  /** Adds the sums of a shard that was lost; runs inside the caller's transaction. */
  restore(counters: Readonly<Record<string, number>>): void {
    for (const [name, value] of Object.entries(counters)) if (this.#takes(name, value)) this.#addToTable(name, value);
  }

  /** Runs inside the transaction that moves the watermark; `forgetFresh` follows when it has succeeded. */
  write(): void {
    for (const [name, value] of this.#fresh) this.#addToTable(name, value);
  }

  forgetFresh(): void {
    this.#fresh = new Map();
  }

  forget(): void {
    this.forgetFresh();
    this.#names = null;
  }

  sums(): Record<string, number> {
    const sums = new Map(Object.entries(this.#read()));
    for (const [name, value] of this.#fresh) sums.set(name, (sums.get(name) ?? 0) + value);
    return Object.fromEntries(sums);
  }

  #addToTable(name: string, value: number): void {
    this.#sql.exec(
      'INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value',
      name,
      value,
    );
  }

  #read(): Record<string, number> {
    const rows = this.#sql.exec<{ name: string; value: number }>('SELECT name, value FROM counters ORDER BY name');
    return Object.fromEntries(rows.toArray().map(({ name, value }) => [name, value]));
  }
}
