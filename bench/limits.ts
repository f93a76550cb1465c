/**
 * `npm run bench -- limits [KEYS]`: what limits cost a request. In this process: a request that no limit is asked about,
 * and one that fast limits let through. In workerd: an exact take beside a bare call of the same object, and the storage
 * and the memory of many keys (1,000,000) in the eight objects of an instance.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';
import { HmacSha256 } from '../src/bytes/hmac-sha256.ts';
import { runtimeOptions } from '../src/cli/runtime-options.ts';
import { bundleWorker, readWranglerFile, workerConfig } from '../src/cli/worker-config.ts';
import type { LimitForm } from '../src/contract/management/policy-set/policy-set-form.ts';
import { compileLimits } from '../src/edge/config/compiled-limits.ts';
import { LimitCounts } from '../src/edge/limits/limit-counts.ts';
import { Limits } from '../src/edge/limits/limits.ts';
import { limitKeys, type KeySource } from '../src/limits/limit-keys.ts';
import { ok } from '../src/result.ts';
import { workerdPids } from './measure/processor-time.ts';
import { percentile } from './measure/statistics.ts';

const KEYS_DEFAULT = 1_000_000;
const UNTOUCHED = 5_000_000;
const ASKED = 200_000;
const ROUNDS = 5;
const CALLS = 2000;
const KEYS_PER_CALL = 20_000;
const NOW_MS = 1_800_000_000_000;
const MEGABYTE = 1024 * 1024;

export async function run([keys = String(KEYS_DEFAULT)]: readonly string[]): Promise<void> {
  await inThisProcess();
  await inWorkerd(Number(keys));
}

function line(what: string, value: string): void {
  process.stdout.write(`${what.padEnd(64)} ${value.padStart(12)}\n`);
}

function visitor(index: number): KeySource {
  return {
    ip: `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
    asn: 64_496,
    country: 'NL',
    ja4: null,
    session: null,
    bot: null,
    path: '/login',
    host: 'shop.example',
    header: () => null,
    cookie: () => null,
    users: [],
  };
}

const limit: LimitForm = {
  name: 'login',
  key: ['ip'],
  count: 100,
  windowSeconds: 60,
  algorithm: 'sliding',
  on: 'request',
  then: '429',
  exact: false,
  mode: 'enforce',
};

/** The best of several rounds: a busy machine can only add to it. Microseconds each. */
async function best(times: number, work: () => Promise<unknown> | void): Promise<number> {
  let fastestMs = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const startMs = performance.now();
    await work();
    fastestMs = Math.min(fastestMs, performance.now() - startMs);
  }
  return (fastestMs * 1000) / times;
}

async function inThisProcess(): Promise<void> {
  const counts = new LimitCounts({
    report: async (counters) => ok(counters.map(() => [0, 0] as const)),
    now: () => NOW_MS,
    sleep: async () => {},
    count: () => {},
  });
  const limits = new Limits(
    counts,
    null,
    () => {},
    () => NOW_MS,
  );
  const compiled = compileLimits([limit], new HmacSha256(new Uint8Array(32).fill(1)));
  const login = compiled.byName.get(limit.name)!;
  // What the gate does for every request: look whether there are limits, and whether something waits for a report.
  const contexts = [{ limits: null }, { limits: null }];
  let seen = 0;
  const untouched = await best(UNTOUCHED, () => {
    for (let request = 0; request < UNTOUCHED; request++) {
      if (contexts[request & 1]!.limits !== null) seen++;
      limits.report(NOW_MS, () => {});
    }
  });
  if (seen > 0) throw new Error('A request without limits had some');
  line('a request that no limit is asked about', `${untouched.toFixed(4)} µs`);
  const asked = await best(ASKED, async () => {
    for (let request = 0; request < ASKED; request++) {
      const from = visitor(request % 5000);
      await limits.ask(
        [{ limit: login, keys: limitKeys(login, from, compiled.sign) }],
        (above) => above.length > 0,
        () => {},
      );
      limits.report(NOW_MS, () => {});
    }
  });
  line('a request that a fast limit by address lets through', `${asked.toFixed(2)} µs`);
}

async function inWorkerd(keys: number): Promise<void> {
  const storage = mkdtempSync(join(tmpdir(), 'gatehouse-bench-limits-'));
  const file = readWranglerFile('src/service/wrangler.toml');
  const config = workerConfig(
    { ...file, durable_objects: { bindings: [{ name: 'LIMIT_LEDGER', class_name: 'LimitLedger' }] } },
    await bundleWorker('bench/workers/limits-worker.ts'),
    { MASTER_KEY: '' },
  );
  const miniflare = new Miniflare({ ...runtimeOptions('bench', storage, true), workers: [{ config }] });
  const call = async <Answer>(work: object): Promise<Answer> => {
    const response = await miniflare.dispatchFetch('http://bench/', { method: 'POST', body: JSON.stringify(work) });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Answer;
  };
  try {
    await miniflare.ready;
    for (const part of ['bare', 'take', 'refused'] as const) {
      for (let warm = 0; warm < 100; warm++) await call({ part, key: `warm-${warm}` });
      const times: number[] = [];
      for (let index = 0; index < CALLS; index++) {
        const startMs = performance.now();
        await call({ part, key: part === 'refused' ? 'full' : `key-${index}` });
        times.push(performance.now() - startMs);
      }
      const named = {
        bare: 'a bare call of the object',
        take: 'an exact take',
        refused: 'an exact take that is refused',
      };
      line(
        `${named[part]}, p50 and p99`,
        `${percentile(times, 0.5).toFixed(2)} ${percentile(times, 0.99).toFixed(2)} ms`,
      );
    }
    const pids = workerdPids();
    const before = residentBytes(pids);
    for (let from = 0; from < keys; from += KEYS_PER_CALL) {
      await call({ part: 'fill', from, to: Math.min(from + KEYS_PER_CALL, keys) });
    }
    const { bytes, kept } = await call<{ bytes: number; kept: number }>({ part: 'sizes' });
    line(`storage of ${kept} keys in eight objects`, `${(bytes / MEGABYTE).toFixed(1)} MB`);
    line('memory of workerd that came with them', `${((residentBytes(pids) - before) / MEGABYTE).toFixed(1)} MB`);
  } finally {
    await miniflare.dispose();
    rmSync(storage, { recursive: true, force: true });
  }
}

function residentBytes(pids: readonly number[]): number {
  return pids
    .map((pid) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024)
    .reduce((sum, bytes) => sum + bytes, 0);
}
