/**
 * `npm run bench -- first-decision [COUNT…] [--runs N] [--delta] [--beside DIR]`: how long a new isolate takes for its
 * first right decision, with everything it needs in the cache of its colo. Each run is a new workerd with the bundle that
 * is deployed, which has compiled its script and nothing else. It gets one request: a visitor whom a rule blocks, or one
 * whom no rule matches. How the time divides into reading, hashing and opening comes from a copy with marks. The rules
 * are measured when the service has compiled all of them into a base, or with `--delta` as an import leaves them, with
 * the last of them in a delta. A few rules are always in a delta, because the service compiles no base for them.
 * `--beside` adds the edge of another checkout in turns, which must read the same files.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Stack, startStack } from '../src/cli/stack.ts';
import { edgeVersion } from '../src/contract/edge/edge-responses.ts';
import { bundleAsDeployed, bundleWorker, readWranglerFile } from '../src/cli/worker-config.ts';
import { partName } from '../src/edge/feed/stored-parts.ts';
import { navigation } from '../test/support/browse.ts';
import { eventually } from '../test/support/eventually.ts';
import { type RawWorker, startRawWorker } from '../test/support/raw-workerd.ts';
import { personsHeaders } from '../test/support/session.ts';
import { WRANGLER_FILE, hasRules, readLists, startEdge } from './edge/measured-edge.ts';
import { type CacheServer, startCacheServer } from './measure/cache-server.ts';
import { exactProcessorMs } from './measure/processor-time.ts';
import { median } from './measure/statistics.ts';
import { importRules } from './rules/import-rules.ts';
import { mixedRules } from './rules/workload.ts';

const COUNTS_DEFAULT = [100, 10_000, 1_000_000];
/** `DELTA_QUIET_CHANGES` of the rule book: it compiles a base for more rules than these. */
const RULES_WITHOUT_BASE_MAX = 2000;
const RUNS_DEFAULT = 15;
const TARGET_MS = 50;
const PORT_BASE = 8920;
/** After it has begun to listen, a new workerd has work of its own for some milliseconds. */
const SETTLED_AFTER_MS = 250;
const POINTER = `/${partName.cachedPointer}`;
const MARKED_EDGE = 'bench/workers/first-decision-worker.ts';
const ORIGIN = `export default { fetch: () => Response.json({ ok: true }) };`;
const NOTHING = `export default { fetch: () => new Response() };`;

interface FirstDecision {
  status: number;
  ms: number;
  processorMs: number;
  marks: Mark[];
}

type Name = 'nothing' | 'edge' | 'marked' | 'other';
type Mark = [what: string, fromMs: number, toMs: number, bytes: number];

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { runs: { type: 'string' }, delta: { type: 'boolean' }, beside: { type: 'string' } },
  });
  const counts = positionals.length > 0 ? positionals.map(Number) : COUNTS_DEFAULT;
  const options = {
    runs: Number(values.runs ?? RUNS_DEFAULT),
    mayHaveDelta: values.delta === true,
    beside: values.beside === undefined ? null : resolve(values.beside),
  };
  for (const rules of counts) await measure(rules, options);
}

interface MeasureOptions {
  runs: number;
  mayHaveDelta: boolean;
  /** Another checkout. */
  beside: string | null;
}

async function measure(rules: number, { runs, mayHaveDelta, beside }: MeasureOptions): Promise<void> {
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'));
  const stopped: (() => Promise<void>)[] = [];
  try {
    const stack = await startStack({ portBase: PORT_BASE, stateDir, quiet: true, fresh: true });
    stopped.push(() => stack.stop());
    const cache = await startCacheServer();
    stopped.push(() => cache.stop());
    const { compatibility_date: compatibilityDate } = readWranglerFile(WRANGLER_FILE);
    const origin = await startRawWorker({ source: ORIGIN, compatibilityDate });
    stopped.push(() => origin.stop());
    const isolateOf = (source: string) => startEdge(stack, origin.url, { source, cache: cache.address });

    await importRules(stack, mixedRules(rules, 1));
    await readLists(stack);
    const edge = await bundleAsDeployed(WRANGLER_FILE);
    const isDeltaFine = mayHaveDelta || rules <= RULES_WITHOUT_BASE_MAX;
    const isWarm = () => {
      const named = namedParts(cache);
      return named !== null && (isDeltaFine || !named.hasDelta);
    };
    const visitors = await visitorsOf(stack, await isolateOf(edge), rules, isWarm);
    cache.freeze();

    const sources: [Name, string][] = [
      ['nothing', NOTHING],
      ['edge', edge],
      ['marked', await bundleWorker(MARKED_EDGE)],
    ];
    if (beside !== null) sources.push(['other', await bundleAsDeployed(WRANGLER_FILE, beside)]);
    const taken: Record<Name, FirstDecision[]> = { nothing: [], edge: [], marked: [], other: [] };
    for (let turn = 0; turn < runs; turn += 1) {
      for (const [name, source] of sources) {
        const visitor = visitors[turn % visitors.length]!;
        const first = await firstDecision(await isolateOf(source), visitor.headers);
        const expected = name === 'nothing' ? 200 : visitor.status;
        if (first.status !== expected)
          throw new Error(`The first response of ${name} is ${first.status}, not ${expected}`);
        taken[name].push(first);
      }
    }
    report(rules, cache, taken);
  } finally {
    for (const stop of stopped.toReversed()) {
      // In order: what depends on another stops before it.
      await stop();
    }
    rmSync(stateDir, { recursive: true, force: true });
  }
}

interface Visitor {
  headers: Record<string, string>;
  status: number;
}

/** A visitor who gets 403 by a rule and one who gets 200, from an edge that has loaded and cached everything. */
async function visitorsOf(stack: Stack, edge: RawWorker, rules: number, isWarm: () => boolean): Promise<Visitor[]> {
  try {
    await eventually(
      async () => {
        // An edge looks for changes behind the requests of visitors.
        await get(edge, {});
        return hasRules(stack, edge, rules);
      },
      (isLoaded) => isLoaded && isWarm(),
    );
    const blocked = [...mixedRules(rules, 1)].filter(({ type, verdict }) => type === 'ip' && verdict === 'block');
    const addresses = { 403: blocked.map(({ value }) => value), 200: lastOctets('203.0.113.') };
    const visitors: Visitor[] = [];
    for (const status of [403, 200] as const) {
      for (const address of addresses[status]) {
        const headers = {
          ...navigation,
          ...personsHeaders,
          'x-signals-secret': stack.signalsSecret,
          'x-client-ip': address,
          'x-client-asn': '64496',
          'x-client-country': 'DE',
        };
        const seen = await get(edge, headers);
        if (seen.status === status) {
          visitors.push({ headers, status });
          break;
        }
      }
    }
    if (visitors.length !== 2) throw new Error('No visitor is blocked, or every visitor is');
    return visitors;
  } finally {
    await edge.stop();
  }
}

/** Where the cache has what its pointer names, and whether all rules are in the base; `null` before it has everything. */
function namedParts({ parts }: CacheServer): { names: string[]; hasDelta: boolean } | null {
  const [at, pointer] = [...parts].find(([name]) => name.endsWith(POINTER)) ?? ['', null];
  if (pointer === null) return null;
  const { configVersion, base, delta, bots } = edgeVersion.parse(JSON.parse(pointer.toString()));
  const hasDelta = base.version !== delta.version;
  const named = [partName.config(configVersion), partName.base(base.hash)];
  if (hasDelta) named.push(partName.delta(base.hash, delta.version));
  if (bots) named.push(partName.bots(bots.hash));
  const names = named.map((name) => `${at.slice(0, -POINTER.length)}/${name}`);
  return names.every((name) => parts.has(name)) ? { names, hasDelta } : null;
}

function lastOctets(network: string): string[] {
  return Array.from({ length: 254 }, (_, i) => `${network}${i + 1}`);
}

async function firstDecision(isolate: RawWorker, headers: Record<string, string>): Promise<FirstDecision> {
  try {
    await sleep(SETTLED_AFTER_MS);
    return await get(isolate, headers);
  } finally {
    await isolate.stop();
  }
}

function get({ url, pid }: RawWorker, headers: Record<string, string>): Promise<FirstDecision> {
  const usedMs = exactProcessorMs([pid]);
  const sentAt = performance.now();
  return new Promise((received, reject) => {
    const sent = request(`${url}/page`, { headers, agent: false }, (response) => {
      const ms = performance.now() - sentAt;
      const processorMs = exactProcessorMs([pid]) - usedMs;
      const marks = JSON.parse(String(response.headers['x-bench-marks'] ?? '[]')) as Mark[];
      response.resume();
      response.once('end', () => received({ status: response.statusCode ?? 0, ms, processorMs, marks }));
    });
    sent.once('error', reject);
    sent.end();
  });
}

function report(rules: number, cache: CacheServer, taken: Record<Name, FirstDecision[]>): void {
  const row = (of: readonly FirstDecision[]) => ({
    'median, ms': median(of.map(({ ms }) => ms)).toFixed(1),
    'least, ms': Math.min(...of.map(({ ms }) => ms)).toFixed(1),
    'most, ms': Math.max(...of.map(({ ms }) => ms)).toFixed(1),
    'processor, ms': median(of.map(({ processorMs }) => processorMs)).toFixed(1),
  });
  process.stdout.write(
    `First decision of a new isolate on raw workerd, ${rules} rules. The colo cache is a stand-in: a server in the memory ` +
      'of this process, over loopback, without the eviction, the distance and the disks of a real one.\n',
  );
  for (const name of namedParts(cache)?.names ?? []) {
    process.stdout.write(`  ${megabytes(cache.parts.get(name)?.length ?? 0)}  ${name.split('/')[2]}\n`);
  }
  console.table({
    'a Worker that does nothing': row(taken.nothing),
    'edge, blocked by a rule: 403': row(taken.edge.filter(({ status }) => status === 403)),
    'edge, no rule matches: 200': row(taken.edge.filter(({ status }) => status === 200)),
    'edge, both': row(taken.edge),
    ...(taken.other.length > 0 && { 'edge of the other checkout, both': row(taken.other) }),
  });
  process.stdout.write(`Target: at most ${TARGET_MS} ms.\nMeans of the marked copy, ms since the request arrived:\n`);
  console.table(stages(taken.marked.map(({ marks }) => marks)));
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(3)} MB`;

/** The ruleset is the largest part that is read and the largest that is hashed. */
function stages(all: readonly Mark[][]): Record<string, object> {
  const largest = (marks: readonly Mark[], what: string): Mark =>
    marks.filter(([name]) => name === what).toSorted((a, b) => b[3] - a[3])[0] ?? [what, 0, 0, 0];
  const last = (marks: readonly Mark[], what: string): Mark =>
    marks.findLast(([name]) => name === what) ?? [what, 0, 0, 0];
  const mean = (of: (marks: readonly Mark[]) => number) =>
    (all.reduce((sum, m) => sum + of(m), 0) / all.length).toFixed(1);
  const row = (of: (marks: readonly Mark[]) => Mark) => ({
    'from, ms': mean((m) => of(m)[1]),
    'to, ms': mean((m) => of(m)[2]),
    'takes, ms': mean((m) => of(m)[2] - of(m)[1]),
  });
  const between = (before: (m: readonly Mark[]) => Mark, after: (m: readonly Mark[]) => Mark) =>
    row((m) => ['', before(m)[2], after(m)[2], 0]);
  return {
    'ruleset read from the cache': row((m) => ['', largest(m, 'found')[1], largest(m, 'hash')[1], 0]),
    'ruleset hashed': row((m) => largest(m, 'hash')),
    'last signature verified': row((m) => last(m, 'verify')),
    'opened, from the end of hashing': between(
      (m) => largest(m, 'hash'),
      (m) => last(m, 'ready'),
    ),
    'decided and answered': between(
      (m) => last(m, 'ready'),
      (m) => last(m, 'answer'),
    ),
  };
}
