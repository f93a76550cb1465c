/**
 * `npm run bench -- verify [TOKENS]`: `/siteverify` over HTTP on workerd, spend and captcha record included,
 * each token once, workerd on one processor and everything else on the others. Then, function beside
 * function in this process, what minting and checking a proof of work costs here, in altcha-lib and
 * in @cap.js/server, and what drawing the visual tasks costs.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import Cap from '@cap.js/server';
import { createChallenge, randomInt, solveChallenge, verifySolution } from 'altcha-lib';
import { deriveKey as pbkdf2 } from 'altcha-lib/algorithms/pbkdf2';
import { drawAudioTask } from '../src/captcha/visual/audio/audio-task.ts';
import { encodeBase64url } from '../src/bytes/base64url.ts';
import { drawImageTask } from '../src/captcha/visual/image/image-task.ts';
import { powSolved } from '../src/captcha/pow/judge-pow.ts';
import { Keyring } from '../src/captcha/seal/keyring.ts';
import { audioLayout, imageLayout, puzzleLayout } from '../src/captcha/visual/derive-answer.ts';
import { DEFAULT_LOOK, drawPuzzleTask } from '../src/captcha/visual/puzzle/puzzle-task.ts';
import { toBigInt } from '../src/captcha/pow/pow-solve.ts';
import { generateRswKey, levelOf } from '../src/captcha/pow/rsw-key.ts';
import { RswMinter } from '../src/captcha/pow/rsw-mint.ts';
import { newJti, openChallenge, sealChallenge } from '../src/captcha/seal/sealed-challenge.ts';
import type { SealedChallenge } from '../src/captcha/seal/sealed-challenge.ts';
import { openToken, sealToken } from '../src/captcha/seal/sealed-token.ts';
import { migrate } from '../src/cli/migrations.ts';
import { startServiceWorker } from '../src/cli/service-worker.ts';
import { bundleWorker } from '../src/cli/worker-config.ts';
import { siteSettings } from '../src/contract/management/site-settings.ts';
import { createAccount } from '../src/store/d1/accounts.ts';
import { deriveKey } from '../src/store/keys/master-key.ts';
import { rootKey } from '../src/store/keys/root-key.ts';
import { createSite } from '../src/store/d1/sites.ts';

const TOKENS_DEFAULT = 20_000;
const WARM_UP_TOKENS = 3000;
/** Backends that ask at once: spends that come together are written together. */
const CONNECTIONS = 64;
const ROUNDS = 3;
/** What the kernel counts processor time in; 100 a second on every Linux there is. */
const TICK_MICROSECONDS = 10_000;
const MEASURED_CPU = 0;
const OTHER_CPUS = availableParallelism() > 1 ? `1-${availableParallelism() - 1}` : '0';
/** Long enough for a median that repeats, short enough to wait for. */
const FUNCTION_MS = 1500;
const SAMPLE_MAX = 20_000;

const masterKey = Buffer.alloc(32, 7).toString('base64url');
/** Of what is timed here; the Worker's tokens are sealed under its own root. */
let keyring = new Keyring((label) => deriveKey(masterKey, label));

export async function run(args: readonly string[]): Promise<void> {
  const tokens = Number(args[0] ?? TOKENS_DEFAULT);
  console.table(await overHttp(tokens));
  if (args[1] !== 'http') console.table(await functions());
}

interface Round {
  answered: number;
  failed: number;
  seconds: number;
  p50Ms: number;
  p99Ms: number;
  cpuMicroseconds: number;
}

async function overHttp(tokens: number): Promise<Record<string, object>> {
  const storage = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const known = new Set(workerds());
  const worker = await startServiceWorker({
    storage,
    vars: { MASTER_KEY: masterKey, SERVICE_URL: 'http://service.bench', OPS_TOKEN: 'bench' },
    quiet: true,
    bundle: bundleWorker,
  });
  try {
    // Only what this bench started: another workerd of the machine is nobody's business here.
    const pids = workerds().filter((pid) => !known.has(pid));
    for (const pid of pids) spawnSync('taskset', ['-a', '-p', '-c', String(MEASURED_CPU), String(pid)]);
    await migrate(worker.database);
    const env = { DB: worker.database, MASTER_KEY: masterKey };
    const root = await rootKey(env);
    keyring = new Keyring((label) => deriveKey(root, label));
    const account = await createAccount(env, { ownerEmail: 'bench@example.com', tier: 'premium' }, Date.now());
    const settings = siteSettings.parse({ domains: ['bench.example'] });
    const made = await createSite(env, { accountId: account.id, name: 'bench', settings }, Date.now());
    if (!made.ok) throw new Error('the bench site exists');
    const site = made.value;
    const round = async (count: number): Promise<Round> => {
      const bodies = join(storage, 'bodies.ndjson');
      writeFileSync(bodies, (await tokenBodies(site.siteKey, site.secretKey, count)).join('\n'));
      return load(worker.url, bodies, pids);
    };
    load(worker.url, WARM_UP_TOKENS, pids);
    await round(WARM_UP_TOKENS);
    const floors: Round[] = [];
    const rounds: Round[] = [];
    const each = Math.ceil(tokens / ROUNDS);
    for (let index = 0; index < ROUNDS; index++) {
      floors.push(load(worker.url, each, pids));
      rounds.push(await round(each));
    }
    return report(floors, rounds);
  } finally {
    await worker.dispose();
    rmSync(storage, { recursive: true, force: true });
  }
}

function report(floors: readonly Round[], rounds: readonly Round[]): Record<string, object> {
  const failed = rounds.reduce((sum, round) => sum + round.failed, 0);
  if (failed > 0) throw new Error(`${failed} tokens were not verified`);
  const floorCpu = median(floors.map(cpuEach));
  const cpu = median(rounds.map(cpuEach));
  return {
    'Floor: GET /health': { ...httpRow(floors), 'ratio to floor': '1.00' },
    '/siteverify, spend and record': {
      ...httpRow(rounds),
      'ratio to floor': (cpu / floorCpu).toFixed(2),
      'target a second': 2000,
      // What one processor does when nothing else wants it: the clock's rate falls with every neighbour.
      'a second by CPU': Math.round(1_000_000 / cpu),
    },
  };
}

function httpRow(rounds: readonly Round[]): object {
  return {
    'per second': Math.round(median(rounds.map((round) => round.answered / round.seconds))),
    'CPU µs each': median(rounds.map(cpuEach)).toFixed(0),
    'p50 ms': median(rounds.map((round) => round.p50Ms)).toFixed(1),
    'p99 ms': median(rounds.map((round) => round.p99Ms)).toFixed(1),
    answered: rounds.reduce((sum, round) => sum + round.answered, 0),
  };
}

function cpuEach(round: Round): number {
  return round.cpuMicroseconds / round.answered;
}

/** `bodies`: a file of request bodies, or how often to ask for the floor. */
function load(url: URL, bodies: string | number, pids: readonly number[]): Round {
  const plan = { host: url.hostname, port: Number(url.port), bodies, connections: CONNECTIONS };
  const before = ticksOf(pids);
  const client = ['-c', OTHER_CPUS, process.execPath, 'bench/verify-client.ts', JSON.stringify(plan)];
  const { stdout, stderr } = spawnSync('taskset', client, { encoding: 'utf8' });
  if (!stdout) throw new Error(`The load client failed: ${stderr}`);
  const round = JSON.parse(stdout) as Omit<Round, 'cpuMicroseconds'>;
  return { ...round, cpuMicroseconds: (ticksOf(pids) - before) * TICK_MICROSECONDS };
}

async function tokenBodies(siteKey: string, secret: string, count: number): Promise<string[]> {
  const now = Date.now();
  return Promise.all(
    Array.from({ length: count }, async () => {
      const { params: _, round: __, ...of } = bareChallenge(now);
      const times = { issuedAt: now, solvedAt: now, expiresAt: now + 600_000 };
      const token = await sealToken(keyring, { ...of, siteKey, hostname: 'bench.example', level: 1, ...times });
      return JSON.stringify({ secret, token });
    }),
  );
}

function bareChallenge(now: number): SealedChallenge {
  return {
    jti: newJti(),
    bornAt: now,
    siteKey: 'site-0123456789abcdef',
    hostname: 'bench.example',
    action: 'login',
    cdata: '',
    kind: 'pow',
    lane: 'rsw',
    issuedAt: now,
    expiresAt: now + 60_000,
    round: 0,
    facts: {
      score: 0,
      detectors: [],
      ip: 'AAAAAAAAAAAAAAAAAAAAAA',
      prefix: 'AAAAAAAAAAAAAAAAAAAAAA',
      country: 'DE',
      asn: 64_496,
      network: null,
      city: null,
      latitude: null,
      longitude: null,
      categories: [],
      session: null,
      webView: false,
      refusal: null,
    },
    params: { t: 75_000 },
  };
}

async function functions(): Promise<Record<string, object>> {
  const now = Date.now();
  const setUp = performance.now();
  const minter = new RswMinter(await generateRswKey(0));
  const level = levelOf(4);
  minter.mint(level);
  const setUpMs = performance.now() - setUp;
  const { x, y, t } = minter.mint(level);
  const sealed = await sealChallenge(keyring, { ...bareChallenge(now), params: { t } }, y);
  const { params: _, round: __, ...of } = bareChallenge(now);
  const token = await sealToken(keyring, { ...of, level: 1, solvedAt: now });
  const layout = { jti: newJti(), round: 0, issuedAt: now };
  const [image, puzzle, audio] = await Promise.all([
    imageLayout(keyring, layout),
    puzzleLayout(keyring, layout),
    audioLayout(keyring, layout),
  ]);
  const solution = { y: encodeBase64url(y) };
  const altcha = await altchaCase();
  const cap = new Cap({ noFSState: true, disableAutoCleanup: true });
  const solutions = Array.from({ length: 50 }, () => 0);
  const mint = await timed('mint', () => minter.mint(level));
  const squarings = squaringsFrom(toBigInt(x), toBigInt(minter.modulus));
  const check = await timed('check', async () => {
    const opened = await openChallenge(keyring, sealed, now);
    if (opened === null || !(await powSolved(opened, solution, now))) throw new Error('not solved');
  });
  console.log(`RSW set-up of a day (key, two comb tables): ${setUpMs.toFixed(0)} ms; x is ${x.length} bytes.`);
  return {
    'Floor: 18 squarings modulo n, as many as a mint multiplies': row(await timed('floor', squarings), mint),
    'Gatehouse: mint RSW x and y': row(mint, mint, 100),
    'Gatehouse: mint and seal a challenge': row(
      await timed('seal', () => sealChallenge(keyring, { ...bareChallenge(now), params: { t } }, minter.mint(level).y)),
      mint,
    ),
    'altcha-lib 2.8.0: createChallenge, PBKDF2 5,000': row(await timed('altcha', altcha.create), mint),
    '@cap.js/server 4.0.5: createChallenge': row(await timed('cap', () => cap.createChallenge()), mint),
    'Gatehouse: open challenge, check answer': row(check, check),
    'altcha-lib 2.8.0: verifySolution': row(await timed('altcha', altcha.verify), check),
    '@cap.js/server 4.0.5: redeemChallenge, 50 puzzles': row(
      // A wrong solution: it costs the same 50 hashes, and no time here to find a right one.
      await timed('cap', async () => {
        const { token: id = '' } = await cap.createChallenge();
        await cap.redeemChallenge({ token: id, solutions });
      }),
      check,
    ),
    'Gatehouse: open a token': row(await timed('token', () => openToken(keyring, token, now)), check),
    'Gatehouse: draw an image task': row(await timed('image', () => drawImageTask(image, 0, 2)), null, 20_000),
    'Gatehouse: draw a puzzle': row(await timed('puzzle', () => drawPuzzleTask(puzzle, DEFAULT_LOOK, 4)), null, 20_000),
    'Gatehouse: make a recording': row(await timed('audio', () => drawAudioTask(audio)), null, 20_000),
  };
}

/** What the machine's BigInt allows at best: the mint is 18 multiplications and their bookkeeping. */
function squaringsFrom(start: bigint, modulus: bigint): () => void {
  let value = start;
  return () => {
    for (let count = 0; count < 18; count++) value = (value * value) % modulus;
  };
}

async function altchaCase(): Promise<{ create: () => Promise<unknown>; verify: () => Promise<unknown> }> {
  const secrets = { hmacSignatureSecret: 'bench', hmacKeySignatureSecret: 'bench-key' };
  const create = () =>
    createChallenge({
      algorithm: 'PBKDF2/SHA-256',
      cost: 5000,
      counter: randomInt(5000, 10_000),
      deriveKey: pbkdf2,
      ...secrets,
    });
  // Found at once: what is measured is the check, not the search.
  const challenge = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost: 5000,
    counter: 1,
    deriveKey: pbkdf2,
    ...secrets,
  });
  const solution = await solveChallenge({ challenge, deriveKey: pbkdf2 });
  if (solution === null) throw new Error('altcha found no solution');
  return {
    create,
    async verify() {
      const { verified } = await verifySolution({ challenge, solution, deriveKey: pbkdf2, ...secrets });
      if (!verified) throw new Error('altcha does not accept its own solution');
    },
  };
}

/** Microseconds of single calls, after a warm-up of a fifth of the time. */
async function timed(name: string, work: () => unknown): Promise<number[]> {
  const warmUntil = performance.now() + FUNCTION_MS / 5;
  while (performance.now() < warmUntil) await work();
  const samples: number[] = [];
  const until = performance.now() + FUNCTION_MS;
  while (performance.now() < until && samples.length < SAMPLE_MAX) {
    const started = performance.now();
    await work();
    samples.push((performance.now() - started) * 1000);
  }
  if (samples.length === 0) throw new Error(`${name} took too long to measure`);
  return samples;
}

function row(samples: readonly number[], beside: readonly number[] | null, targetMicroseconds?: number): object {
  const sorted = samples.toSorted((a, b) => a - b);
  const p50 = median(sorted);
  return {
    'p50 µs': p50.toFixed(1),
    'p99 µs': (sorted[Math.floor(sorted.length * 0.99)] ?? 0).toFixed(1),
    'per second': Math.round(1_000_000 / p50),
    'ratio to ours': beside === null ? '' : (p50 / median(beside)).toFixed(2),
    'target µs': targetMicroseconds ?? '',
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** Process ids of every workerd below this process. */
function workerds(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const stat = statOf(pid);
      return stat !== null && stat.name.startsWith('workerd') && stat.parent === process.pid;
    });
}

function ticksOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (statOf(pid)?.ticks ?? 0), 0);
}

/** The program's name is in brackets and may hold spaces; counted after it, field 2 is the parent, 12 and 13 the time. */
function statOf(pid: number): { name: string; parent: number; ticks: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.replace(/^.*\) /s, '').split(' ');
    const name = /\((.*)\)/s.exec(text)?.[1] ?? '';
    return { name, parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    // Gone between listing and reading.
    return null;
  }
}
