/**
 * The edge side of the verdict log (design 7): records gather in the isolate and leave in batches of
 * 100 or after 250 ms, inside `waitUntil`, so that no response ever waits for its log line.
 *
 * Rules of the platform that shape this: timers and sub-requests belong to the request that made
 * them, so the first record of a window opens one promise in its own request's `waitUntil` that
 * sleeps and then sends what all requests put in. Nothing here throws, and nothing is dropped
 * without a counter: three attempts with the same ids, then the fallback, then a counted drop.
 */
import type { VerdictRecord } from '../contract/edge/verdict-record.ts';
import { Counters } from './counters.ts';
import { newEventId } from './event-id.ts';
import type { SinkBatch, VerdictSink } from './sink.ts';
import { SinkError } from './sink.ts';

/** Large enough to amortise a sub-request, small enough for one queue message in the usual case. */
const BATCH_MAX_RECORDS = 100;
/** How long a verdict may be invisible to a reader for the sake of batching. */
const WINDOW_MS = 250;
/** About 10 MB of records: what an isolate of 128 MB can spare while the log is slow. */
const BUFFER_MAX_RECORDS = 5000;
/** Batches under way at once; more would only queue up behind the six connections of a request. */
const IN_FLIGHT_MAX_BATCHES = 16;
const ATTEMPTS_MAX = 3;
/** 200, 400 ms and jitter: three attempts and their time-outs fit the 30 s that `waitUntil` grants. */
const BACKOFF_BASE_MS = 200;
/** All attempts and the fallback end well within this; a batch still under way then lost its request. */
const FLIGHT_LOST_AFTER_MS = 60_000;
/** A window older than this lost its request; the next record opens another. */
const WINDOW_LOST_AFTER_MS = 2000;

export interface VerdictBatcherOptions {
  readonly sinks: readonly VerdictSink[];
  /** Takes, with the same ids, what a sink with `usesFallback` could not deliver. */
  readonly fallback?: VerdictSink;
  /** Epoch milliseconds. */
  now(): number;
  readonly isolateId: string;
  readonly maxRecords?: number;
  readonly windowMs?: number;
  readonly bufferMaxRecords?: number;
  sleep?(ms: number): Promise<void>;
}

function sleepByTimer(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

export class VerdictBatcher {
  readonly isolateId: string;
  readonly #options: VerdictBatcherOptions;
  readonly #maxRecords: number;
  readonly #windowMs: number;
  readonly #bufferMax: number;
  readonly #sleep: (ms: number) => Promise<void>;
  readonly #counters = new Counters();
  #buffer: VerdictRecord[] = [];
  #windowOpenedAt: number | null = null;
  /** When each batch under way was sent. */
  readonly #flights = new Set<{ startedAt: number }>();
  #seq = 0;

  constructor(options: VerdictBatcherOptions) {
    this.isolateId = options.isolateId;
    this.#options = options;
    this.#maxRecords = options.maxRecords ?? BATCH_MAX_RECORDS;
    this.#windowMs = options.windowMs ?? WINDOW_MS;
    this.#bufferMax = options.bufferMaxRecords ?? BUFFER_MAX_RECORDS;
    this.#sleep = (ms) => (options.sleep ? options.sleep(ms) : sleepByTimer(ms));
  }

  /** Numbers this isolate's records from 0, so that the store sees what never arrived. */
  nextSeq(): number {
    return this.#seq++;
  }

  /** Adds to a counter that rides in the next batch. */
  count(name: string, by = 1): void {
    this.#counters.add(name, by);
  }

  /** Takes one record; returns at once. `waitUntil` must be the current request's. */
  add(record: VerdictRecord, waitUntil: (work: Promise<unknown>) => void): void {
    if (this.#buffer.length >= this.#bufferMax) {
      this.#counters.add('verdicts_dropped{reason="buffer-full"}');
      return;
    }
    this.#buffer.push(record);
    if (this.#buffer.length >= this.#maxRecords && this.#mayFly()) {
      waitUntil(this.#drain());
    } else if (!this.#windowIsOpen()) {
      waitUntil(this.#window());
    }
  }

  #windowIsOpen(): boolean {
    return this.#windowOpenedAt !== null && this.#options.now() - this.#windowOpenedAt < WINDOW_LOST_AFTER_MS;
  }

  /** A request that is killed never ends its batches: they must not use up the bound for good. */
  #mayFly(): boolean {
    if (this.#flights.size < IN_FLIGHT_MAX_BATCHES) return true;
    const lost = this.#options.now() - FLIGHT_LOST_AFTER_MS;
    for (const flight of this.#flights) if (flight.startedAt < lost) this.#flights.delete(flight);
    return this.#flights.size < IN_FLIGHT_MAX_BATCHES;
  }

  async #window(): Promise<void> {
    this.#windowOpenedAt = this.#options.now();
    await this.#sleep(this.#windowMs);
    this.#windowOpenedAt = null;
    await this.#drain();
  }

  /** Sends what is buffered; what the in-flight bound leaves behind goes out as batches come back. */
  async #drain(): Promise<void> {
    const sends: Promise<void>[] = [];
    while (this.#buffer.length > 0 && this.#mayFly()) {
      const records = this.#buffer.splice(0, this.#maxRecords);
      sends.push(this.#deliver(records));
    }
    if (sends.length === 0) return;
    await Promise.all(sends);
    if (this.#buffer.length > 0 && !this.#windowIsOpen()) await this.#drain();
  }

  async #deliver(records: readonly VerdictRecord[]): Promise<void> {
    const flight = { startedAt: this.#options.now() };
    this.#flights.add(flight);
    const counters = this.#counters.take();
    const batch: SinkBatch = { batchId: newEventId(this.#options.now()), records, counters };
    const delivered = await Promise.all(this.#options.sinks.map((sink) => this.#send(sink, batch)));
    const countersArrived = this.#options.sinks.some((sink, index) => sink.carriesCounters && delivered[index]);
    if (!countersArrived) this.#counters.restore(counters);
    this.#flights.delete(flight);
  }

  /** True when the batch is safe with the sink or with the fallback. Never throws. */
  async #send(sink: VerdictSink, batch: SinkBatch): Promise<boolean> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
      try {
        await sink.send(batch);
        return true;
      } catch (error) {
        this.#counters.add(`log_sink_failures{sink="${sink.name}"}`);
        const transient = !(error instanceof SinkError) || error.transient;
        if (!transient || attempt === ATTEMPTS_MAX) break;
        await this.#sleep(BACKOFF_BASE_MS * 2 ** (attempt - 1) * (0.5 + Math.random()));
      }
    }
    const { fallback } = this.#options;
    if (sink.usesFallback && fallback) {
      try {
        await fallback.send(batch);
        this.#counters.add('verdicts_queued', batch.records.length);
        return true;
      } catch {
        this.#counters.add(`log_sink_failures{sink="${fallback.name}"}`);
      }
    }
    this.#counters.add(`verdicts_dropped{reason="${sink.name}-failed"}`, batch.records.length);
    return false;
  }
}
