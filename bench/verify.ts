/**
 * `npm run bench -- verify [TOKENS [http]]`: `/siteverify` over HTTP on workerd, with the spend and the captcha record,
 * each token once. workerd runs on one processor, everything else on the others. Then it times single functions
 * (`verify/functions.ts`) and drawing in workerd (`verify/drawing.ts`), which `http` skips.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Keyring } from '../src/captcha/seal/keyring.ts';
import { migrate } from '../src/cli/migrations.ts';
import { startServiceWorker } from '../src/cli/service-worker.ts';
import { bundleWorker } from '../src/cli/worker-config.ts';
import { siteSettings } from '../src/contract/management/site-settings.ts';
import { createAccount } from '../src/store/d1/accounts.ts';
import { createSite } from '../src/store/d1/sites.ts';
import { deriveKey } from '../src/store/keys/master-key.ts';
import { rootKey } from '../src/store/keys/root-key.ts';
import { MEASURED_CPU, requestText, sendLoad } from './measure/load.ts';
import type { LoadPlan, LoadResult } from './measure/load.ts';
import { processorMs, workerdPids } from './measure/processor-time.ts';
import { median } from './measure/statistics.ts';
import { timeDrawing } from './verify/drawing.ts';
import { timeFunctions } from './verify/functions.ts';
import { sealedToken } from './verify/sealed-token.ts';

const TOKENS_DEFAULT = 20_000;
const WARM_UP_TOKENS = 3000;
/** Backends that call at once. Spends that arrive together are written together. */
const CONNECTIONS = 64;
const ROUNDS = 3;
const TARGET_PER_SECOND = 2000;

const masterKey = Buffer.alloc(32, 7).toString('base64url');

export async function run(args: readonly string[]): Promise<void> {
  const tokens = Number(args[0] ?? TOKENS_DEFAULT);
  console.table(await overHttp(tokens));
  if (args[1] === 'http') return;
  console.table(await timeFunctions(new Keyring((label) => deriveKey(masterKey, label))));
  console.table(await timeDrawing());
}

interface Round extends LoadResult {
  cpuMicroseconds: number;
}

async function overHttp(tokens: number): Promise<Record<string, object>> {
  const storage = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const known = new Set(workerdPids());
  const worker = await startServiceWorker({
    storage,
    vars: { MASTER_KEY: masterKey, SERVICE_URL: 'http://service.bench' },
    quiet: true,
    bundle: bundleWorker,
  });
  try {
    const pids = workerdPids().filter((pid) => !known.has(pid));
    for (const pid of pids) spawnSync('taskset', ['-a', '-p', '-c', String(MEASURED_CPU), String(pid)]);
    await migrate(worker.database);
    const env = { DB: worker.database, MASTER_KEY: masterKey };
    const root = await rootKey(env);
    const keyring = new Keyring((label) => deriveKey(root, label));
    const account = await createAccount(env, { ownerEmail: 'bench@example.com', tier: 'premium' }, Date.now());
    const settings = siteSettings.parse({ domains: ['bench.example'] });
    const site = await createSite(env, { accountId: account.id, name: 'bench', settings }, Date.now());
    if (!site.ok) throw new Error('The site of the bench exists already');
    const { siteKey, secretKey } = site.value;
    const { host } = worker.url;
    const health = (times: number): Round => {
      const repeated = requestText('GET', '/health', { host });
      return load(worker.url, { repeated, times }, '"status":"ok"', pids);
    };
    const siteverify = async (count: number): Promise<Round> => {
      const file = join(storage, 'requests.ndjson');
      const tokenRequest = async () => {
        const token = await sealedToken(keyring, { siteKey, hostname: 'bench.example' });
        const body = JSON.stringify({ secret: secretKey, token });
        return JSON.stringify(requestText('POST', '/siteverify', { host, 'content-type': 'application/json' }, body));
      };
      writeFileSync(file, (await Promise.all(Array.from({ length: count }, tokenRequest))).join('\n'));
      return load(worker.url, { file }, '"verified":true', pids);
    };
    health(WARM_UP_TOKENS);
    await siteverify(WARM_UP_TOKENS);
    const floors: Round[] = [];
    const rounds: Round[] = [];
    const each = Math.ceil(tokens / ROUNDS);
    for (let round = 0; round < ROUNDS; round++) {
      floors.push(health(each));
      rounds.push(await siteverify(each));
    }
    return report(floors, rounds);
  } finally {
    await worker.dispose();
    rmSync(storage, { recursive: true, force: true });
  }
}

function load(url: URL, requests: LoadPlan['requests'], expected: string, pids: readonly number[]): Round {
  const usedMs = processorMs(pids);
  const result = sendLoad(url, { connections: CONNECTIONS, requests, expected });
  return { ...result, cpuMicroseconds: (processorMs(pids) - usedMs) * 1000 };
}

function report(floors: readonly Round[], rounds: readonly Round[]): Record<string, object> {
  const refused = rounds.reduce((sum, { unexpected }) => sum + unexpected, 0);
  if (refused > 0) throw new Error(`${refused} tokens were not verified`);
  const floorCpu = median(floors.map(cpuEach));
  const cpu = median(rounds.map(cpuEach));
  return {
    'Floor: GET /health': { ...httpRow(floors), 'ratio to floor': '1.00' },
    '/siteverify, spend and record': {
      ...httpRow(rounds),
      'ratio to floor': (cpu / floorCpu).toFixed(2),
      'target a second': TARGET_PER_SECOND,
      // The rate of one processor that does nothing else. The rate by the clock falls with everything that runs beside it.
      'a second by CPU': Math.round(1_000_000 / cpu),
    },
  };
}

function httpRow(rounds: readonly Round[]): object {
  return {
    'per second': Math.round(median(rounds.map(({ expected, seconds }) => expected / seconds))),
    'CPU µs each': median(rounds.map(cpuEach)).toFixed(0),
    'p50 ms': median(rounds.map(({ p50Ms }) => p50Ms)).toFixed(1),
    'p99 ms': median(rounds.map(({ p99Ms }) => p99Ms)).toFixed(1),
    responses: rounds.reduce((sum, { expected }) => sum + expected, 0),
  };
}

function cpuEach({ cpuMicroseconds, expected }: Round): number {
  return cpuMicroseconds / expected;
}
