/**
 * `npm run bench -- api [CALLS]`: how long management calls take on a full account (1,000 sites, 10,000 access
 * control rules) over HTTP to the service Worker. Floor: the same Worker's /health, which does nothing.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../src/cli/migrations.ts';
import { allPermissions } from '../src/cli/provision.ts';
import { startServiceWorker } from '../src/cli/service-worker.ts';
import { siteSettings } from '../src/contract/site-settings.ts';
import { createAccount } from '../src/store/accounts.ts';
import { apiKeyToken, createApiKey } from '../src/store/api-keys.ts';
import type { StoreEnv } from '../src/store/binding.ts';
import { createSite } from '../src/store/sites.ts';

const CALLS_DEFAULT = 200;
const SITES = 1000;
const RULES = 10_000;
/** What issue and design ask for, milliseconds. */
const P99_SMALL_MS = 50;
const P99_FULL_PAGE_MS = 500;

interface Case {
  name: string;
  path: string;
  method?: 'GET' | 'PUT';
  body?(call: number): object;
  p99Ms: number;
  /** Share of the calls: a full page takes long enough that fewer tell as much. */
  share?: number;
}

export async function run(args: readonly string[]): Promise<void> {
  const calls = Number(args[0] ?? CALLS_DEFAULT);
  const storage = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const masterKey = Buffer.alloc(32, 7).toString('base64url');
  const serviceUrl = 'http://service.bench';
  const worker = await startServiceWorker({
    storage,
    vars: { MASTER_KEY: masterKey, SERVICE_URL: serviceUrl, OPS_TOKEN: 'bench' },
    quiet: true,
  });
  try {
    await migrate(worker.database);
    const env: StoreEnv = { DB: worker.database, MASTER_KEY: masterKey };
    const { token, siteKey } = await fill(env);
    const floor = await timed(calls, () => fetch(new URL('/health', worker.url)));
    const table: Record<string, object> = { 'GET /health (floor)': row(floor, percentile(floor, 0.5), P99_SMALL_MS) };
    for (const one of casesFor(siteKey)) {
      const count = Math.max(10, Math.round(calls * (one.share ?? 1)));
      // oxlint-disable-next-line no-await-in-loop -- one client, so that a call is measured and not a queue
      const times = await timed(count, (call) => send(new URL(one.path, worker.url), token, one, call));
      table[one.name] = row(times, percentile(floor, 0.5), one.p99Ms);
    }
    console.table(table);
  } finally {
    await worker.dispose();
    rmSync(storage, { recursive: true, force: true });
  }
}

function casesFor(siteKey: string): Case[] {
  const rule = (call: number) => ({
    rule: { type: 'block', conditions: [{ field: 'asn', operator: 'equals', value: call }], ruleGroupId: 'bench' },
  });
  return [
    { name: 'sites/get, 1,000 sites', path: '/sites/get', p99Ms: P99_FULL_PAGE_MS, share: 0.2 },
    { name: 'site/get', path: '/site/get', body: () => ({ siteKey }), p99Ms: P99_SMALL_MS },
    {
      name: 'sites/update',
      path: '/sites/update',
      body: (call) => ({ siteKey, settings: { powDifficulty: 1 + (call % 9) } }),
      p99Ms: P99_SMALL_MS,
    },
    {
      name: 'sites/create',
      path: '/sites/create',
      body: (call) => ({ name: `bench-${call}`, settings: { domains: ['bench.example'] } }),
      p99Ms: P99_SMALL_MS,
    },
    ...['createdAt', 'description', 'expiry', 'userScopeHash', 'ruleGroupId'].map((sortBy) => ({
      name: `access-control/get, 100 by ${sortBy}`,
      path: '/access-control/get',
      body: () => ({ limit: 100, sortBy, page: 50 }),
      p99Ms: P99_SMALL_MS,
    })),
    {
      name: 'access-control/get, 10,000',
      path: '/access-control/get',
      body: () => ({ limit: 10_000 }),
      p99Ms: P99_FULL_PAGE_MS,
      share: 0.1,
    },
    { name: 'access-control/create', path: '/access-control/create', body: rule, p99Ms: P99_SMALL_MS },
    { name: 'users/get', path: '/users/get', method: 'GET', p99Ms: P99_SMALL_MS },
    {
      name: 'users/create',
      path: '/users/create',
      body: (call) => ({ email: `u${call}@example.com`, name: 'U', role: 'viewer' }),
      p99Ms: P99_SMALL_MS,
    },
    {
      name: 'api-keys/create',
      path: '/api-keys/create',
      body: () => ({ name: 'bench', permissions: { Sites: ['getSites'] } }),
      p99Ms: P99_SMALL_MS,
    },
    { name: 'audit-trail/get, 100', path: '/audit-trail/get', body: () => ({ limit: 100 }), p99Ms: P99_SMALL_MS },
    { name: 'protect/instances', path: '/protect/instances', p99Ms: P99_SMALL_MS },
  ];
}

async function fill(env: StoreEnv): Promise<{ token: string; siteKey: string }> {
  const now = Date.now();
  const account = await createAccount(env, { ownerEmail: 'owner@example.com', tier: 'enterprise' }, now);
  const key = await createApiKey(
    env,
    { accountId: account.id, name: 'bench', permissions: allPermissions(), expiresInSeconds: 86_400 },
    now,
  );
  const settings = siteSettings.parse({ domains: ['example.com', '*.example.org'] });
  let siteKey = '';
  for (let index = 0; index < SITES; index++) {
    // oxlint-disable-next-line no-await-in-loop -- one writer: SQLite has only one
    const site = await createSite(env, { accountId: account.id, name: `site-${index}`, settings }, now + index);
    if (typeof site !== 'string') siteKey = site.siteKey;
  }
  await env.DB.prepare(
    `INSERT INTO access_control_rules (account_id, user_scope_hash, type, description, conditions, rule_group_id, expiry,
       created_at, updated_at)
     WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < ?3)
     SELECT ?1, lower(hex(randomblob(32))), 'block', printf('rule %d', value * 7919 % 10007),
       printf('[{"field":"ip","value":"10.0.%d.%d"}]', value / 256, value % 256), printf('group-%d', value % 20),
       ?2 + 3600000 + value, ?2 + value, ?2 + value FROM n`,
  )
    .bind(account.id, now, RULES)
    .run();
  return { token: await apiKeyToken(env.MASTER_KEY, { accountId: account.id, id: key.id }), siteKey };
}

async function send(url: URL, token: string, one: Case, call: number): Promise<Response> {
  const body = one.body?.(call);
  return fetch(url, {
    method: one.method ?? 'POST',
    headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
}

/** Milliseconds of each call, the whole answer read; the first ones only warm up. */
async function timed(calls: number, call: (index: number) => Promise<Response>): Promise<number[]> {
  const times: number[] = [];
  const warmUp = Math.ceil(calls / 10);
  for (let index = -warmUp; index < calls; index++) {
    const started = performance.now();
    // oxlint-disable-next-line no-await-in-loop -- latency of one call at a time
    const response = await call(index + warmUp);
    // oxlint-disable-next-line no-await-in-loop
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${text.slice(0, 500)}`);
    if (index >= 0) times.push(performance.now() - started);
  }
  return times.toSorted((a, b) => a - b);
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function row(times: readonly number[], floorMs: number, wantedMs: number): object {
  const p50 = percentile(times, 0.5);
  const p99 = percentile(times, 0.99);
  return {
    calls: times.length,
    'p50 ms': p50.toFixed(1),
    'p99 ms': p99.toFixed(1),
    'p99 wanted': wantedMs,
    kept: p99 <= wantedMs ? 'yes' : 'NO',
    'p50 ÷ floor': (p50 / floorMs).toFixed(1),
  };
}
