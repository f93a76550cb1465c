/**
 * `npm run bench -- edge-peers [COUNT…] [--crowdsec DIR]`: what it costs to let a visitor pass whom none of COUNT networks
 * contains. Prints the processor time of raw workerd for each request of Gatehouse's edge, CrowdSec's Worker, a Worker
 * that only reads what CrowdSec's reads, and a bare pass-through, in turns, with their memory, their size, and how long a
 * new process takes to refuse a listed address. `DIR` is a checkout of crowdsecurity/cs-cloudflare-worker-bouncer.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { formatIp, parseCidr } from '../src/address/ip.ts';
import { type Stack, startStack } from '../src/cli/stack.ts';
import { bundleAsDeployed, readWranglerFile } from '../src/cli/worker-config.ts';
import { type RawWorker, startRawWorker } from '../test/support/raw-workerd.ts';
import { VISITORS, clearedVisitor } from './edge/cleared-visitor.ts';
import { WRANGLER_FILE, letLoadPass, rulesLoaded, startEdge } from './edge/measured-edge.ts';
import {
  PEER_NAMESPACE,
  bareSource,
  crowdsecScript,
  crowdsecSource,
  fillNamespace,
  readingSource,
} from './edge/pass-through-peers.ts';
import { load, type Round } from './edge/worker-load.ts';
import { MEASURED_CPU, OTHER_CPUS } from './measure/load.ts';
import { machineLine, packageVersion } from './measure/machine.ts';
import { residentBytes } from './measure/resident-memory.ts';
import { median } from './measure/statistics.ts';
import { generateNetworks, type Network, overlap, rulesOf } from './peers/networks.ts';
import { importRules } from './rules/import-rules.ts';

const DEFAULT_COUNTS = [0, 100, 1000, 10_000, 1_000_000];
/** CrowdSec's Worker tries one network after the other, so a request takes seconds beyond. */
const LINEAR_MAX = 10_000;
const SEED = 20_261;
const ROUNDS = 5;
const ROUND_MS = 2000;
const PORT_BASE = 8890;
const REFUSED_WITHIN_MS = 60_000;
const BARE = 'bare pass-through';
const originSource = `export default { fetch: () => Response.json({ ok: true }) };`;

interface Peer {
  label: string;
  worker: RawWorker;
  headers: Record<string, string>;
  refusedAfterMs: number | null;
  rounds: Round[];
}

/** Everything that stays the same from one count to the next. */
interface Bench {
  stack: Stack;
  originHost: string;
  sources: Record<'bare' | 'reading' | 'gatehouse', string> & { crowdsec: string | null };
}

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { crowdsec: { type: 'string' } },
    allowPositionals: true,
  });
  const counts = positionals.length > 0 ? positionals.map(Number).toSorted((a, b) => a - b) : DEFAULT_COUNTS;
  if (!counts.every((count) => Number.isInteger(count) && count >= 0)) throw new Error('A COUNT is a whole number');
  const script = values.crowdsec === undefined ? null : crowdsecScript(values.crowdsec);
  if (script === null) process.stdout.write('Without --crowdsec DIR, the rows of its Worker are missing.\n');
  const sources = {
    bare: await bareSource(),
    reading: await readingSource(),
    crowdsec: script && (await crowdsecSource(script)),
    gatehouse: await bundleAsDeployed(WRANGLER_FILE),
  };
  process.stdout.write(`${machineLine({ workerd: packageVersion('workerd') })}\n`);
  spawnSync('taskset', ['-a', '-p', '-c', OTHER_CPUS, String(process.pid)]);
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const stack = await startStack({ portBase: PORT_BASE, stateDir, quiet: true, fresh: true });
  const { compatibility_date: compatibilityDate } = readWranglerFile(WRANGLER_FILE);
  const origin = await startRawWorker({ source: originSource, compatibilityDate });
  try {
    await letLoadPass(stack);
    const networks = networksWithoutVisitors(counts.at(-1) ?? 0);
    let imported = 0;
    for (const count of counts) {
      const blocked = networks.slice(imported, count).map(({ text }) => ({ text, answer: 3 as const }));
      await importRules(stack, rulesOf(blocked));
      imported = count;
      await compare({ stack, originHost: new URL(origin.url).host, sources }, networks.slice(0, count));
    }
  } finally {
    await origin.stop();
    await stack.stop();
    rmSync(stateDir, { recursive: true, force: true });
  }
  const sizes = {
    'Gatehouse edge': sources.gatehouse,
    ...(script && { 'CrowdSec Worker': readFileSync(script, 'utf8') }),
  };
  for (const [label, source] of Object.entries(sizes)) {
    process.stdout.write(`${label}: ${source.length} bytes, ${gzipSync(source).length} gzipped\n`);
  }
}

function networksWithoutVisitors(count: number): Network[] {
  const visitors = parseCidr(VISITORS)!;
  const spare = Math.ceil(count / 100);
  const others = generateNetworks(count + spare, SEED).filter(({ prefix }) => !overlap(prefix, visitors));
  if (others.length < count) throw new Error('Too many networks contain the visitors');
  return others.slice(0, count);
}

async function compare(bench: Bench, networks: readonly Network[]): Promise<void> {
  const peers: Peer[] = [];
  try {
    const gatehouse = await gatehousePeer(bench, networks);
    peers.push(gatehouse);
    const visitor = { ...gatehouse.headers, host: bench.originHost };
    peers.push(await passThroughPeer(BARE, bench.sources.bare, visitor, networks));
    if (networks.length <= LINEAR_MAX) {
      peers.push(await passThroughPeer('two reads from KV', bench.sources.reading, visitor, networks));
      const { crowdsec } = bench.sources;
      if (crowdsec !== null) {
        const peer = await passThroughPeer('CrowdSec Worker', crowdsec, visitor, networks);
        peers.push(peer);
        peer.refusedAfterMs = await refusedAfter(peer.worker, networks, (ip) => ({ 'cf-connecting-ip': ip }));
      }
    }
    for (const { worker, headers } of peers) load(worker, headers, ROUND_MS);
    for (let round = 0; round < ROUNDS; round++) {
      for (const { worker, headers, rounds } of peers) rounds.push(load(worker, headers, ROUND_MS));
    }
    report(peers, networks.length);
  } finally {
    for (const { worker } of peers) await worker.stop();
  }
}

function report(peers: readonly Peer[], count: number): void {
  const cpuOf = ({ rounds }: Peer) => median(rounds.map((round) => round.microsecondsPerRequest));
  const bare = cpuOf(peers.find(({ label }) => label === BARE)!);
  const rows = peers.map((peer) => [
    peer.label,
    {
      'CPU µs per request': cpuOf(peer).toFixed(cpuOf(peer) < 1000 ? 1 : 0),
      'ratio to bare': (cpuOf(peer) / bare).toFixed(2),
      'requests per second': Math.round(median(peer.rounds.map((round) => round.requestsPerSecond))),
      'memory MB': Math.round(residentBytes(peer.worker.pid) / 1e6),
      'refuses after ms': peer.refusedAfterMs === null ? '' : Math.round(peer.refusedAfterMs),
    },
  ]);
  process.stdout.write(`\n${count} networks\n`);
  console.table(Object.fromEntries(rows));
}

async function gatehousePeer({ stack, originHost, sources }: Bench, networks: readonly Network[]): Promise<Peer> {
  const place = { source: sources.gatehouse, cpu: MEASURED_CPU };
  const started = () => startEdge(stack, `http://${originHost}`, place);
  // The service has compiled the rules once an edge has them. Only then is the time of a new process that of the edge.
  const first = await started();
  await rulesLoaded(stack, first, networks.length).finally(() => first.stop());
  const worker = await started();
  try {
    const signed = { 'x-signals-secret': stack.signalsSecret, 'x-client-asn': '64496', 'x-client-country': 'DE' };
    const refusedAfterMs = await refusedAfter(worker, networks, (ip) => ({ ...signed, 'x-client-ip': ip }));
    const visitor = await clearedVisitor(stack, worker);
    const headers = { ...visitor, 'cf-connecting-ip': visitor['x-client-ip'] ?? '' };
    return { label: 'Gatehouse edge', worker, headers, refusedAfterMs, rounds: [] };
  } catch (error) {
    await worker.stop();
    throw error;
  }
}

async function passThroughPeer(
  label: string,
  source: string,
  headers: Record<string, string>,
  networks: readonly Network[],
): Promise<Peer> {
  const worker = await startRawWorker({
    source,
    compatibilityDate: readWranglerFile(WRANGLER_FILE).compatibility_date,
    kv: [PEER_NAMESPACE],
    cpu: MEASURED_CPU,
    vars: { ACTIONS_BY_DOMAIN: '{"127.0.0.1":{"supported_actions":["ban"],"default_action":"ban"}}' },
  });
  try {
    await fillNamespace(worker.url, networks.length <= LINEAR_MAX ? networks.map(({ text }) => text) : []);
    return { label, worker, headers, refusedAfterMs: null, rounds: [] };
  } catch (error) {
    await worker.stop();
    throw error;
  }
}

/** Milliseconds until the first 403 for an address of the list; `null` for an empty list. */
async function refusedAfter(
  worker: RawWorker,
  networks: readonly Network[],
  headersOf: (ip: string) => Record<string, string>,
): Promise<number | null> {
  const listed = networks.find(({ prefix }) => prefix.family === 4);
  if (!listed) return null;
  const headers = headersOf(formatIp(listed.prefix));
  const startedAt = performance.now();
  while (performance.now() - startedAt < REFUSED_WITHIN_MS) {
    const response = await fetch(`${worker.url}/page`, { headers, redirect: 'manual' });
    await response.arrayBuffer();
    if (response.status === 403) return performance.now() - startedAt;
    await sleep(1);
  }
  throw new Error('A listed address is not refused');
}
