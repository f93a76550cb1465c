/**
 * `npm run bench -- edge [RULES] [--beside DIR] [--rounds N]`: what the gate costs for an allowed request. Prints the
 * processor time of workerd for each request and the requests per second, beside a bare pass-through Worker and one that
 * only edits headers, in turns. Session, clearance, rules and logging are on, and the table of bots is loaded; a second
 * edge never asks for that table, so that the difference is what bots cost who is none. `--beside` adds the edge of
 * another checkout of the project. Every edge is the bundle that is deployed, and has opened its visitor's session
 * itself. Service, origin and load run in other processes. The workerds that are compared stay on one processor,
 * everything else on the others.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleAsDeployed, readWranglerFile } from '../src/cli/worker-config.ts';
import { type Stack, startStack } from '../src/cli/stack.ts';
import { personsHeaders } from '../test/support/session.ts';
import { type RawWorker, startRawWorker } from '../test/support/raw-workerd.ts';
import { eventually } from '../test/support/eventually.ts';
import { clearedVisitor } from './edge/cleared-visitor.ts';
import { WRANGLER_FILE, letLoadPass, readLists, rulesLoaded, startEdge } from './edge/measured-edge.ts';
import { load, type Round } from './edge/worker-load.ts';
import { MEASURED_CPU, OTHER_CPUS } from './measure/load.ts';
import { median } from './measure/statistics.ts';
import { importRules } from './rules/import-rules.ts';
import { mixedRules } from './rules/workload.ts';

const RULES_DEFAULT = 1_000_000;
const ROUNDS_DEFAULT = 7;
const ROUND_MS = 2500;
const WARM_UP_MS = 2500;
const PORT_BASE = 8890;
const ASKS_FOR_BOTS = '/edge/v1/version?bots&';
const labels = {
  bare: 'bare pass-through',
  floor: 'header edits alone',
  botless: 'Gatehouse edge without bots',
  edge: 'Gatehouse edge',
  former: 'Gatehouse edge, other checkout',
};
type Name = keyof typeof labels;

const bareSource = `export default {
  fetch(request, env) {
    const path = request.url.slice(request.url.indexOf('/', 8));
    return fetch(env.ORIGIN_URL + path, request);
  },
};`;
/** The floor: the platform's calls that any gate needs to forward a request, without reading, deciding or logging. */
const floorSource = `export default {
  fetch(request, env, ctx) {
    const response = forward(request, env);
    ctx.waitUntil(response);
    return response;
  },
};
async function forward(request, env) {
  const forged = [];
  request.headers.forEach((value, name) => {
    if (name.startsWith('x-')) forged.push(name);
  });
  const path = request.url.slice(request.url.indexOf('/', 8));
  const headers = new Headers(request.headers);
  for (const name of forged) headers.delete(name);
  headers.delete('cookie');
  for (const name of ['request-id', 'decision', 'verified', 'signature']) headers.set('x-protect-' + name, 'bench');
  for (const name of ['for', 'host', 'proto']) headers.set('x-forwarded-' + name, 'bench');
  const response = await fetch(env.ORIGIN_URL + path, { method: request.method, headers, redirect: 'manual' });
  const annotated = new Response(response.body, response);
  annotated.headers.set('x-protect-request-id', 'bench');
  annotated.headers.set('x-protect-decision', 'allow');
  annotated.headers.delete('x-protect-status');
  return annotated;
}`;
const originSource = `export default { fetch: () => Response.json({ ok: true }) };`;

export async function run(args: readonly string[]): Promise<void> {
  const text = { type: 'string' } as const;
  const options = { beside: text, rounds: text };
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const rules = Number(positionals[0] ?? RULES_DEFAULT);
  const roundsWanted = Number(values.rounds ?? ROUNDS_DEFAULT);
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const stopped: (() => Promise<void>)[] = [];
  // The stack and everything it starts inherit this. The Workers that are compared run on another processor.
  spawnSync('taskset', ['-a', '-p', '-c', OTHER_CPUS, String(process.pid)]);
  const stack = await startStack({ portBase: PORT_BASE, stateDir, quiet: true, fresh: true });
  stopped.push(() => stack.stop());
  try {
    const { compatibility_date: compatibilityDate } = readWranglerFile(WRANGLER_FILE);
    const origin = await startRawWorker({ source: originSource, compatibilityDate });
    stopped.push(() => origin.stop());
    const peer = async (source: string) => {
      const toOrigin = { ORIGIN_URL: origin.url };
      const worker = await startRawWorker({ source, compatibilityDate, vars: toOrigin, cpu: MEASURED_CPU });
      stopped.push(() => worker.stop());
      return worker;
    };
    const bare = await peer(bareSource);
    const floor = await peer(floorSource);
    await importRules(stack, mixedRules(rules, 1));
    await letLoadPass(stack, { ipCategoryRules: { datacenter: 'challenge' } });
    const source = await bundleAsDeployed(WRANGLER_FILE);
    if (!source.includes(ASKS_FOR_BOTS)) throw new Error('The edge no longer asks for bots in this way');
    const sources = new Map<Name, string>([
      ['botless', source.replace(ASKS_FOR_BOTS, '/edge/v1/version?')],
      ['edge', source],
    ]);
    if (values.beside !== undefined) {
      sources.set('former', await bundleAsDeployed(WRANGLER_FILE, resolve(values.beside)));
    }
    const edges = new Map<Name, RawWorker>();
    for (const [name, bundle] of sources) {
      const edge = await startEdge(stack, origin.url, { source: bundle, cpu: MEASURED_CPU });
      stopped.push(() => edge.stop());
      edges.set(name, edge);
    }

    await readLists(stack);
    const measured = new Map<Name, Measured>();
    for (const [name, worker] of edges) {
      await rulesLoaded(stack, worker, rules);
      if (name !== 'botless') await botsLoaded(stack, worker);
      measured.set(name, { worker, headers: await clearedVisitor(stack, worker) });
    }
    const { headers } = measured.get('edge')!;
    const inTurn = new Map<Name, Measured>([
      ['bare', { worker: bare, headers }],
      ['floor', { worker: floor, headers }],
      ...measured,
    ]);
    for (const one of inTurn.values()) load(one.worker, one.headers, WARM_UP_MS);
    const rounds: Rounds = new Map([...inTurn.keys()].map((name) => [name, []]));
    for (let round = 0; round < roundsWanted; round += 1) {
      for (const [name, one] of inTurn) rounds.get(name)?.push(load(one.worker, one.headers, ROUND_MS));
    }
    report(rounds, rules);
  } finally {
    for (const stop of stopped.toReversed()) {
      // In order: what depends on another stops before it.
      await stop();
    }
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** In a data centre, a search engine passes by its name and address once the edge knows bots. */
async function botsLoaded(stack: Stack, edge: RawWorker): Promise<void> {
  const headers = {
    ...personsHeaders,
    'x-signals-secret': stack.signalsSecret,
    'x-client-ip': '157.55.39.1',
    'x-client-asn': '8075',
    'user-agent': 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  };
  await eventually(
    async () => {
      const response = await fetch(`${edge.url}/page`, { headers });
      await response.arrayBuffer();
      return response.status;
    },
    (status) => status === 200,
  );
}

interface Measured {
  worker: RawWorker;
  headers: Record<string, string>;
}

type Rounds = Map<Name, Round[]>;

function report(rounds: Rounds, rules: number): void {
  const cpuOf = (name: Name) => (rounds.get(name) ?? []).map((round) => round.microsecondsPerRequest);
  const bare = median(cpuOf('bare'));
  const row = (name: Name) => {
    const cpu = median(cpuOf(name));
    return {
      'CPU µs per request': cpu.toFixed(1),
      'ratio to bare': (cpu / bare).toFixed(2),
      'ratio of the least': (Math.min(...cpuOf(name)) / Math.min(...cpuOf('bare'))).toFixed(2),
      'µs over bare': (cpu - bare).toFixed(1),
      'requests per second': Math.round(median((rounds.get(name) ?? []).map((round) => round.requestsPerSecond))),
      'spread of CPU': `${Math.min(...cpuOf(name)).toFixed(0)}–${Math.max(...cpuOf(name)).toFixed(0)}`,
    };
  };
  process.stdout.write(
    `Allowed request on raw workerd, one processor; ${rules} rules, session, clearance, log sent to the service.\n`,
  );
  console.table(Object.fromEntries([...rounds.keys()].map((name) => [labels[name], row(name)])));
  process.stdout.write('Target: at most 1.42 times bare.\n');
  const costs = cpuOf('edge').map((cpu, round) => cpu - cpuOf('botless')[round]!);
  process.stdout.write(
    `Bots cost a request that is none ${median(costs).toFixed(1)} µs (rounds: ${costs.map((cost) => cost.toFixed(1)).join(', ')}). ` +
      'Target: at most 2 µs.\n',
  );
}
