/**
 * Stands in for wrangler's connection to a deployed database, in a process that loads `local-platform-hook.ts`: the database
 * is that of the state directory in `LOCAL_PLATFORM_STORAGE`. It opens nothing that the configuration does not ask for as
 * wrangler would have it.
 */
import { readFileSync } from 'node:fs';
import { Miniflare } from 'miniflare';
import { parse } from 'smol-toml';
import { runtimeOptions } from '../../src/cli/runtime-options.ts';
import { moduleManifest } from '../../src/cli/worker-config.ts';

interface Config {
  name: string;
  compatibility_date: string;
  d1_databases: { binding: string; database_id: string; remote?: boolean }[];
}

export async function getPlatformProxy({ configPath }: { configPath: string }): Promise<object> {
  const config = parse(readFileSync(configPath, 'utf8')) as unknown as Config;
  const [database] = config.d1_databases;
  if (database?.remote !== true) throw new Error('The configuration asks for no remote database');
  const miniflare = new Miniflare({
    ...runtimeOptions('service', process.env['LOCAL_PLATFORM_STORAGE'] ?? '', true),
    workers: [
      {
        config: {
          name: config.name,
          compatibilityDate: config.compatibility_date,
          manifest: moduleManifest('export default {};'),
          env: { DB: { type: 'd1', id: database.database_id } },
        },
      },
    ],
  });
  return { env: { DB: await miniflare.getD1Database(database.binding) }, dispose: () => miniflare.dispose() };
}
