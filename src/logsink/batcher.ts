/**
 * Gathers log entries in the isolate and sends them in batches, so that no response waits for its log line.
 * A timer and a sub-request belong to the request that started them. So the first entry of a window opens one promise
 * in its own request's `waitUntil`. That promise sleeps and then sends what all requests added in the meantime.
 * Memory is bounded: an entry that does not fit is reported, never lost in silence.
 */
import type { WaitUntil } from '../bytes/polled.ts';

/** All attempts at a batch end well within this. A batch that is still under way lost its request. */
const FLIGHT_LOST_AFTER_MS = 60_000;
/** A window that is open for this much longer than its time lost its request; the next entry opens another. */
const WINDOW_LOST_AFTER_MS = 1000;

export interface BatchBounds {
  readonly batchMaxEntries: number;
  /** How long an entry may be invisible to readers for the sake of batching, while there are few of them. */
  readonly windowMs: number;
  /** From this many entries in the first window on, it stays open for `busyWindowMs` in all, so that batches grow. */
  readonly busyFromEntries: number;
  readonly busyWindowMs: number;
  /** Entries that wait while the log is slow; the rest is refused. */
  readonly bufferMaxEntries: number;
  readonly inFlightMaxBatches: number;
}

export interface BatcherOptions<Entry> {
  readonly bounds: BatchBounds;
  readonly clock: Clock;
  /** Sends one batch, and settles when nothing more can be done for it. Never rejects. */
  deliver(entries: readonly Entry[]): Promise<void>;
  /** Called for each entry that finds the buffer full. */
  onOverflow(): void;
}

export class Batcher<Entry> {
  readonly #options: BatcherOptions<Entry>;
  readonly #buffer: Entry[] = [];
  /** Batches under way. A request that is killed never ends its batches, so each has the time it started. */
  readonly #flights = new Set<{ startedAtMs: number; entries: number }>();
  #windowOpenedAtMs: number | null = null;

  constructor(options: BatcherOptions<Entry>) {
    this.#options = options;
  }

  /** Entries that wait or are on their way. They can be lost with the isolate. */
  get held(): number {
    return [...this.#flights].reduce((sum, { entries }) => sum + entries, this.#buffer.length);
  }

  /** Takes one entry and returns at once. `waitUntil` must be the current request's. */
  add(entry: Entry, waitUntil: WaitUntil): void {
    const { bounds } = this.#options;
    if (this.#buffer.length >= bounds.bufferMaxEntries) {
      this.#options.onOverflow();
      return;
    }
    this.#buffer.push(entry);
    if (this.#buffer.length >= bounds.batchMaxEntries && this.#mayFly()) {
      waitUntil(this.#drain());
    } else if (!this.#windowIsOpen()) {
      waitUntil(this.#window());
    }
  }

  #windowIsOpen(): boolean {
    const openedAtMs = this.#windowOpenedAtMs;
    const { bounds, clock } = this.#options;
    return openedAtMs !== null && clock.nowMs() - openedAtMs < bounds.busyWindowMs + WINDOW_LOST_AFTER_MS;
  }

  #mayFly(): boolean {
    const { bounds, clock } = this.#options;
    if (this.#flights.size < bounds.inFlightMaxBatches) return true;
    const lostBeforeMs = clock.nowMs() - FLIGHT_LOST_AFTER_MS;
    for (const flight of this.#flights) if (flight.startedAtMs < lostBeforeMs) this.#flights.delete(flight);
    return this.#flights.size < bounds.inFlightMaxBatches;
  }

  async #window(): Promise<void> {
    const { bounds, clock } = this.#options;
    this.#windowOpenedAtMs = clock.nowMs();
    await clock.sleep(bounds.windowMs);
    const isBusy = this.#buffer.length >= bounds.busyFromEntries;
    if (isBusy && bounds.busyWindowMs > bounds.windowMs) await clock.sleep(bounds.busyWindowMs - bounds.windowMs);
    this.#windowOpenedAtMs = null;
    await this.#drain();
  }

  /** Sends what is buffered. What the bound on batches under way leaves behind follows as batches end. */
  async #drain(): Promise<void> {
    const sends: Promise<void>[] = [];
    while (this.#buffer.length > 0 && this.#mayFly()) {
      sends.push(this.#fly(this.#buffer.splice(0, this.#options.bounds.batchMaxEntries)));
    }
    if (sends.length === 0) return;
    await Promise.all(sends);
    if (this.#buffer.length > 0 && !this.#windowIsOpen()) await this.#drain();
  }

  async #fly(entries: readonly Entry[]): Promise<void> {
    const flight = { startedAtMs: this.#options.clock.nowMs(), entries: entries.length };
    this.#flights.add(flight);
    await this.#options.deliver(entries).finally(() => this.#flights.delete(flight));
  }
}

/** The time that batches wait by. Tests pass their own, so that no test sleeps. */
export interface Clock {
  /** Epoch milliseconds. */
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms) =>
    new Promise((resolve) => {
      setTimeout(resolve, ms);
    }),
};
