/** The service Worker of a local stack: one workerd process with its database, objects and buckets in the state directory. */
import type { D1Database } from '@cloudflare/workers-types';
import type { RelayOutcome, RelayedBatch } from './queue-relay-worker.ts';
import type { SegmentBucket } from './database/log-copy.ts';
import { bundleForStack, readWranglerFile, workerConfig } from './worker-config.ts';
import { runtimeOptions, startRuntime } from './runtime-options.ts';

export const SERVICE_CONFIG = 'src/service/wrangler.toml';

/** A service that is starting, or has much to do, responds within this time. */
const RESPONSE_MAX_MS = 5000;

export interface ServiceWorker {
  /** Its own socket. The stack's listener forwards to it. */
  url: URL;
  /**
   * Ask before each use of the database, the segments, or a handler. The simulator's first call of each stops this whole
   * process until the Worker returns, and with it the listeners and the demo site: a frozen service would freeze the gate.
   */
  responds(): Promise<boolean>;
  /** The current one: see `startRuntime`. */
  readonly database: D1Database;
  /** Sealed segments of the log. */
  readonly segments: SegmentBucket;
  runScheduled(): Promise<void>;
  /** `null` when it does not respond. */
  consume(batch: RelayedBatch): Promise<RelayOutcome | null>;
  dispose(): Promise<void>;
}

export async function startServiceWorker(options: {
  storage: string;
  vars: Record<string, string>;
  quiet: boolean;
  /** `bundleWorker` bundles the Worker as deployed, for benchmarks. The default adds `unread-bodies.ts`. */
  bundle?: (entry: string) => Promise<string>;
  /** Called when the Worker has a new process, because the one before has ended. */
  onRestart?: () => void;
}): Promise<ServiceWorker> {
  const file = readWranglerFile(SERVICE_CONFIG);
  const bundle = options.bundle ?? bundleForStack;
  const config = workerConfig(file, await bundle(file.main), options.vars);
  const simulator = {
    ...runtimeOptions('service', options.storage, options.quiet),
    workers: [{ config, dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }], stripCfConnectingIp: false } }],
  };
  const runtime = await startRuntime(
    simulator,
    async (miniflare) => ({
      url: await miniflare.unsafeGetDirectURL(file.name),
      worker: await miniflare.getWorker(file.name),
      database: await miniflare.getD1Database('DB', file.name),
      segments: await miniflare.getR2Bucket('SEGMENTS', file.name),
    }),
    options.onRestart,
  );
  const responds = async (): Promise<boolean> => {
    try {
      // A redirect, which the Worker makes without the database: this is asked often.
      const response = await fetch(new URL('/docs', runtime.parts().url), {
        redirect: 'manual',
        signal: AbortSignal.timeout(RESPONSE_MAX_MS),
      });
      await response.arrayBuffer();
      return true;
    } catch {
      return false;
    }
  };
  return {
    url: runtime.parts().url,
    responds,
    get database() {
      return runtime.parts().database;
    },
    get segments() {
      return runtime.parts().segments;
    },
    async runScheduled() {
      if (!(await responds())) return;
      await runtime.parts().worker.scheduled({ cron: '* * * * *' });
    },
    async consume(batch) {
      if (!(await responds())) return null;
      const messages = batch.messages.map((message) => ({ ...message, timestamp: new Date(message.timestamp) }));
      const result = await runtime.parts().worker.queue(batch.queue, messages);
      return {
        ackAll: result.ackAll,
        retryAll: result.outcome !== 'ok' || result.retryBatch.retry,
        retryIds: result.retryMessages.map((message) => message.msgId),
      };
    },
    dispose: () => runtime.dispose(),
  };
}
