/**
 * `npm run bench -- api [RECORDS] [CALLS] [NAME]`: how long every management operation takes over HTTP on a full account:
 * 1,000 sites, 10,000 access control rules and RECORDS captcha records of 30 days, a tenth of them of the last day. The
 * floor is an authenticated call that finds nothing. With NAME only the cases that contain it are timed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';
import { migrate } from '../src/cli/migrations.ts';
import { runtimeOptions } from '../src/cli/runtime-options.ts';
import { bundleWorker, readWranglerFile, workerConfig } from '../src/cli/worker-config.ts';
import { fillAccount, writeRecords } from './api/account.ts';
import { type Case, floorCase, managementCases, P99_SMALL_MS, searchCases } from './api/cases.ts';
import { exactProcessorMs, workerdPids } from './measure/processor-time.ts';
import { percentile } from './measure/statistics.ts';

const RECORDS_DEFAULT = 1_000_000;
/** The 99th percentile of 200 is the second slowest. */
const CALLS_DEFAULT = 200;
const CALLS_MIN = 10;

export async function run(args: readonly string[]): Promise<void> {
  const records = Number(args[0] ?? RECORDS_DEFAULT);
  const calls = Number(args[1] ?? CALLS_DEFAULT);
  const storage = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const masterKey = Buffer.alloc(32, 7).toString('base64url');
  const file = readWranglerFile('src/service/wrangler.toml');
  const config = workerConfig(file, await bundleWorker('bench/workers/api-worker.ts'), {
    MASTER_KEY: masterKey,
    SERVICE_URL: 'http://service.bench',
  });
  const miniflare = new Miniflare({
    ...runtimeOptions('bench', storage, true),
    workers: [{ config, dev: { unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }] } }],
  });
  try {
    const url = await miniflare.unsafeGetDirectURL(file.name);
    const database = await miniflare.getD1Database('DB', file.name);
    await migrate(database);
    const account = await fillAccount({ DB: database, MASTER_KEY: masterKey });
    const pids = workerdPids();
    const cpu = () => exactProcessorMs(pids);
    const [cpuBefore, started] = [cpu(), performance.now()];
    await writeRecords(url, account, records);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const perRecord = (((cpu() - cpuBefore) * 1000) / records).toFixed(0);
    console.log(`${records} captcha records written in ${seconds} s: ${perRecord} µs of CPU each`);
    let sent = 0;
    const time = (one: Case) =>
      timed(one, calls, cpu, (call) =>
        send(url, one.token ?? account.tokens[sent++ % account.tokens.length] ?? '', one, call),
      );
    const health = { name: 'GET /health', path: '/health', method: 'GET' as const, p99Ms: P99_SMALL_MS };
    const empty = floorCase(account);
    const floor = await time(empty);
    const floorMs = percentile(floor.cpuMs, 0.5);
    const table: Record<string, object> = {
      [health.name]: row(await time(health), floorMs, P99_SMALL_MS),
      [empty.name]: row(floor, floorMs, P99_SMALL_MS),
    };
    for (const one of [...managementCases(account), ...searchCases(account)]) {
      if (args[2] !== undefined && !one.name.includes(args[2])) continue;
      table[one.name] = row(await time(one), floorMs, one.p99Ms);
    }
    console.table(table);
    const called = new Set([...managementCases(account), ...searchCases(account)].map(({ path }) => path));
    for (const path of managementPaths().filter((one) => !called.has(one))) console.log(`Not timed: ${path}`);
    const missed = Object.entries(table).filter(([, { met }]: [string, { met?: string }]) => met !== 'yes');
    console.log(
      missed.length === 0 ? 'All targets met.' : `Not met by the clock: ${missed.map(([name]) => name).join('; ')}`,
    );
  } finally {
    await miniflare.dispose();
    rmSync(storage, { recursive: true, force: true });
  }
}

function managementPaths(): string[] {
  const document = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as {
    paths: Record<string, Record<string, { tags: string[] }>>;
  };
  return Object.entries(document.paths)
    .filter(([, item]) => Object.values(item).every(({ tags }) => !tags.includes('Verification')))
    .map(([path]) => path);
}

async function send(url: URL, token: string, one: Case, call: number): Promise<Response> {
  const body = one.method === 'GET' ? undefined : one.body?.(call);
  return fetch(new URL(one.path, url), {
    method: one.method ?? 'POST',
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

/** Milliseconds of each call. */
interface Times {
  ms: number[];
  /** Processor time of the service. */
  cpuMs: number[];
}

/** Until the whole response was read. The first calls only warm up. */
async function timed(
  one: Case,
  calls: number,
  cpu: () => number,
  sendCall: (call: number) => Promise<Response>,
): Promise<Times> {
  const times: Times = { ms: [], cpuMs: [] };
  const count = Math.max(CALLS_MIN, Math.round(calls * (one.share ?? 1)));
  const warmUp = Math.ceil(count / 10);
  for (let call = 0; call < count + warmUp; call++) {
    const cpuBefore = cpu();
    const started = performance.now();
    const response = await sendCall(call);
    const text = await response.text();
    const [ms, cpuMs] = [performance.now() - started, cpu() - cpuBefore];
    if (response.status !== 200) throw new Error(`${one.name}: ${response.status} ${text.slice(0, 500)}`);
    one.onResponse?.(JSON.parse(text) as never);
    if (call < warmUp) continue;
    times.ms.push(ms);
    times.cpuMs.push(cpuMs);
  }
  return times;
}

/** `met`: by the clock, or on a busy machine at least in processor time. */
function row({ ms, cpuMs }: Times, floorMs: number, targetMs: number): object {
  const [p99, cpuP99] = [percentile(ms, 0.99), percentile(cpuMs, 0.99)];
  const met = p99 <= targetMs ? 'yes' : cpuP99 <= targetMs ? 'CPU' : 'NO';
  return {
    calls: ms.length,
    'p50 ms': percentile(ms, 0.5).toFixed(1),
    'p99 ms': p99.toFixed(1),
    'CPU p50': percentile(cpuMs, 0.5).toFixed(1),
    'CPU p99': cpuP99.toFixed(1),
    '÷ floor': (percentile(cpuMs, 0.5) / floorMs).toFixed(1),
    'p99 target': targetMs,
    met,
  };
}
