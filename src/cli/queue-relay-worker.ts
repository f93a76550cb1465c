/**
 * Carries the verdict queue across the two processes of the local stack. In production the edge produces
 * and the service consumes one Cloudflare queue; the simulator's queue lives inside one process. This
 * consumer sits beside the edge, hands each batch to the service's own `queue()` handler and repeats its
 * answer, message by message, so acknowledgements, retries and back-off are the service's.
 */
import type { MessageBatch } from '@cloudflare/workers-types';

export interface RelayedBatch {
  queue: string;
  messages: { id: string; timestamp: number; attempts: number; body: unknown }[];
}

/** What became of a batch, as `Fetcher.queue()` reports it. */
export interface RelayAnswer {
  ackAll: boolean;
  retryAll: boolean;
  retryIds: string[];
}

/** While the service is down: short, since the local stack's outages are somebody's test. */
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
    const answer = await relay(env.SERVICE_QUEUE, relayed);
    if (answer === null || answer.retryAll) {
      batch.retryAll({ delaySeconds: RETRY_DELAY_SECONDS });
      return;
    }
    const retried = new Set(answer.retryIds);
    for (const message of batch.messages) {
      if (retried.has(message.id)) message.retry({ delaySeconds: RETRY_DELAY_SECONDS });
      else message.ack();
    }
  },
};

async function relay(service: { fetch: typeof fetch }, batch: RelayedBatch): Promise<RelayAnswer | null> {
  try {
    const response = await service.fetch('http://service/queue', { method: 'POST', body: JSON.stringify(batch) });
    return response.ok ? ((await response.json()) as RelayAnswer) : null;
  } catch {
    return null;
  }
}
