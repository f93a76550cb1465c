/**
 * Before the first test of a run: a state directory with secrets, a migrated database, the day's keys and the networks of
 * known bots, which take seconds to make. Each stack of the run starts with a copy, and is then seeded as any other.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startBotNetworks } from '../../src/cli/bot-networks.ts';
import { migrate } from '../../src/cli/migrations.ts';
import { startServiceWorker } from '../../src/cli/service-worker.ts';
import type { ServiceWorker } from '../../src/cli/service-worker.ts';
import { StateDir } from '../../src/cli/state.ts';

declare module 'vitest' {
  interface ProvidedContext {
    preparedState: string;
  }
}

/** The connection to the runtime's process can close between two calls on a busy machine. Then all is made again. */
const ATTEMPTS = 3;

export default async function prepare({ provide }: TestProject): Promise<() => void> {
  let path = '';
  for (let attempt = 1; path === ''; attempt++) {
    const state = new StateDir(mkdtempSync(join(tmpdir(), 'gatehouse-prepared-')));
    try {
      await fill(state);
      path = state.path;
    } catch (error) {
      rmSync(state.path, { recursive: true, force: true });
      if (attempt === ATTEMPTS) throw error;
    }
  }
  provide('preparedState', path);
  return () => rmSync(path, { recursive: true, force: true });
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
