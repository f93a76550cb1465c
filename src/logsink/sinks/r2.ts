/**
 * Each batch as one NDJSON object in a bucket. The key contains the batch id, so a retried put writes the same object
 * again and not a second one.
 */
import type { VerdictSink } from '../sink.ts';

export interface ObjectBucket {
  put(key: string, value: string, options?: { httpMetadata?: { contentType?: string } }): Promise<unknown>;
}

/** Keys are `verdicts/{instance}/{YYYY-MM-DD}/{batchId}.ndjson`. */
export function r2Sink(bucket: ObjectBucket): VerdictSink {
  return {
    name: 'r2',
    async send(batch) {
      const first = batch.records[0];
      if (first === undefined) return;
      const day = new Date(first.timestamp).toISOString().slice(0, 10);
      await bucket.put(
        `verdicts/${first.instance_id}/${day}/${batch.batchId}.ndjson`,
        batch.records.map((record) => `${JSON.stringify(record)}\n`).join(''),
        { httpMetadata: { contentType: 'application/x-ndjson' } },
      );
    },
  };
}
