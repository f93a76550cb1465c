/**
 * What a destination of verdicts looks like to the batcher. A sink sends one batch once; retrying,
 * falling back and counting are the batcher's, so that every sink fails in the same visible way.
 */
import type { VerdictRecord } from '../contract/edge/verdict-record.ts';

export interface SinkBatch {
  /** UUIDv7, the same at every retry: what makes the counters of a batch count once. */
  readonly batchId: string;
  /** 1 to `VERDICT_BATCH_MAX_RECORDS` records, each with its own id. */
  readonly records: readonly VerdictRecord[];
  readonly counters: Readonly<Record<string, number>>;
}

export interface VerdictSink {
  /** Lower-case word; a label of the batcher's counters. */
  readonly name: string;
  /** The counters of a batch arrive in the store by way of this sink. */
  readonly carriesCounters?: boolean;
  /** What this sink cannot deliver is handed to the batcher's fallback. */
  readonly usesFallback?: boolean;
  /** Resolves once the batch is safe. Throws `SinkError`; any other error counts as transient. */
  send(batch: SinkBatch): Promise<void>;
}

export class SinkError extends Error {
  /** The same bytes could be taken a moment later. */
  readonly transient: boolean;

  constructor(message: string, transient: boolean) {
    super(message);
    this.name = 'SinkError';
    this.transient = transient;
  }
}

/** 408, 429 and 5xx pass; any other refusal would be repeated word for word. */
export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}
