/**
 * `npm run bench -- lookup [COUNT…] [--networks FILE]`: looking an address up in a list of networks, beside maxmind,
 * `net.BlockList`, ipaddr.js, nginx `geo` and HAProxy maps. Every peer gets the same list and the same addresses, and its
 * answers are compared with the right ones. Each engine runs in a process of its own, and all take turns.
 *
 * A server cannot be called in process. Its look-up is the processor time that a request takes with the list, less what
 * one takes with an empty list. A second server with an empty list shows how far apart two equal servers are in a round:
 * what is smaller than that cannot be told.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { signRulesetFile } from '../src/rules/signing.ts';
import { MEASURED_CPU, OTHER_CPUS } from './measure/load.ts';
import { machineLine, packageVersion } from './measure/machine.ts';
import { exactProcessorMs } from './measure/processor-time.ts';
import { residentBytes } from './measure/resident-memory.ts';
import { median } from './measure/statistics.ts';
import type { Done, Loaded, Task } from './peers/engine-process.ts';
import { type EngineKind, type EngineName, engines, files } from './peers/engines.ts';
import { writeMmdb } from './peers/mmdb-writer.ts';
import { addressesFor, generateNetworks, type Network, readNetworks, rightAnswers, rulesOf } from './peers/networks.ts';
import { answersOf } from './peers/pipelined-requests.ts';
import { type RunningServer, type ServerName, servers, startServer, versionOf } from './peers/servers.ts';
import { compileRules } from './rules/workload.ts';

const DEFAULT_COUNTS = [10_000, 100_000, 1_000_000];
const SEED = 20_261;
const ADDRESSES = 65_536;
const ROUNDS = 7;
/** Enough for some tenths of a second of a server's processor time. */
const SERVER_ADDRESSES = 32_768;
const SERVER_ROUNDS = 15;
const TASK: Task = { milliseconds: 200 };
const MEGABYTE = 1e6;
const NANOSECONDS_PER_MS = 1e6;

interface Row {
  label: string;
  loadMs: number;
  bytes: number;
  nanoseconds: number | null;
  answers: string;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { networks: { type: 'string' } },
    allowPositionals: true,
  });
  spawnSync('taskset', ['-a', '-p', '-c', OTHER_CPUS, String(process.pid)]);
  const present = (Object.keys(servers) as ServerName[]).filter((name) => {
    if (versionOf(name) !== null) return true;
    process.stdout.write(`${name} is not installed, so its row is missing. Run: ${servers[name].installation}\n`);
    return false;
  });
  const versions = Object.fromEntries(present.map((name) => [name, versionOf(name) ?? '']));
  for (const name of ['maxmind', 'ipaddr.js']) versions[name] = packageVersion(name);
  process.stdout.write(`${machineLine(versions)}\n`);
  if (values.networks !== undefined) {
    await compare(readNetworks(readFileSync(values.networks, 'utf8'), SEED), present);
    return;
  }
  const counts = positionals.length > 0 ? positionals.map(Number) : DEFAULT_COUNTS;
  if (!counts.every((count) => Number.isInteger(count) && count > 0))
    throw new Error('A COUNT is a whole number above 0');
  for (const count of counts) await compare(generateNetworks(count, SEED), present);
}

async function compare(networks: readonly Network[], present: readonly ServerName[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-lookup-'));
  try {
    const addresses = addressesFor(networks, ADDRESSES, SEED + 1);
    const right = rightAnswers(networks, addresses);
    await writeFiles(folder, networks, addresses);
    const rows = await engineRows(folder, networks.length, right);
    for (const name of present) rows.push(...(await serverRows(name, folder, networks, addresses, right)));
    const base = rows[0]?.nanoseconds ?? Number.NaN;
    process.stdout.write(`\n${networks.length} networks, ${addresses.length} addresses\n`);
    console.table(Object.fromEntries(rows.map((row) => [row.label, cellsOf(row, base)])));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function cellsOf({ loadMs, bytes, nanoseconds, answers }: Row, base: number): Record<string, string> {
  return {
    'load ms': loadMs.toFixed(loadMs < 10 ? 1 : 0),
    'memory MB': (bytes / MEGABYTE).toFixed(1),
    'ns per look-up': nanoseconds?.toFixed(0) ?? '',
    ratio: nanoseconds === null ? '' : (nanoseconds / base).toFixed(nanoseconds / base < 100 ? 2 : 0),
    'right answers': answers,
  };
}

async function writeFiles(folder: string, networks: readonly Network[], addresses: readonly string[]): Promise<void> {
  writeFileSync(join(folder, files.text), networks.map(({ text, answer }) => `${text} ${answer}\n`).join(''));
  writeFileSync(join(folder, files.addresses), addresses.join('\n'));
  writeFileSync(join(folder, files.mmdb), writeMmdb(networks.map(({ prefix, answer }) => ({ prefix, value: answer }))));
  const { privateKey, publicKey } = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const { file } = await signRulesetFile(compileRules(rulesOf(networks)), { kid: 'bench', privateKey });
  writeFileSync(join(folder, files.ruleset), file);
  writeFileSync(join(folder, files.publicKey), new Uint8Array(await crypto.subtle.exportKey('raw', publicKey)));
}

async function engineRows(folder: string, count: number, right: Uint8Array): Promise<Row[]> {
  const names = (Object.keys(engines) as EngineName[]).filter((name) => {
    const { networksMax }: EngineKind = engines[name];
    return networksMax === undefined || count <= networksMax;
  });
  const running: { name: EngineName; child: ChildProcess; loaded: Loaded; best: number; last: Done | null }[] = [];
  try {
    for (const name of names) {
      const program = ['-c', String(MEASURED_CPU), process.execPath, 'bench/peers/engine-process.ts', name, folder];
      const child = spawn('taskset', program, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      const one = { name, child, best: Number.POSITIVE_INFINITY, last: null };
      running.push({ ...one, loaded: await nextMessage<Loaded>(child) });
    }
    for (let round = 0; round < ROUNDS; round++) {
      for (const one of running) {
        one.child.send(TASK);
        one.last = await nextMessage<Done>(one.child);
        one.best = Math.min(one.best, one.last.nanosecondsEach);
      }
    }
  } finally {
    for (const { child } of running) child.kill();
  }
  return running.map(({ name, loaded, best, last }) => {
    const { label, isYesOrNo = false }: EngineKind = engines[name];
    const answers = checked(label, last?.answers ?? [], right, isYesOrNo);
    return { label, loadMs: loaded.milliseconds, bytes: loaded.residentBytes, nanoseconds: best, answers };
  });
}

function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) => reject(new Error(`An engine ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (message) => {
      child.off('exit', ended);
      resolve(message as T);
    });
  });
}

/** Says how many answers were compared, or throws at a wrong one. */
function checked(label: string, answers: ArrayLike<number>, right: Uint8Array, isYesOrNo: boolean): string {
  for (let at = 0; at < answers.length; at++) {
    const expected = isYesOrNo ? Math.min(1, right[at]!) : right[at];
    if (answers[at] !== expected) throw new Error(`${label}: address ${at} has ${answers[at]}, expected ${expected}`);
  }
  return `${answers.length === right.length ? 'all' : answers.length}${isYesOrNo ? ', only yes or no' : ''}`;
}

async function serverRows(
  name: ServerName,
  folder: string,
  networks: readonly Network[],
  addresses: readonly string[],
  right: Uint8Array,
): Promise<Row[]> {
  const { label } = servers[name];
  const asked = addresses.slice(0, SERVER_ADDRESSES);
  const lists = { empty: [], again: [], full: networks };
  const started = async (kind: keyof typeof lists) => {
    const own = join(folder, `${name}-${kind}`);
    mkdirSync(own);
    return startServer(name, own, lists[kind]);
  };
  const empty = await started('empty');
  const again = await started('again').catch(stopping(empty));
  const full = await started('full').catch(stopping(empty, again));
  try {
    const perRequest = async ({ port, pid }: RunningServer): Promise<{ ns: number; answers: Uint8Array }> => {
      const usedMs = exactProcessorMs([pid]);
      const answers = await answersOf(port, asked);
      return { ns: ((exactProcessorMs([pid]) - usedMs) * NANOSECONDS_PER_MS) / asked.length, answers };
    };
    const ns: Record<keyof typeof lists, number[]> = { empty: [], again: [], full: [] };
    for (let round = 0; round <= SERVER_ROUNDS; round++) {
      for (const [kind, server] of Object.entries({ empty, full, again }) as [keyof typeof lists, RunningServer][]) {
        const measured = await perRequest(server);
        checked(label, measured.answers, kind === 'full' ? right : new Uint8Array(right.length), false);
        // The first round warms up.
        if (round > 0) ns[kind].push(measured.ns);
      }
    }
    const least = Math.min(...ns.full);
    const loadMs = Math.max(0, full.startMs - empty.startMs);
    const loaded = { loadMs, bytes: residentBytes(full.pid) - residentBytes(empty.pid) };
    const resolution = median(ns.empty.map((one, round) => Math.abs(one - ns.again[round]!)));
    const notes = `${asked.length}; ±${resolution.toFixed(0)} ns; a whole request ${(least / 1000).toFixed(1)} µs`;
    return [{ label, ...loaded, nanoseconds: least - Math.min(...ns.empty), answers: notes }];
  } finally {
    for (const server of [empty, again, full]) await server.stop();
  }
}

function stopping(...running: { stop(): Promise<void> }[]) {
  return async (error: unknown): Promise<never> => {
    for (const server of running) await server.stop();
    throw error;
  };
}
