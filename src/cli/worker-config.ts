/**
 * Turns a wrangler file into a Worker of the local stack. Bindings, flags and variables come from the file that deploys
 * the Worker, so the stack cannot differ from production. The bundle is built as wrangler builds it. A key that this
 * module does not know is an error, so that no setting is silently ignored.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { parse } from 'smol-toml';
import type { MiniflareOptions } from 'miniflare';

export type WorkerOptions = MiniflareOptions['workers'][number];
export type WorkerConfig = WorkerOptions['config'];
export type WorkerEnv = NonNullable<WorkerConfig['env']>;

interface WranglerFile {
  name: string;
  main: string;
  compatibility_date: string;
  compatibility_flags?: string[];
  /** Bundling options for a deployment. The local stack keeps names and lines readable. */
  minify?: boolean;
  keep_names?: boolean;
  vars?: Record<string, string>;
  secrets?: { required: string[] };
  services?: { binding: string; service: string }[];
  assets?: {
    directory: string;
    binding: string;
    run_worker_first: boolean;
    html_handling: 'auto-trailing-slash';
    not_found_handling: '404-page';
  };
  /** Without an id, the platform makes it at the first deployment. */
  kv_namespaces?: { binding: string; id?: string }[];
  d1_databases?: { binding: string; database_name: string; database_id?: string }[];
  r2_buckets?: { binding: string; bucket_name: string }[];
  durable_objects?: { bindings: { name: string; class_name: string }[] };
  queues?: {
    producers?: { binding: string; queue: string }[];
    consumers?: QueueConsumer[];
  };
}

export interface QueueConsumer {
  queue: string;
  max_batch_size?: number;
  max_batch_timeout?: number;
  max_retries?: number;
  dead_letter_queue?: string;
}

const understood = new Set(
  (
    'name main compatibility_date compatibility_flags vars secrets services kv_namespaces d1_databases r2_buckets ' +
    'durable_objects queues migrations triggers observability workers_dev minify keep_names assets'
  ).split(' '),
);

export function readWranglerFile(path: string): WranglerFile {
  const file = parseWranglerFile(path);
  for (const key of Object.keys(file)) {
    if (!understood.has(key))
      throw new Error(`${path}: the local stack does not support "${key}". Add it to src/cli/worker-config.ts.`);
  }
  return file as unknown as WranglerFile;
}

/** The file's paths are relative to its folder, those of the result to the folder that `path` is relative to. */
export function parseWranglerFile(path: string): Record<string, unknown> {
  const {
    main,
    assets,
    d1_databases: databases,
    ...rest
  } = parse(readFileSync(path, 'utf8')) as unknown as PathHolders;
  const fromFile = (target: string): string => join(dirname(path), target);
  return {
    ...rest,
    ...(main !== undefined && { main: fromFile(main) }),
    ...(assets && { assets: { ...assets, directory: fromFile(assets.directory) } }),
    ...(databases && {
      d1_databases: databases.map((database) => ({ ...database, migrations_dir: fromFile(database.migrations_dir) })),
    }),
  };
}

interface PathHolders {
  main?: string;
  assets?: { directory: string };
  d1_databases?: { migrations_dir: string }[];
}

/** The id under which the simulator keeps the first database of the file. */
export function databaseIdOf(file: WranglerFile): string {
  const [database] = file.d1_databases ?? [];
  return database?.database_id ?? database?.database_name ?? '';
}

/** The same conditions and target as wrangler. */
export function bundleOptions(entry: string) {
  return {
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    target: 'es2024',
    platform: 'neutral',
    mainFields: ['workerd', 'worker', 'module', 'main'],
    conditions: ['workerd', 'worker', 'browser'],
    external: ['cloudflare:*', 'node:*'],
    keepNames: true,
    write: false,
    logLevel: 'silent',
  } satisfies BuildOptions & { write: false };
}

/** One ES module. */
export const bundleWorker = oncePerEntry((entry) => bundled(bundleOptions(entry)));

/** The bundle that a deployment of this wrangler file uploads. */
export async function bundleAsDeployed(wranglerFile: string, root = process.cwd()): Promise<string> {
  const { main, minify = false, keep_names: keepNames = true } = readWranglerFile(resolve(root, wranglerFile));
  return bundled({ ...bundleOptions(main), minify, keepNames, absWorkingDir: root });
}

/** The same Worker, wrapped to read request bodies that it did not read (`unread-bodies.ts`). */
export const bundleForStack = oncePerEntry((entry) => {
  const contents = `
    export * from './${entry}';
    import worker from './${entry}';
    import { readingRefusedBodies } from './src/cli/unread-bodies.ts';
    export default readingRefusedBodies(worker);
  `;
  const { entryPoints: _, ...options } = bundleOptions(entry);
  return bundled({ ...options, stdin: { contents, resolveDir: process.cwd(), loader: 'ts' } });
});

async function bundled(options: BuildOptions & { write: false }): Promise<string> {
  const result = await build(options);
  return result.outputFiles[0]?.text ?? '';
}

/** Built once per process, because tests start the same Worker dozens of times. */
function oncePerEntry(make: (entry: string) => Promise<string>): (entry: string) => Promise<string> {
  const made = new Map<string, Promise<string>>();
  return (entry) => {
    const bundle = made.get(entry) ?? make(entry);
    made.set(entry, bundle);
    return bundle;
  };
}

export function moduleManifest(source: string): NonNullable<WorkerConfig['manifest']> {
  return { mainModule: 'index.mjs', modulesRoot: '/', modules: { 'index.mjs': { type: 'esm', contents: source } } };
}

/**
 * Combines the file's variables with `vars`, which wins and also carries the secrets. A bound Worker runs in another
 * process, and `addresses` has where each listens, by its name.
 */
export function workerConfig(
  file: WranglerFile,
  source: string,
  vars: Record<string, string>,
  addresses: Readonly<Record<string, string>> = {},
): WorkerConfig {
  const env: WorkerEnv = {};
  for (const [name, value] of Object.entries({ ...file.vars, ...vars })) env[name] = { type: 'text', value };
  for (const missing of (file.secrets?.required ?? []).filter((name) => !(name in vars))) {
    throw new Error(`${file.name}: the secret ${missing} is not set. Add it to the variables of the stack.`);
  }
  for (const { binding, service } of file.services ?? []) {
    const address = addresses[service];
    if (address === undefined) throw new Error(`${file.name}: the Worker ${service} has no address in the stack.`);
    env[binding] = { type: 'external', address, http: {} };
  }
  for (const kv of file.kv_namespaces ?? []) env[kv.binding] = { type: 'kv', id: kv.id ?? kv.binding };
  for (const d1 of file.d1_databases ?? []) env[d1.binding] = { type: 'd1', id: d1.database_id ?? d1.database_name };
  for (const r2 of file.r2_buckets ?? []) env[r2.binding] = { type: 'r2', name: r2.bucket_name };
  for (const queue of file.queues?.producers ?? []) env[queue.binding] = { type: 'queue', name: queue.queue };
  if (file.assets) env[file.assets.binding] = { type: 'assets' };
  const exports: NonNullable<WorkerConfig['exports']> = {};
  for (const object of file.durable_objects?.bindings ?? []) {
    env[object.name] = { type: 'durable-object', worker: file.name, exportName: object.class_name };
    exports[object.class_name] = { type: 'durable-object', storage: 'sqlite' };
  }
  return {
    name: file.name,
    compatibilityDate: file.compatibility_date,
    compatibilityFlags: file.compatibility_flags ?? [],
    manifest: moduleManifest(source),
    env,
    exports,
    ...(file.assets === undefined ? {} : { assets: assetsOf(file.assets) }),
  };
}

/** A directory that does not exist is an empty one: a stack also starts without the documentation. */
function assetsOf(assets: NonNullable<WranglerFile['assets']>): NonNullable<WorkerConfig['assets']> {
  return {
    directory: resolve(assets.directory),
    hasUserWorker: true,
    runWorkerFirst: assets.run_worker_first,
    htmlHandling: assets.html_handling,
    notFoundHandling: assets.not_found_handling,
  };
}
