/**
 * The default sink: `POST /edge/v1/verdicts` with the client JWT. Idempotent by isolate and number: when a time-out hides a
 * commit, the retry succeeds and changes nothing. Only an answer that accounts for every record counts as stored: a
 * proxy's page with status 200 is a failure like any other. When the service says that this clock is wrong, the attempt fails,
 * and the next one has records by the service's clock.
 */
import { parseJson } from '../../bytes/json.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import { SENT_AT_HEADER } from '../../contract/edge/record-bounds.ts';
import { verdictBatchResponse } from '../../contract/edge/edge-responses.ts';
import type { ServiceClock } from '../service-clock.ts';
import { isTransientStatus, type SinkBatch, SinkError, type VerdictSink } from '../sink.ts';

/** Three of these and their back-off fit the 30 s that `waitUntil` grants. */
const ATTEMPT_TIMEOUT_MS = 5000;
/** A reason for each of 500 records. */
const ANSWER_MAX_BYTES = 65_536;

export interface ServiceSinkOptions {
  /** No trailing slash. */
  readonly serviceUrl: string;
  readonly clientJwt: string;
  fetch(url: string, init: RequestInit): Promise<Response>;
  clock: ServiceClock;
}

export function serviceSink(options: ServiceSinkOptions): VerdictSink {
  const { clock } = options;

  function post(batch: SinkBatch): Promise<Response> {
    return options.fetch(`${options.serviceUrl}/edge/v1/verdicts`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${options.clientJwt}`,
        [SENT_AT_HEADER]: String(clock.nowMs()),
      },
      body: JSON.stringify(batch),
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
      redirect: 'manual',
    });
  }

  return {
    name: 'service',
    carriesCounters: true,
    usesFallback: true,
    async send(batch) {
      const response = await post(batch);
      clock.learn(response);
      if (response.status !== 200) {
        // An unread body holds one of the request's six connections.
        await response.body?.cancel();
        const isOfClock = response.headers.has(SENT_AT_HEADER);
        throw new SinkError(`service returned ${response.status}`, isOfClock || isTransientStatus(response.status));
      }
      const bytes =
        response.body && (await readBounded(response.body, ANSWER_MAX_BYTES, { timeoutMs: ATTEMPT_TIMEOUT_MS }));
      const answer = verdictBatchResponse.safeParse(bytes?.ok ? parseJson(bytes.value) : null);
      const stored = answer.success && answer.data.accepted + answer.data.duplicates + answer.data.rejected.length;
      if (stored !== batch.records.length) throw new SinkError('service did not say what it stored', true);
    },
  };
}
