/**
 * The default sink: `POST /edge/v1/verdicts` with the client JWT. Idempotent by event id: when a time-out hides a
 * commit, the retry succeeds and changes nothing.
 */
import type { VerdictSink } from '../sink.ts';
import { isTransientStatus, SinkError } from '../sink.ts';

/** Three of these and their back-off fit the 30 s that `waitUntil` grants. */
const ATTEMPT_TIMEOUT_MS = 5000;

export interface ServiceSinkOptions {
  /** No trailing slash. */
  readonly serviceUrl: string;
  readonly clientJwt: string;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

export function serviceSink(options: ServiceSinkOptions): VerdictSink {
  return {
    name: 'service',
    carriesCounters: true,
    usesFallback: true,
    async send(batch) {
      const response = await options.fetch(`${options.serviceUrl}/edge/v1/verdicts`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${options.clientJwt}` },
        body: JSON.stringify({ batchId: batch.batchId, records: batch.records, counters: batch.counters }),
        signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
        redirect: 'manual',
      });
      // An unread body holds one of the request's six connections.
      await response.body?.cancel();
      if (response.status !== 200) {
        throw new SinkError(`service returned ${response.status}`, isTransientStatus(response.status));
      }
    },
  };
}
