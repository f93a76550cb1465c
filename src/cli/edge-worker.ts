/** The edge Worker of a local stack, with the relay that carries its verdict queue to the service. */
import { type MiniflareOptions, Response } from 'miniflare';
import type { RelayOutcome, RelayedBatch } from './queue-relay-worker.ts';
import { runtimeOptions, startRuntime } from './runtime-options.ts';
import { SERVICE_CONFIG } from './service-worker.ts';
import { bundleWorker, moduleManifest, readWranglerFile, workerConfig } from './worker-config.ts';

export const EDGE_CONFIG = 'wrangler.toml';
const ANY_SERVICE_CONFIG = 'src/edge/wrangler.any-service.toml';

/** The maximum that a queue allows. With the relay's delay, the queue keeps all messages for three minutes. */
const RELAY_RETRIES_MAX = 100;

export interface EdgeWorker {
  url: URL;
  /** Whether the run did its work. */
  runScheduled(): Promise<boolean>;
  dispose(): Promise<void>;
}

export async function startEdgeWorker(options: {
  storage: string;
  vars: Record<string, string>;
  quiet: boolean;
  bundle: (entry: string) => Promise<string>;
  /** Returns `null` while the service is down: the message is retried. */
  consume: (batch: RelayedBatch) => Promise<RelayOutcome | null>;
  /** Called when the Worker has a new process, because the one before has ended. */
  onRestart: () => void;
}): Promise<EdgeWorker> {
  const isAnyService = options.vars['RULES_SOURCE'] === 'management-api';
  const file = readWranglerFile(isAnyService ? ANY_SERVICE_CONFIG : EDGE_CONFIG);
  const [edge, relay] = await Promise.all([options.bundle(file.main), bundleWorker('src/cli/queue-relay-worker.ts')]);
  const service = readWranglerFile(SERVICE_CONFIG);
  const consumers = service.queues?.consumers ?? [];
  const addresses = { [service.name]: new URL(options.vars['SERVICE_URL'] ?? '').host };
  const simulator: MiniflareOptions = {
    ...runtimeOptions('edge', options.storage, options.quiet),
    workers: [
      {
        config: workerConfig(file, edge, options.vars, addresses),
        dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }], stripCfConnectingIp: false },
      },
      {
        config: {
          name: 'queue-relay',
          compatibilityDate: file.compatibility_date,
          manifest: moduleManifest(relay),
          env: {
            SERVICE_QUEUE: {
              type: 'fetcher',
              async handler(request) {
                const outcome = await options.consume((await request.json()) as RelayedBatch);
                return outcome === null ? new Response(null, { status: 503 }) : Response.json(outcome);
              },
            },
          },
          triggers: consumers.map((consumer) => ({
            type: 'queue' as const,
            name: consumer.queue,
            maxRetries: RELAY_RETRIES_MAX,
            ...(consumer.max_batch_size === undefined ? {} : { maxBatchSize: consumer.max_batch_size }),
            ...(consumer.max_batch_timeout === undefined ? {} : { maxBatchTimeout: consumer.max_batch_timeout }),
          })),
        },
      },
    ],
  };
  const runtime = await startRuntime(
    simulator,
    async (miniflare) => ({
      url: await miniflare.unsafeGetDirectURL(file.name),
      worker: await miniflare.getWorker(file.name),
    }),
    options.onRestart,
  );
  return {
    url: runtime.parts().url,
    async runScheduled() {
      return (await runtime.parts().worker.scheduled({ cron: '* * * * *' })).outcome === 'ok';
    },
    dispose: () => runtime.dispose(),
  };
}
