/**
 * Carries the verdict queue between the two processes of the local stack. In production, the edge writes to a Cloudflare
 * queue and the service consumes it. The simulator's queue exists inside one process only. This consumer runs next to
 * the edge, passes each batch to the service's own `queue()` handler, and repeats that handler's acknowledgements and
 * retries message by message.
 */
import type { MessageBatch } from '@cloudflare/workers-types';

export interface RelayedBatch {
  queue: string;
  messages: { id: string; timestamp: number; attempts: number; body: unknown }[];
}

/** The outcome of a batch, as `Fetcher.queue()` reports it. */
export interface RelayOutcome {
  ackAll: boolean;
  retryAll: boolean;
  retryIds: string[];
}

/** Short, because outages of the local stack are tests that wait for their end. */
const RETRY_DELAY_SECONDS = 2;

export default {
  async queue(batch: MessageBatch, env: { SERVICE_QUEUE: { fetch: typeof fetch } }): Promise<void> {
    const relayed: RelayedBatch = {
      queue: batch.queue,
      messages: batch.messages.map(({ id, timestamp, attempts, body }) => ({
        id,
        timestamp: timestamp.getTime(),
        attempts,
        body,
      })),
    };
    const outcome = await relay(env.SERVICE_QUEUE, relayed);
    if (outcome === null || outcome.retryAll) {
      batch.retryAll({ delaySeconds: RETRY_DELAY_SECONDS });
      return;
    }
    const retried = new Set(outcome.retryIds);
    for (const message of batch.messages) {
      if (retried.has(message.id)) message.retry({ delaySeconds: RETRY_DELAY_SECONDS });
      else message.ack();
    }
  },
};

async function relay(service: { fetch: typeof fetch }, batch: RelayedBatch): Promise<RelayOutcome | null> {
  try {
    const response = await service.fetch('http://service/queue', { method: 'POST', body: JSON.stringify(batch) });
    return response.ok ? ((await response.json()) as RelayOutcome) : null;
  } catch {
    return null;
  }
}
