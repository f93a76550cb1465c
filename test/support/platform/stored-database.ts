/** The database of a stack's state directory as one of the stand-in's, while no stack runs on it. */
import { Miniflare } from 'miniflare';
import { runtimeOptions } from '../../../src/cli/runtime-options.ts';
import { SERVICE_CONFIG } from '../../../src/cli/service-worker.ts';
import { moduleManifest, readWranglerFile, workerConfig } from '../../../src/cli/worker-config.ts';
import type { Answer, PlatformDatabase } from './memory-database.ts';

export async function openStoredDatabase(
  storage: string,
): Promise<{ engine: PlatformDatabase; close: () => Promise<void> }> {
  const file = readWranglerFile(SERVICE_CONFIG);
  const { DB } = workerConfig(file, '', { MASTER_KEY: '' }).env!;
  const config = {
    name: file.name,
    compatibilityDate: file.compatibility_date,
    manifest: moduleManifest('export default {};'),
    env: { DB: DB! },
  };
  const miniflare = new Miniflare({ ...runtimeOptions('service', storage, true), workers: [{ config }] });
  const database = await miniflare.getD1Database('DB');
  return {
    engine: {
      run: async (queries) => {
        const statements = queries.map(({ sql, params = [] }) => database.prepare(sql).bind(...params));
        return (await database.batch(statements)) as unknown as Answer[];
      },
    },
    close: () => miniflare.dispose(),
  };
}
