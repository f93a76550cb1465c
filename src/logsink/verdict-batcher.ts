/**
 * Delivers verdict records from the edge to every sink: after 250 ms when there is only one, else after one second or 500
 * under load. A batch is fixed before its first send and keeps its range of numbers through every attempt, so the store
 * drops second copies. A batch that a sink refuses goes to the fallback, and is counted as dropped when that fails too.
 * The counters travel with the next batch.
 */
import type { WaitUntil } from '../bytes/polled.ts';
import { VERDICT_BATCH_MAX_RECORDS } from '../contract/edge/record-bounds.ts';
import type { VerdictRecord } from '../contract/edge/verdict-record.ts';
import { deliverWithRetries, type SinkBatch, type VerdictSink } from './sink.ts';
import { Batcher, systemClock, type BatchBounds, type Clock } from './batcher.ts';
import { newEventId } from './event-id.ts';
import type { ServiceClock } from './service-clock.ts';

/** No record waits for its first send for longer, unless as many batches as may be are under way. */
export const SENT_WITHIN_MS = 1000;

const BOUNDS: BatchBounds = {
  // What one append call takes. A batch is one row of the log, so a larger batch is a cheaper one.
  batchMaxEntries: VERDICT_BATCH_MAX_RECORDS,
  windowMs: 250,
  busyFromEntries: 2,
  busyWindowMs: SENT_WITHIN_MS,
  // About 10 MB of records, out of the 128 MB of an isolate.
  bufferMaxEntries: 5000,
  // More would only queue up behind the six connections of a request.
  inFlightMaxBatches: 16,
};

export interface VerdictBatcherOptions {
  readonly sinks: readonly VerdictSink[];
  /** Takes, with the same ids, what a sink with `usesFallback` could not deliver. */
  readonly fallback?: VerdictSink;
  readonly isolateId: string;
  readonly bounds?: Partial<BatchBounds>;
  readonly clock?: Clock;
  /** Every sink gets records by this clock. Without one, by that of the edge. */
  readonly serviceClock?: ServiceClock;
}

export class VerdictBatcher {
  readonly isolateId: string;
  readonly #sinks: readonly VerdictSink[];
  readonly #fallback: VerdictSink | undefined;
  readonly #clock: Clock;
  readonly #serviceClock: ServiceClock | undefined;
  readonly #counters = new Counters();
  readonly #batcher: Batcher<VerdictRecord>;
  #seq = 0;

  constructor({ sinks, fallback, isolateId, bounds, clock = systemClock, serviceClock }: VerdictBatcherOptions) {
    this.isolateId = isolateId;
    this.#sinks = sinks;
    this.#fallback = fallback;
    this.#clock = clock;
    this.#serviceClock = serviceClock;
    this.#batcher = new Batcher({
      bounds: {
        ...BOUNDS,
        batchMaxEntries: Math.min(BOUNDS.batchMaxEntries, ...sinks.map(({ recordsMax }) => recordsMax ?? Infinity)),
        ...bounds,
      },
      clock,
      deliver: (records) => this.#deliver(records),
      onOverflow: () => this.#counters.add('verdicts_dropped{reason="buffer-full"}'),
    });
  }

  /** Records that are not known to be delivered. They can be lost with this isolate. */
  get held(): number {
    return this.#batcher.held;
  }

  /** Numbers this isolate's records from 0, so that the store can tell which never arrived. */
  nextSeq(): number {
    return this.#seq++;
  }

  /** Adds to a counter that travels with the next batch. */
  count(name: string, by = 1): void {
    this.#counters.add(name, by);
  }

  /** Takes one record and returns at once. `waitUntil` must be the current request's. */
  add(record: VerdictRecord, waitUntil: WaitUntil): void {
    this.#batcher.add(record, waitUntil);
  }

  async #deliver(records: readonly VerdictRecord[]): Promise<void> {
    const counters = this.#counters.take();
    const lastSeq = records.at(-1)?.edge.seq ?? 0;
    const batch: SinkBatch = {
      batchId: newEventId(this.#clock.nowMs()),
      isolate: this.isolateId,
      firstSeq: records[0]?.edge.seq ?? 0,
      lastSeq,
      held: this.#seq - 1 - lastSeq,
      records,
      counters,
    };
    const delivered = await Promise.all(this.#sinks.map((sink) => this.#send(sink, batch)));
    const countersArrived = this.#sinks.some((sink, index) => sink.carriesCounters && delivered[index]);
    if (!countersArrived) this.#counters.restore(counters);
  }

  #corrected(batch: SinkBatch): SinkBatch {
    const offsetMs = this.#serviceClock?.offsetMs ?? 0;
    if (offsetMs === 0) return batch;
    const records = batch.records.map((record) => ({ ...record, timestamp: record.timestamp + offsetMs }));
    return { ...batch, records };
  }

  /** True when the batch is safe with the sink or with the fallback. Never rejects. */
  async #send(sink: VerdictSink, batch: SinkBatch): Promise<boolean> {
    const countFailure = (failed: VerdictSink): void => this.#counters.add(`log_sink_failures{sink="${failed.name}"}`);
    if (
      await deliverWithRetries(
        () => sink.send(this.#corrected(batch)),
        this.#clock,
        () => countFailure(sink),
      )
    )
      return true;
    const fallback = sink.usesFallback ? this.#fallback : undefined;
    if (fallback) {
      try {
        await fallback.send(this.#corrected(batch));
        this.#counters.add('verdicts_queued', batch.records.length);
        return true;
      } catch {
        countFailure(fallback);
      }
    }
    this.#counters.add(`verdicts_dropped{reason="${sink.name}-failed"}`, batch.records.length);
    return false;
  }
}

/** Far more names than are in use, so that a bug cannot grow this map without end. */
const NAMES_MAX = 256;

/**
 * Counters of one isolate. The next batch takes them and resets them: one isolate's own numbers mean nothing, their sum
 * in the store does. Bounded, because names carry labels.
 */
class Counters {
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
