/** The service Worker of a local stack: one workerd process with its database, objects and buckets in the state directory. */
import { Miniflare } from 'miniflare';
import type { D1Database } from '@cloudflare/workers-types';
import type { RelayOutcome, RelayedBatch } from './queue-relay-worker.ts';
import type { SegmentBucket } from './database/log-copy.ts';
import { bundleForStack, readWranglerFile, workerConfig } from './worker-config.ts';
import { runtimeOptions } from './runtime-options.ts';

export const SERVICE_CONFIG = 'wrangler.service.toml';

export interface ServiceWorker {
  /** Its own socket. The stack's listener forwards to it. */
  url: URL;
  database: D1Database;
  /** Sealed segments of the log. */
  segments: SegmentBucket;
  runScheduled(): Promise<void>;
  consume(batch: RelayedBatch): Promise<RelayOutcome>;
  dispose(): Promise<void>;
}

export async function startServiceWorker(options: {
  storage: string;
  vars: Record<string, string>;
  quiet: boolean;
  /** `bundleWorker` bundles the Worker as deployed, for benchmarks. The default adds `unread-bodies.ts`. */
  bundle?: (entry: string) => Promise<string>;
}): Promise<ServiceWorker> {
  const file = readWranglerFile(SERVICE_CONFIG);
  const bundle = options.bundle ?? bundleForStack;
  const config = workerConfig(file, await bundle(file.main), options.vars);
  const miniflare = new Miniflare({
    ...runtimeOptions('service', options.storage, options.quiet),
    workers: [{ config, dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }], stripCfConnectingIp: false } }],
  });
  const url = await miniflare.unsafeGetDirectURL(file.name);
  const worker = await miniflare.getWorker(file.name);
  return {
    url,
    database: await miniflare.getD1Database('DB', file.name),
    segments: await miniflare.getR2Bucket('SEGMENTS', file.name),
    async runScheduled() {
      await worker.scheduled({ cron: '* * * * *' });
    },
    async consume(batch) {
      const messages = batch.messages.map((message) => ({ ...message, timestamp: new Date(message.timestamp) }));
      const result = await worker.queue(batch.queue, messages);
      return {
        ackAll: result.ackAll,
        retryAll: result.outcome !== 'ok' || result.retryBatch.retry,
        retryIds: result.retryMessages.map((message) => message.msgId),
      };
    },
    dispose: () => miniflare.dispose(),
  };
}
