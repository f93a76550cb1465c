/**
 * The interface of a destination of verdicts. A sink sends one batch once. The batcher retries, falls back and counts,
 * so that every sink fails in the same visible way.
 */
import type { VerdictRecord } from '../contract/edge/verdict-record.ts';
import type { Clock } from './batcher.ts';

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

const ATTEMPTS_MAX = 3;
/** 200 and 400 ms with jitter: three attempts and their time-outs fit the 30 s that `waitUntil` grants. */
const BACKOFF_BASE_MS = 200;

/**
 * Repeats a delivery that failed for a reason that may pass, and returns whether one of the attempts succeeded. Never
 * rejects. An attempt may repeat what arrived already, so the receiver must drop second copies.
 * @param onFailure is called with the error of each failed attempt.
 */
export async function deliverWithRetries(
  deliver: () => Promise<unknown>,
  clock: Clock,
  onFailure: (error: unknown) => void,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await deliver();
      return true;
    } catch (error) {
      onFailure(error);
      const isTransient = !(error instanceof SinkError) || error.transient;
      if (!isTransient || attempt === ATTEMPTS_MAX) return false;
      await clock.sleep(BACKOFF_BASE_MS * 2 ** (attempt - 1) * (0.5 + Math.random()));
    }
  }
}
