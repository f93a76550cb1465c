/** Commands on the files of a stack that does not run. */
import { Miniflare } from 'miniflare';
import type { CommandResult } from './command-line.ts';
import { type CommandEnv, runCommand } from './database/commands.ts';
import { migrate } from './migrations.ts';
import { runtimeOptions } from './runtime-options.ts';
import { SERVICE_CONFIG } from './service-worker.ts';
import type { StateDir } from './state.ts';
import { databaseIdOf, moduleManifest, readWranglerFile } from './worker-config.ts';

/** Opens the database and the log's bucket, without a Worker of this project. This process owns the directory. */
export async function runOnFiles(
  state: StateDir,
  args: readonly string[],
  seen: NonNullable<CommandEnv['seen']>,
): Promise<CommandResult> {
  const file = readWranglerFile(SERVICE_CONFIG);
  const database = databaseIdOf(file);
  const segments = file.r2_buckets?.find(({ binding }) => binding === 'SEGMENTS')?.bucket_name ?? '';
  const miniflare = new Miniflare({
    ...runtimeOptions('service', state.storage('service'), true),
    workers: [
      {
        config: {
          name: file.name,
          compatibilityDate: file.compatibility_date,
          manifest: moduleManifest('export default {};'),
          env: { DB: { type: 'd1', id: database }, SEGMENTS: { type: 'r2', name: segments } },
        },
      },
    ],
  });
  try {
    const env: CommandEnv = {
      DB: await miniflare.getD1Database('DB'),
      SEGMENTS: await miniflare.getR2Bucket('SEGMENTS'),
      MASTER_KEY: state.secrets().masterKey,
      seen,
    };
    state.keepRuntimes('command');
    if (args[0] !== 'migrate') await migrate(env.DB);
    return await runCommand(args, env);
  } finally {
    await miniflare.dispose();
  }
}
