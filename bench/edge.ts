/**
 * `npm run bench -- edge [RULES]`: what the gate costs an allowed request. Processor time of workerd per
 * request and requests per second, beside a bare pass-through Worker and one that only edits headers, in turns.
 * Session, clearance, rules and logging are on; service, origin and load run in other processes, and
 * the workerds that are compared stay on one processor, everything else on the others.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorker, readWranglerFile } from '../src/cli/worker-config.ts';
import { startStack } from '../src/cli/stack.ts';
import type { Stack } from '../src/cli/stack.ts';
import { startRawWorker } from '../test/support/raw-workerd.ts';
import type { RawWorker } from '../test/support/raw-workerd.ts';
import { cookiesOf, solvedToken } from '../test/e2e/edge-visitor.ts';
import { eventually } from '../test/support/eventually.ts';
import { mixedRules } from './rules-workload.ts';

const RULES_DEFAULT = 1_000_000;
const RULES_PER_CALL = 10_000;
const ROUNDS = 7;
const ROUND_MS = 2500;
const WARM_UP_MS = 2500;
const CONNECTIONS = 16;
const PORT_BASE = 8890;
/** Generated rules repeat a value now and then; the repeated one is one rule. */
const LOADED_SHARE = 0.95;
const LOADED_WITHIN_MS = 60_000;
/** What the kernel counts processor time in; 100 a second on every Linux there is. */
const TICK_MICROSECONDS = 10_000;
const names = ['bare', 'floor', 'edge'] as const;
const MEASURED_CPU = 0;
const OTHER_CPUS = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : '0';
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36';

const bareSource = `export default {
  fetch(request, env) {
    const path = request.url.slice(request.url.indexOf('/', 8));
    return fetch(new Request(env.ORIGIN_URL + path, request));
  },
};`;
/** The platform's own calls that design 3.2 asks of any gate, with nothing read, decided or logged: the floor. */
const floorSource = `export default {
  fetch(request, env, ctx) {
    const answered = forward(request, env);
    ctx.waitUntil(answered);
    return answered;
  },
};
async function forward(request, env) {
  const forged = [];
  request.headers.forEach((value, name) => {
    if (name.startsWith('x-')) forged.push(name);
  });
  const path = request.url.slice(request.url.indexOf('/', 8));
  const outgoing = new Request(env.ORIGIN_URL + path, request);
  for (const name of forged) outgoing.headers.delete(name);
  outgoing.headers.delete('cookie');
  for (const name of ['request-id', 'decision', 'verified', 'signature']) {
    outgoing.headers.set('x-protect-' + name, 'bench');
  }
  for (const name of ['for', 'host', 'proto']) outgoing.headers.set('x-forwarded-' + name, 'bench');
  const response = await fetch(outgoing);
  const annotated = new Response(response.body, response);
  annotated.headers.set('x-protect-request-id', 'bench');
  annotated.headers.set('x-protect-decision', 'allow');
  annotated.headers.delete('x-protect-status');
  return annotated;
}`;
const originSource = `export default { fetch: () => Response.json({ ok: true }) };`;

export async function run(args: readonly string[]): Promise<void> {
  const rules = Number(args[0] ?? RULES_DEFAULT);
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const stopped: (() => Promise<void>)[] = [];
  // The stack and all it starts inherit this; the two under test are pinned elsewhere.
  spawnSync('taskset', ['-a', '-p', '-c', OTHER_CPUS, String(process.pid)]);
  const stack = await startStack({ portBase: PORT_BASE, stateDir, quiet: true, fresh: true });
  stopped.push(() => stack.stop());
  try {
    const {
      compatibility_date: compatibilityDate,
      main,
      vars = {},
      compatibility_flags: flags = [],
    } = readWranglerFile('wrangler.toml');
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
    await importRules(stack, rules);
    const edge = await startRawWorker({
      source: await bundleWorker(main),
      compatibilityDate,
      compatibilityFlags: flags,
      kv: ['GATE_KV'],
      queues: ['VERDICT_QUEUE'],
      cpu: MEASURED_CPU,
      vars: {
        ...vars,
        SERVICE_URL: stack.serviceUrl,
        ORIGIN_URL: origin.url,
        SIGNALS_SOURCE: 'headers',
        SIGNALS_SECRET: stack.signalsSecret,
        CLIENT_JWT: stack.clientJwt,
        OPS_TOKEN: stack.opsToken,
      },
    });
    stopped.push(() => edge.stop());

    await rulesLoaded(stack, edge, rules);
    const headers = await clearedVisitor(stack, edge);
    const workers = { bare, floor, edge };
    for (const worker of Object.values(workers)) load(worker, headers, WARM_UP_MS);
    const rounds: Rounds = { bare: [], floor: [], edge: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const name of names) rounds[name].push(load(workers[name], headers, ROUND_MS));
    }
    report(rounds, rules);
  } finally {
    for (const stop of stopped.toReversed()) {
      // In order: what depends on another ends before it.
      await stop();
    }
    rmSync(stateDir, { recursive: true, force: true });
  }
}

async function importRules(stack: Stack, count: number): Promise<void> {
  let batch: object[] = [];
  const send = async () => {
    const response = await fetch(`${stack.serviceUrl}/protect/access-rules/create`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ rules: batch }),
    });
    if (!response.ok) throw new Error(`rules: ${response.status} ${(await response.text()).slice(0, 300)}`);
    await response.arrayBuffer();
    batch = [];
  };
  for (const { type, value, verdict } of mixedRules(count, 1)) {
    batch.push({ type, value, verdict });
    if (batch.length === RULES_PER_CALL) await send();
  }
  if (batch.length > 0) await send();
}

/** The edge says at its health endpoint how many rules it holds; the last batches follow as a delta. */
async function rulesLoaded(stack: Stack, edge: RawWorker, rules: number): Promise<void> {
  await eventually(
    async () => {
      const response = await fetch(`${edge.url}/__protect/health`, {
        headers: { authorization: `Bearer ${stack.opsToken}` },
      });
      return ((await response.json()) as { ruleset: { rules: number } | null }).ruleset;
    },
    (ruleset) => ruleset !== null && ruleset.rules >= rules * LOADED_SHARE,
    LOADED_WITHIN_MS,
  );
}

/** Headers of a visitor whom nothing blocks, with a session and a clearance. */
async function clearedVisitor(stack: Stack, edge: RawWorker): Promise<Record<string, string>> {
  const at = { ...stack, edgeUrl: edge.url };
  for (let last = 1; last < 250; last += 1) {
    const signed = {
      'user-agent': USER_AGENT,
      'x-signals-secret': stack.signalsSecret,
      'x-client-ip': `203.0.113.${last}`,
      'x-client-asn': '64496',
      'x-client-country': 'DE',
    };
    const post = (path: string, body: object) =>
      fetch(`${edge.url}/__protect/${path}`, {
        method: 'POST',
        headers: { ...signed, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const probe = await fetch(`${edge.url}/page`, { headers: signed });
    await probe.arrayBuffer();
    if (probe.status !== 200) continue;
    const session = cookiesOf(await post('session', {}));
    const token = await solvedToken(at, signed, { siteKey: stack.siteKey, action: 'clearance' });
    const clearance = cookiesOf(await post('verify', { token }));
    if (!session || !clearance) throw new Error(`No session (${session}) or no clearance (${clearance})`);
    return { ...signed, cookie: `${session}; ${clearance}` };
  }
  throw new Error('Every visitor is blocked by the generated rules');
}

type Rounds = Record<(typeof names)[number], Round[]>;

interface Round {
  microsecondsPerRequest: number;
  requestsPerSecond: number;
}

function load(worker: RawWorker, headers: Record<string, string>, durationMs: number): Round {
  const { hostname, port, host } = new URL(worker.url);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const plan = {
    host: hostname,
    port: Number(port),
    request: `GET /page?from=bench HTTP/1.1\r\nhost: ${host}\r\naccept: text/html\r\n${lines.join('')}\r\n`,
    connections: CONNECTIONS,
    durationMs,
  };
  const before = processorTicks(worker.pid);
  const { stdout, stderr } = spawnSync('node', ['bench/load-client.ts', JSON.stringify(plan)], { encoding: 'utf8' });
  const ticks = processorTicks(worker.pid) - before;
  if (!stdout) throw new Error(`The load client failed: ${stderr}`);
  const { requests, refused, seconds } = JSON.parse(stdout) as { requests: number; refused: number; seconds: number };
  if (refused > 0) throw new Error(`${refused} of ${requests} requests were not answered with 200`);
  return { microsecondsPerRequest: (ticks * TICK_MICROSECONDS) / requests, requestsPerSecond: requests / seconds };
}

/** utime + stime of all threads; fields 14 and 15, counted after the program's name, which may hold spaces. */
function processorTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function report(rounds: Rounds, rules: number): void {
  const cpuOf = (name: keyof Rounds) => rounds[name].map((round) => round.microsecondsPerRequest);
  const bare = median(cpuOf('bare'));
  const row = (name: keyof Rounds) => {
    const cpu = median(cpuOf(name));
    return {
      'CPU µs per request': cpu.toFixed(1),
      'ratio to bare': (cpu / bare).toFixed(2),
      'µs over bare': (cpu - bare).toFixed(1),
      'requests per second': Math.round(median(rounds[name].map((round) => round.requestsPerSecond))),
      'spread of CPU': `${Math.min(...cpuOf(name)).toFixed(0)}–${Math.max(...cpuOf(name)).toFixed(0)}`,
    };
  };
  process.stdout.write(
    `Allowed request on raw workerd, one processor; ${rules} rules, session, clearance, log to the service.\n`,
  );
  console.table({
    'bare pass-through': row('bare'),
    'header edits alone': row('floor'),
    'Gatehouse edge': row('edge'),
  });
  process.stdout.write('Target: ratio at most 1.60, at most 70 µs over bare.\n');
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
