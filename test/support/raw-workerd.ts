/**
 * A Worker on workerd itself, without the simulator and without the stack's listener: as close to Cloudflare as one
 * machine can be. `request.cf.clientIp` has the address of the socket, and paths stay as sent. For tests of exact
 * bytes, and for measurements.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SHARED_PROMISE } from '../../src/cli/runtime-options.ts';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import { eventually } from './eventually.ts';

/** A CommonJS package without types. It exports the path of its program. */
const workerd = createRequire(import.meta.url)('workerd') as { default: string };

const KV_WORKER = 'test/support/raw-kv-worker.ts';
const QUEUE_WORKER = 'test/support/raw-queue-worker.ts';

export interface RawWorkerOptions {
  /** An ES module. */
  source: string;
  compatibilityDate: string;
  compatibilityFlags?: readonly string[];
  vars?: Record<string, string>;
  /** Binding names, each served by a small Worker that speaks the real protocol. */
  kv?: readonly string[];
  queues?: readonly string[];
  /** Analytics Engine datasets by binding name, with the `127.0.0.1:port` that workerd posts their points to. */
  analytics?: Record<string, string>;
  /** Other Workers, as ES modules, by the name of their binding. */
  services?: Record<string, string>;
  /** A Worker, as an ES module, that receives every `fetch` of the main one. */
  outbound?: string;
  /** The `127.0.0.1:port` of a server that stands in for the cache (`bench/measure/cache-server.ts`). */
  cache?: string;
  /** The processor to run on, for a measurement. */
  cpu?: number;
}

export interface RawWorker {
  url: string;
  /** The process of workerd itself, whose processor time is in /proc. */
  pid: number;
  stop(): Promise<void>;
}

/** The edge, on a zone whose fetches reach the gate again. */
export async function startRawEdge(options: Pick<RawWorkerOptions, 'vars' | 'kv'>): Promise<RawWorker> {
  return startRawWorker({
    ...options,
    source: await bundleWorker('src/edge/index.ts'),
    compatibilityDate: '2026-10-01',
    compatibilityFlags: ['global_fetch_strictly_public'],
  });
}

export async function startRawWorker(options: RawWorkerOptions): Promise<RawWorker> {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-raw-'));
  writeFileSync(join(dir, 'main.mjs'), options.source);
  writeFileSync(join(dir, 'kv.mjs'), await bundleWorker(KV_WORKER));
  writeFileSync(join(dir, 'queue.mjs'), await bundleWorker(QUEUE_WORKER));
  writeFileSync(join(dir, 'config.capnp'), configuration(options));
  const experimental = options.analytics === undefined ? [] : ['--experimental'];
  const command = [workerd.default, 'serve', join(dir, 'config.capnp'), '--control-fd=3', ...experimental];
  const pinned = options.cpu === undefined ? command : ['taskset', '-c', String(options.cpu), ...command];
  const child = spawn(pinned[0] ?? '', pinned.slice(1), { stdio: ['ignore', 'inherit', 'pipe', 'pipe'] });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk);
    errors += chunk.toString();
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(dir, { recursive: true, force: true });
    if (errors.includes(SHARED_PROMISE)) throw new Error(`A request settled a promise of another one:\n${errors}`);
  };
  try {
    const port = await listeningPort(child);
    // taskset replaces itself, so the child's process id is always workerd's.
    return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** workerd writes to its control pipe where it listens. */
async function listeningPort(child: ChildProcess): Promise<number> {
  let text = '';
  let problem: Error | null = null;
  child.stdio[3]?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.once('error', (error) => (problem = error));
  child.once('exit', (code) => (problem = new Error(`workerd ended with ${code}`)));
  const port = await eventually(
    async () => {
      if (problem !== null) throw problem;
      return /"event":"listen","socket":"http","port":(\d+)/.exec(text)?.[1];
    },
    (found) => found !== undefined,
  );
  return Number(port);
}

function configuration(options: RawWorkerOptions): string {
  const bindings = [
    ...Object.entries(options.vars ?? {}).map(([name, value]) => `(name = ${quoted(name)}, text = ${quoted(value)})`),
    ...(options.kv ?? []).map((name) => `(name = ${quoted(name)}, kvNamespace = "kv")`),
    ...(options.queues ?? []).map((name) => `(name = ${quoted(name)}, queue = "queue")`),
  ];
  const datasets = Object.entries(options.analytics ?? {});
  for (const [name] of datasets) bindings.push(`(name = ${quoted(name)}, analyticsEngine = ${quoted(`ae-${name}`)})`);
  const servers = datasets.map(([name, address]): [string, string] => [`ae-${name}`, address]);
  if (options.cache !== undefined) servers.push(['cache', options.cache]);
  const others = Object.entries({ ...options.services, ...(options.outbound && { outbound: options.outbound }) });
  for (const name of Object.keys(options.services ?? {})) {
    bindings.push(`(name = ${quoted(name)}, service = ${quoted(name)})`);
  }
  const flags = (options.compatibilityFlags ?? []).map(quoted).join(', ');
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "main.mjs", esModule = embed "main.mjs")],
      compatibilityDate = ${quoted(options.compatibilityDate)},
      compatibilityFlags = [${flags}],
      bindings = [${bindings.join(', ')}],
      globalOutbound = ${quoted(options.outbound === undefined ? 'network' : 'outbound')},${
        options.cache === undefined ? '' : '\n      cacheApiOutbound = "cache",'
      }
    )),${others.map(([name, source]) => otherWorker(name, source, options)).join('')}${servers
      .map(([name, address]) => `\n    (name = ${quoted(name)}, external = (address = ${quoted(address)}, http = ())),`)
      .join('')}
    (name = "kv", worker = (
      modules = [(name = "kv.mjs", esModule = embed "kv.mjs")],
      compatibilityDate = ${quoted(options.compatibilityDate)},
    )),
    (name = "queue", worker = (
      modules = [(name = "queue.mjs", esModule = embed "queue.mjs")],
      compatibilityDate = ${quoted(options.compatibilityDate)},
    )),
    (name = "network", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;
}

function otherWorker(name: string, source: string, options: RawWorkerOptions): string {
  return `
    (name = ${quoted(name)}, worker = (
      modules = [(name = "main.mjs", esModule = ${quoted(source)})],
      compatibilityDate = ${quoted(options.compatibilityDate)},
      globalOutbound = "network",
    )),`;
}

/** A Cap'n Proto text literal, which accepts JSON's escapes. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
