/** Starts the simulation of `npm run bench -- neighbours` beside a stack whose service is the clocked one. */
import type { Stack } from '../../src/cli/stack.ts';
import { SERVICE_CONFIG } from '../../src/cli/service-worker.ts';
import { bundleForStack, bundleWorker, readWranglerFile } from '../../src/cli/worker-config.ts';
import { browse } from '../../test/support/browse.ts';
import { startRawWorker } from '../../test/support/raw-workerd.ts';
import type { NeighboursPlan, NeighboursResult } from './plan.ts';

/** The bundles of such a stack. */
export function bundleWithClock(entry: string): Promise<string> {
  const { main } = readWranglerFile(SERVICE_CONFIG);
  return entry === main ? bundleWorker('bench/workers/clocked-service-worker.ts') : bundleForStack(entry);
}

export interface Neighbours {
  /** Each run is in a network of its own. */
  run(plan: Omit<NeighboursPlan, 'network'>): Promise<NeighboursResult>;
  stop(): Promise<void>;
}

export async function startNeighbours(stack: Stack): Promise<Neighbours> {
  const worker = await startRawWorker({
    source: await bundleWorker('bench/workers/neighbours-worker.ts'),
    compatibilityDate: '2026-10-01',
    vars: {
      SERVICE_URL: stack.serviceUrl,
      CLIENT_JWT: stack.clientJwt,
      SIGNALS_SOURCE: 'headers',
      SIGNALS_SECRET: stack.signalsSecret,
    },
  });
  let network = 0;
  return {
    stop: () => worker.stop(),
    async run(plan) {
      const whole: NeighboursPlan = { ...plan, network: network++ };
      // Not with `fetch`, which waits for five minutes at most.
      const response = await browse(worker.url, { method: 'POST', body: JSON.stringify(whole) });
      const text = await response.text();
      if (!response.ok) throw new Error(text);
      return JSON.parse(text) as NeighboursResult;
    },
  };
}
