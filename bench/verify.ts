/**
 * `npm run bench -- verify [TOKENS [http]]`: `/siteverify` over HTTP on workerd, with the spend and the captcha record,
 * each token once, beside the libraries of ALTCHA and Cap in a Worker. workerd runs on one processor, everything else on
 * the others. Then it times single functions
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
import { type LoadPlan, type LoadResult, MEASURED_CPU, requestText, sendLoad } from './measure/load.ts';
import { processorMs, workerdPids } from './measure/processor-time.ts';
import { median } from './measure/statistics.ts';
import { measureBytes } from './verify/bytes.ts';
import { timeDrawing } from './verify/drawing.ts';
import { timeFunctions } from './verify/functions.ts';
import { BARE_FLOOR, type PeerName, startPeers } from './verify/peers-over-http.ts';
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
  const keyring = new Keyring((label) => deriveKey(masterKey, label));
  console.table(await timeFunctions(keyring));
  console.log('Bytes for one visitor');
  console.table(await measureBytes(keyring));
  console.table(await timeDrawing());
}

interface Round extends LoadResult {
  cpuMicroseconds: number;
}

async function overHttp(tokens: number): Promise<Record<string, object>> {
  const storage = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const peers = await startPeers(join(storage, 'peers'));
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
    const peerNames = Object.keys(peers.requests) as PeerName[];
    const ofPeer = (name: PeerName, times: number): Round => {
      const { text, expected } = peers.requests[name];
      return load(peers.url, { repeated: text, times }, expected, peers.pids);
    };
    const measured: Measured = { health: [], siteverify: [] };
    const each = Math.ceil(tokens / ROUNDS);
    for (let round = -1; round < ROUNDS; round++) {
      // The first warms all of them up.
      const count = round < 0 ? WARM_UP_TOKENS : each;
      const one = { health: health(count), siteverify: await siteverify(count) };
      const others = peerNames.map((name) => [name, ofPeer(name, count)] as const);
      if (round < 0) continue;
      for (const [name, result] of [...Object.entries(one), ...others]) (measured[name] ??= []).push(result);
    }
    return report(measured);
  } finally {
    await worker.dispose();
    await peers.stop();
    rmSync(storage, { recursive: true, force: true });
  }
}

function load(url: URL, requests: LoadPlan['requests'], expected: string, pids: readonly number[]): Round {
  const usedMs = processorMs(pids);
  const result = sendLoad(url, { connections: CONNECTIONS, requests, expected });
  return { ...result, cpuMicroseconds: (processorMs(pids) - usedMs) * 1000 };
}

interface Measured {
  health: Round[];
  siteverify: Round[];
  [peer: string]: Round[];
}

function report({ health, siteverify, ...peers }: Measured): Record<string, object> {
  const all = { ...peers, 'Gatehouse: GET /health': health, 'Gatehouse: /siteverify, spend and record': siteverify };
  const refused = Object.values(all)
    .flat()
    .reduce((sum, { unexpected }) => sum + unexpected, 0);
  if (refused > 0) throw new Error(`${refused} responses were not as expected`);
  const floorCpu = median((peers[BARE_FLOOR] ?? []).map(cpuEach));
  const cpu = median(siteverify.map(cpuEach));
  return Object.fromEntries(
    Object.entries(all).map(([name, rounds]) => [
      name,
      {
        ...httpRow(rounds),
        'ratio to floor': (median(rounds.map(cpuEach)) / floorCpu).toFixed(2),
        ...(rounds === siteverify && {
          'target a second': TARGET_PER_SECOND,
          // The rate of one processor that does nothing else. By the clock, it falls with everything that runs beside it.
          'a second by CPU': Math.round(1_000_000 / cpu),
        }),
      },
    ]),
  );
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
