/**
 * Runs what was uploaded to the stand-in, as uploaded: modules, bindings, secrets and variables are those of the calls, so
 * that a wrong binding or a missing secret shows. Requests reach a Worker only over a route or a domain that was made.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Miniflare, Response as WorkerResponse } from 'miniflare';
import { runtimeOptions } from '../../../src/cli/runtime-options.ts';
import { SERVICE_CONFIG } from '../../../src/cli/service-worker.ts';
import {
  moduleManifest,
  readWranglerFile,
  type WorkerConfig,
  type WorkerEnv,
  type WorkerOptions,
} from '../../../src/cli/worker-config.ts';
import type { QueueState, ScriptState } from './account-state.ts';
import type { Answer, PlatformDatabase, Query } from './memory-database.ts';
import type { Hosts } from './network.ts';
import type { Platform } from './platform.ts';

const DATABASE_ID = 'platform';
const DATE = '2026-10-01';
/** The address of the operator, as the platform would see it. */
const VISITOR = '198.51.100.7';

export class RunningWorkers {
  readonly #platform: Platform;
  readonly #storage = mkdtempSync(join(tmpdir(), 'gatehouse-platform-'));
  #running: Miniflare | null = null;
  #uploads = -1;
  #following: Promise<void> = Promise.resolve();

  constructor(platform: Platform) {
    this.#platform = platform;
    platform.state.newDatabase = () => this.#database();
    platform.changed = () => this.#follow();
  }

  async stop(): Promise<void> {
    await this.#following.catch(() => undefined);
    await this.#running?.dispose();
    rmSync(this.#storage, { recursive: true, force: true });
  }

  /** The hosts that routes and domains lead to, and the site's own server behind the gate. */
  readonly hosts: Hosts = async (url, init) => {
    await this.#following;
    const name =
      this.#platform.account.domains.find(({ hostname }) => hostname === url.host)?.service ??
      this.#platform.state.zones.flatMap(({ routes }) => routes).find(({ pattern }) => pattern === `${url.host}/*`)
        ?.script;
    if (typeof name !== 'string' || this.#running === null) return null;
    const worker = await this.#running.getWorker(name);
    const headers = { ...(init?.headers as Record<string, string>), 'cf-connecting-ip': VISITOR };
    const response = await worker.fetch(url.href, {
      method: init?.method ?? 'GET',
      headers,
      redirect: 'manual',
      body: (init?.body as string) ?? null,
    });
    return new Response(response.body as ReadableStream | null, {
      status: response.status,
      headers: [...response.headers],
    });
  };

  #database(): PlatformDatabase {
    return {
      run: async (queries: readonly Query[]) => {
        await this.#follow();
        const database = await this.#running!.getD1Database('DB', 'database');
        const statements = queries.map(({ sql, params = [] }) => database.prepare(sql).bind(...params));
        return (await database.batch(statements)) as unknown as Answer[];
      },
    };
  }

  /** Wrangler changes several things at a time: each change waits until the Workers of the one before it run. */
  #follow(): Promise<void> {
    this.#following = this.#following.then(
      () => this.#restart(),
      () => this.#restart(),
    );
    return this.#following;
  }

  /** Starts the Workers anew after an upload. */
  async #restart(): Promise<void> {
    const { scripts, queues } = this.#platform.account;
    const uploads =
      [...scripts.values()].reduce((sum, one) => sum + one.uploads, 0) +
      queues.flatMap(({ consumers }) => consumers).length * 1000;
    if (uploads === this.#uploads) return;
    const former = this.#running;
    this.#running = null;
    await former?.dispose();
    const database: WorkerConfig = {
      name: 'database',
      compatibilityDate: DATE,
      manifest: moduleManifest('export default {};'),
      env: { DB: { type: 'd1', id: DATABASE_ID } },
    };
    const workers: WorkerOptions[] = [...scripts].map(([name, script]) => ({
      config: configOf(name, script, queues),
      dev: {
        stripCfConnectingIp: false,
        outboundService: {
          type: 'fetcher',
          // The zone's own server.
          handler: (request) =>
            new WorkerResponse(`<p>The shop at ${request.url}</p>`, { headers: { 'content-type': 'text/html' } }),
        },
      },
    }));
    this.#running = new Miniflare({
      ...runtimeOptions('platform', this.#storage, true),
      // It would write into the operator's home directory, also after that is removed.
      enableDevRegistry: false,
      workers: [{ config: database }, ...workers],
    });
    await this.#running.ready;
    this.#uploads = uploads;
  }
}

/** The directory that is uploaded. */
function readAssets(): NonNullable<WorkerConfig['assets']> {
  return {
    directory: resolve(readWranglerFile(SERVICE_CONFIG).assets!.directory),
    hasUserWorker: true,
    runWorkerFirst: true,
  };
}

function configOf(name: string, script: ScriptState, queues: readonly QueueState[]): WorkerConfig {
  const env: WorkerEnv = {};
  const exports: NonNullable<WorkerConfig['exports']> = {};
  for (const [secret, value] of script.secrets) env[secret] = { type: 'text', value };
  for (const { type, name: binding, ...rest } of script.metadata.bindings ?? []) {
    if (type === 'plain_text') env[binding] = { type: 'text', value: rest.text ?? '' };
    if (type === 'd1') env[binding] = { type: 'd1', id: DATABASE_ID };
    if (type === 'kv_namespace') env[binding] = { type: 'kv', id: String(rest['namespace_id']) };
    if (type === 'r2_bucket') env[binding] = { type: 'r2', name: String(rest['bucket_name']) };
    if (type === 'assets') env[binding] = { type: 'assets' };
    if (type === 'queue') env[binding] = { type: 'queue', name: String(rest['queue_name']) };
    if (type === 'service') env[binding] = { type: 'worker', worker: String(rest['service']) };
    if (type === 'durable_object_namespace') {
      const exportName = String(rest['class_name']);
      env[binding] = { type: 'durable-object', worker: name, exportName };
      exports[exportName] = { type: 'durable-object', storage: 'sqlite' };
    }
  }
  const main = script.metadata.main_module;
  const source = Buffer.from(script.modules.get(main) ?? '').toString();
  const consumed = queues.filter(({ consumers }) => consumers.some((one) => one.script === name));
  return {
    name,
    compatibilityDate: script.metadata.compatibility_date ?? DATE,
    compatibilityFlags: script.metadata.compatibility_flags ?? [],
    manifest: moduleManifest(source),
    env,
    exports,
    ...('assets' in script.metadata ? { assets: readAssets() } : {}),
    triggers: consumed.map(({ queue_name: queue }) => ({ type: 'queue' as const, name: queue, maxBatchTimeout: 0 })),
  };
}
