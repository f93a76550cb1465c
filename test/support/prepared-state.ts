/**
 * Before the first test of a run, what takes seconds to make: a state directory with secrets, a migrated database, the
 * day's keys and the networks of known bots, and the bundles of both Workers. Each stack of the run starts with a copy of
 * the state, and is then seeded as any other.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startBotNetworks } from '../../src/cli/bot-networks.ts';
import { EDGE_CONFIG } from '../../src/cli/edge-worker.ts';
import { migrate } from '../../src/cli/migrations.ts';
import { SERVICE_CONFIG, type ServiceWorker, startServiceWorker } from '../../src/cli/service-worker.ts';
import { StateDir } from '../../src/cli/state.ts';
import { bundleForStack, readWranglerFile } from '../../src/cli/worker-config.ts';
import { bundlePath } from './prepared-bundle.ts';

declare module 'vitest' {
  interface ProvidedContext {
    preparedState: string;
    preparedBundles: string;
  }
}

interface Prepared {
  folder: string;
  state: string;
  bundles: string;
}

/** Two projects have stacks. Each loads this module for itself, and they share what one of them made. */
const ofTheRun = globalThis as { preparedForStacks?: Promise<Prepared> };

/** The connection to the runtime's process can close between two calls on a busy machine. Then all is made again. */
const ATTEMPTS = 3;

export default async function prepare({ provide }: TestProject): Promise<() => void> {
  const { folder, state, bundles } = await (ofTheRun.preparedForStacks ??= made());
  provide('preparedState', state);
  provide('preparedBundles', bundles);
  return () => rmSync(folder, { recursive: true, force: true });
}

async function made(): Promise<Prepared> {
  for (let attempt = 1; ; attempt++) {
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-prepared-'));
    const prepared = { folder, state: join(folder, 'state'), bundles: join(folder, 'bundles') };
    try {
      for (const path of [prepared.state, prepared.bundles]) mkdirSync(path);
      for (const config of [SERVICE_CONFIG, EDGE_CONFIG]) {
        const { main } = readWranglerFile(config);
        writeFileSync(bundlePath(prepared.bundles, main), await bundleForStack(main));
      }
      await fill(new StateDir(prepared.state));
      return prepared;
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      if (attempt === ATTEMPTS) throw error;
    }
  }
}

async function fill(state: StateDir): Promise<void> {
  const networks = await startBotNetworks();
  const service = await startServiceWorker({
    storage: state.storage('service'),
    quiet: true,
    vars: {
      SERVICE_URL: 'http://127.0.0.1',
      MASTER_KEY: state.secrets().masterKey,
      BOT_RANGES_BASE: networks.url,
    },
  });
  try {
    await migrate(service.database);
    // Each run reads some of the published lists.
    for (let before = -1, read = 0; read > before; before = read, read = await listsRead(service)) {
      await service.runScheduled();
    }
  } finally {
    await service.dispose();
    await networks.close();
  }
}

async function listsRead({ database }: ServiceWorker): Promise<number> {
  return (await database.prepare('SELECT count(*) AS lists FROM bot_ranges').first<number>('lists')) ?? 0;
}
