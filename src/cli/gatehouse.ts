/**
 * `npm run gatehouse -- COMMAND`: runs a command in the stack that owns the state directory, or on its files when no
 * stack runs. With `--remote` it works on the deployed database, with wrangler's login.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';
import { parse, stringify } from 'smol-toml';
import type { StoreEnv } from '../store/binding.ts';
import { runCommand, usage } from './commands.ts';
import type { CommandResult } from './commands.ts';
import { runInStack } from './control.ts';
import { OperatorError } from './operator-error.ts';
import { runtimeOptions } from './runtime-options.ts';
import { SERVICE_CONFIG } from './service-worker.ts';
import { rulesUsage, run as runRules } from './rules.ts';
import { run as runWhy, whyUsage } from './why.ts';
import { StateDir } from './state.ts';
import { moduleManifest, readWranglerFile } from './worker-config.ts';
import { migrate } from './migrations.ts';

interface Target {
  state: string;
  remote: boolean;
}

/** Separates the two flags that every command has from the command's own words. */
function splitTarget(argv: readonly string[]): { target: Target; args: string[] } {
  const target: Target = { state: '.gatehouse', remote: false };
  const args: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] ?? '';
    if (word === '--remote') target.remote = true;
    else if (word === '--state') target.state = argv[(at += 1)] ?? '';
    else if (word.startsWith('--state=')) target.state = word.slice('--state='.length);
    else args.push(word);
  }
  if (target.state === '') throw new OperatorError('--state is missing its directory. Add it after the flag.');
  return { target, args };
}

function version(): string {
  return (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
}

async function run(argv: readonly string[]): Promise<CommandResult> {
  const { target, args } = splitTarget(argv);
  if (args.length === 0 || args[0] === 'help' || args.some((arg) => arg === '--help' || arg === '-h'))
    return { exitCode: 0, output: `${usage()}\n\n${rulesUsage}\n${whyUsage}` };
  if (args[0] === '--version') return { exitCode: 0, output: version() };
  // These use the management API, of a local stack or a deployed service.
  if (args[0] === 'rules') return runRules(args.slice(1), target.state);
  if (args[0] === 'why') return runWhy(args.slice(1), target.state);
  if (target.remote) return onRemote(args);
  const state = new StateDir(target.state);
  if (!state.exists())
    throw new OperatorError(`There is no local stack in ${state.path}. Start one with npm start, or correct --state.`);
  if (state.isStarting())
    return { exitCode: 1, output: `The stack on ${state.path} is starting. Try again in a moment.` };
  const running = state.control();
  return running ? runInStack(running, args) : onFiles(state, args);
}

/** Opens the database alone, without a Worker of this project. */
async function onFiles(state: StateDir, args: readonly string[]): Promise<CommandResult> {
  state.check();
  const file = readWranglerFile(SERVICE_CONFIG);
  const database = file.d1_databases?.[0]?.database_id ?? '';
  const miniflare = new Miniflare({
    ...runtimeOptions('service', state.storage('service'), true),
    workers: [
      {
        config: {
          name: file.name,
          compatibilityDate: file.compatibility_date,
          manifest: moduleManifest('export default {};'),
          env: { DB: { type: 'd1', id: database } },
        },
      },
    ],
  });
  try {
    const env: StoreEnv = {
      DB: await miniflare.getD1Database('DB'),
      MASTER_KEY: state.secrets().masterKey,
    };
    if (args[0] !== 'migrate') await migrate(env.DB);
    return await runCommand(args, env);
  } finally {
    await miniflare.dispose();
  }
}

/** Works on the deployed database. Wrangler opens a binding remotely only when the configuration asks for it. */
async function onRemote(args: readonly string[]): Promise<CommandResult> {
  const masterKey = process.env['MASTER_KEY'];
  if (!masterKey)
    return { exitCode: 1, output: 'MASTER_KEY is not set. Set it to the secret of the deployed service.' };
  const previous = process.env['MASTER_KEY_PREVIOUS'];
  const file = parse(readFileSync(SERVICE_CONFIG, 'utf8'));
  const databases = (file['d1_databases'] ?? []) as Record<string, string>[];
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-'));
  try {
    const configPath = join(dir, 'wrangler.toml');
    const d1 = databases.map((database) => ({ ...database, remote: true }));
    const only = { name: file['name'], compatibility_date: file['compatibility_date'], d1_databases: d1 };
    writeFileSync(configPath, stringify(only));
    const { getPlatformProxy } = await import('wrangler');
    const proxy = await getPlatformProxy<{ DB: StoreEnv['DB'] }>({ configPath, persist: false });
    try {
      return await runCommand(args, {
        DB: proxy.env.DB,
        MASTER_KEY: masterKey,
        ...(previous === undefined ? {} : { MASTER_KEY_PREVIOUS: previous }),
      });
    } finally {
      await proxy.dispose();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const result = await run(process.argv.slice(2)).catch((error: unknown): CommandResult => {
  if (error instanceof OperatorError) return { exitCode: 1, output: error.message };
  throw error;
});
(result.exitCode === 0 ? process.stdout : process.stderr).write(`${result.output}\n`);
process.exitCode = result.exitCode;
