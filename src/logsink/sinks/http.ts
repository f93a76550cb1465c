/**
 * Verdicts as NDJSON to any URL: a SIEM, a collector, a bucket with a signed address. The batch id is sent as
 * `Idempotency-Key`, so that a receiver can drop the second copy of a retried batch.
 */
import { isTransientStatus, SinkError, type VerdictSink } from '../sink.ts';

const ATTEMPT_TIMEOUT_MS = 5000;

export interface HttpSinkOptions {
  readonly url: string;
  /** For example `{authorization: 'Bearer …'}`. */
  readonly headers?: Readonly<Record<string, string>>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

export function httpSink(options: HttpSinkOptions): VerdictSink {
  return {
    name: 'http',
    async send(batch) {
      const response = await options.fetch(options.url, {
        method: 'POST',
        headers: { ...options.headers, 'content-type': 'application/x-ndjson', 'idempotency-key': batch.batchId },
        body: batch.records.map((record) => `${JSON.stringify(record)}\n`).join(''),
        signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
        redirect: 'manual',
      });
      await response.body?.cancel();
      if (!response.ok) throw new SinkError(`sink returned ${response.status}`, isTransientStatus(response.status));
    },
  };
}
