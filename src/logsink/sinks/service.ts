/**
 * The default sink: `POST /edge/v1/verdicts` with the client JWT. Idempotent by isolate and number: when a time-out hides a
 * commit, the retry succeeds and changes nothing. Only an answer that accounts for every record counts as stored: a
 * proxy's page with status 200 is a failure like any other. When the service says that this clock is wrong, records get
 * the service's time from then on: the same offset at every retry, so that a record keeps its bytes.
 */
import { parseJson } from '../../bytes/json.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import { SENT_AT_HEADER } from '../../contract/edge/record-bounds.ts';
import { verdictBatchResponse } from '../../contract/edge/edge-responses.ts';
import { systemClock } from '../batcher.ts';
import type { Clock } from '../batcher.ts';
import type { SinkBatch, VerdictSink } from '../sink.ts';
import { SinkError, isTransientStatus } from '../sink.ts';

/** Three of these and their back-off fit the 30 s that `waitUntil` grants. */
const ATTEMPT_TIMEOUT_MS = 5000;
/** A reason for each of 500 records. */
const ANSWER_MAX_BYTES = 65_536;

export interface ServiceSinkOptions {
  /** No trailing slash. */
  readonly serviceUrl: string;
  readonly clientJwt: string;
  fetch(url: string, init: RequestInit): Promise<Response>;
  clock?: Pick<Clock, 'nowMs'>;
}

export function serviceSink(options: ServiceSinkOptions): VerdictSink {
  const { clock = systemClock } = options;
  /** What the service's clock is ahead of this one. */
  let offsetMs = 0;

  function post(batch: SinkBatch): Promise<Response> {
    return options.fetch(`${options.serviceUrl}/edge/v1/verdicts`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${options.clientJwt}`,
        [SENT_AT_HEADER]: String(clock.nowMs() + offsetMs),
      },
      body: JSON.stringify({
        ...batch,
        records: batch.records.map((record) => ({ ...record, timestamp: record.timestamp + offsetMs })),
      }),
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
      redirect: 'manual',
    });
  }

  return {
    name: 'service',
    carriesCounters: true,
    usesFallback: true,
    async send(batch) {
      let response = await post(batch);
      const serviceNow = response.headers.get(SENT_AT_HEADER);
      if (serviceNow !== null) {
        await response.body?.cancel();
        offsetMs = Number(serviceNow) - clock.nowMs();
        response = await post(batch);
      }
      if (response.status !== 200) {
        // An unread body holds one of the request's six connections.
        await response.body?.cancel();
        throw new SinkError(`service returned ${response.status}`, isTransientStatus(response.status));
      }
      const bytes =
        response.body && (await readBounded(response.body, ANSWER_MAX_BYTES, { timeoutMs: ATTEMPT_TIMEOUT_MS }));
      const answer = verdictBatchResponse.safeParse(bytes?.ok ? parseJson(bytes.value) : null);
      const stored = answer.success && answer.data.accepted + answer.data.duplicates + answer.data.rejected.length;
      if (stored !== batch.records.length) throw new SinkError('service did not say what it stored', true);
    },
  };
}
