/**
 * Verdicts as queue messages, either as fallback of the service sink or as a sink of its own. The consumer appends them
 * under the numbers they already have. A message holds at most 128 kB, so a batch is cut by its bytes into parts of its
 * range. Only the first part carries the counters.
 */
import type { VerdictMessage } from '../../contract/edge/verdict-batch.ts';
import type { VerdictRecord } from '../../contract/edge/verdict-record.ts';
import type { SinkBatch, VerdictSink } from '../sink.ts';

/** The platform's limit is 128,000 bytes with its own overhead. */
const MESSAGE_MAX_BYTES = 100_000;

export interface MessageQueue {
  send(body: unknown, options?: { contentType?: 'json' }): Promise<unknown>;
}

export function queueSink(queue: MessageQueue): VerdictSink {
  return {
    name: 'queue',
    carriesCounters: true,
    async send(batch) {
      for (const message of messagesOf(batch)) await queue.send(message, { contentType: 'json' });
    },
  };
}

/** Cuts a batch into messages that each fit the platform's limit. */
export function messagesOf(batch: SinkBatch): VerdictMessage[] {
  const parts: VerdictRecord[][] = [];
  let part: VerdictRecord[] = [];
  let partBytes = 0;
  const encoder = new TextEncoder();
  for (const record of batch.records) {
    const bytes = encoder.encode(JSON.stringify(record)).length + 1;
    if (part.length > 0 && partBytes + bytes > MESSAGE_MAX_BYTES) {
      parts.push(part);
      part = [];
      partBytes = 0;
    }
    part.push(record);
    partBytes += bytes;
  }
  if (part.length > 0) parts.push(part);
  const instanceId = batch.records[0]?.instance_id ?? '';
  return parts.map((records, index) => {
    const lastSeq = records.at(-1)?.edge.seq ?? batch.lastSeq;
    return {
      // The first part keeps the id of the batch, because its counters may have reached the store already.
      batchId: index === 0 ? batch.batchId : `${batch.batchId}.${index}`,
      instanceId,
      isolate: batch.isolate,
      firstSeq: records[0]?.edge.seq ?? batch.firstSeq,
      lastSeq,
      held: batch.held + batch.lastSeq - lastSeq,
      records,
      counters: index === 0 ? batch.counters : {},
    };
  });
}
