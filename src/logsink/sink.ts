/**
 * The interface of a destination of verdicts. A sink sends one batch once. The batcher retries, falls back and counts,
 * so that every sink fails in the same visible way.
 */
import type { VerdictRecord } from '../contract/edge/verdict-record.ts';

export interface SinkBatch {
  /** UUIDv7, the same at every retry, so that the counters of a batch count once. */
  readonly batchId: string;
  /** Who numbered the records, and their first and last number. Fixed before the first send. */
  readonly isolate: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** Records that the isolate had numbered after these when the batch was fixed. */
  readonly held: number;
  /** 1 to `VERDICT_BATCH_MAX_RECORDS` records, each with its own id. */
  readonly records: readonly VerdictRecord[];
  readonly counters: Readonly<Record<string, number>>;
}

export interface VerdictSink {
  /** A lower-case word, used as a label of the batcher's counters. */
  readonly name: string;
  /** The counters of a batch reach the store through this sink. */
  readonly carriesCounters?: boolean;
  /** The batcher's fallback takes what this sink cannot deliver. */
  readonly usesFallback?: boolean;
  /** Batches are no larger than this where the sink is in use. */
  readonly recordsMax?: number;
  /** Resolves once the batch is safe. Throws `SinkError`; any other error counts as transient. */
  send(batch: SinkBatch): Promise<void>;
}

export class SinkError extends Error {
  /** A retry with the same bytes may succeed. */
  readonly transient: boolean;

  constructor(message: string, transient: boolean) {
    super(message);
    this.name = 'SinkError';
    this.transient = transient;
  }
}

/** 408, 429 and 5xx may pass. Any other refusal would come again. */
export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
