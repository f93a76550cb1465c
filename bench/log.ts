/**
 * `npm run bench -- log [ROWS]`: one shard of the verdict log in workerd. Appends ROWS verdicts that span a
 * week, in batches of 500 with twelve dimensions of rollups, sealing to R2 as it goes; sends a part of
 * them twice; then times what a reader asks. The floor is the same rows into a bare table of the same
 * object, without ids, indexes or rollups.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';
import { runtimeOptions } from '../src/cli/runtime-options.ts';
import { bundleWorker, readWranglerFile, workerConfig } from '../src/cli/worker-config.ts';

const ROWS_DEFAULT = 200_000;
const ROWS_PER_CALL = 20_000;
const WEEK_MS = 7 * 86_400_000;
const MINUTE_MS = 60_000;
const QUESTIONS_TIMED = 7;

const dimensions = [
  'source',
  'country',
  'asn',
  'ip_category',
  'ja4',
  'user_agent',
  'request_path',
  'fired_rule',
  'device_type',
  'enforcement_policy',
  'none',
] as const;

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

interface Filled {
  accepted: number;
  duplicates: number;
  ms: number;
}

export async function run(args: readonly string[]): Promise<void> {
  const rows = Number(args[0] ?? ROWS_DEFAULT);
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-log-'));
  const file = readWranglerFile('wrangler.service.toml');
  const config = workerConfig(
    { ...file, durable_objects: { bindings: [{ name: 'VERDICT_SHARD', class_name: 'VerdictShard' }] } },
    await bundleWorker('bench/log-driver.mjs'),
    { MASTER_KEY: '' },
  );
  const miniflare = new Miniflare({ ...runtimeOptions('bench', stateDir, true), workers: [{ config }] });
  const ask = async <Answer>(question: object): Promise<Answer> => {
    const response = await miniflare.dispatchFetch('http://bench/', { method: 'POST', body: JSON.stringify(question) });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Answer;
  };
  try {
    await append(ask, rows);
    await readers(ask, rows);
  } finally {
    await miniflare.dispose();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

type Ask = <Answer>(question: object) => Promise<Answer>;

/** Processor time of the workerd below this process: unlike the clock, other work does not slow it. */
function workerdCpuMs(): number {
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (!stat.includes('(workerd)') || Number(fields[1]) !== process.pid) continue;
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    } catch {
      // The process ended between the listing and the reading.
    }
  }
  return Number.NaN;
}

const perSecond = (count: number, took: number): number => Math.round((count / took) * 1000);

async function append(ask: Ask, rows: number): Promise<void> {
  const until = Date.now();
  const span = { total: rows, since: until - WEEK_MS + 3_600_000, until };
  const part = async (first: number, more: object = {}): Promise<Filled> =>
    ask<Filled>({ op: 'fill', first, rows: Math.min(ROWS_PER_CALL, rows - first), ...span, ...more });
  let ms = 0;
  let accepted = 0;
  const validated = await part(0, { validate: true });
  const cpuBefore = workerdCpuMs();
  for (let first = ROWS_PER_CALL; first < rows; first += ROWS_PER_CALL) {
    // oxlint-disable-next-line no-await-in-loop -- a Worker makes and sends one part at a time
    const filled = await part(first);
    ms += filled.ms;
    accepted += filled.accepted;
  }
  const cpuMs = workerdCpuMs() - cpuBefore;
  const again = await ask<Filled>({
    op: 'fill',
    first: rows,
    rows: ROWS_PER_CALL,
    ...span,
    total: rows * 2,
    twice: true,
  });
  console.table({
    'shard append, verdicts/s': { value: perSecond(accepted, ms), target: '≥ 10,000' },
    'processor time of a verdict, making it and sealing it included, µs': {
      value: Math.round((cpuMs / accepted) * 1000),
    },
    'the same with validation in the Worker, verdicts/s': { value: perSecond(validated.accepted, validated.ms) },
    'every batch sent twice, verdicts/s sent': { value: perSecond(ROWS_PER_CALL * 2, again.ms) },
    'of those, stored': { value: again.accepted, target: String(ROWS_PER_CALL) },
    'of those, known already': { value: again.duplicates, target: String(ROWS_PER_CALL) },
  });
}

async function readers(ask: Ask, rows: number): Promise<void> {
  const sample = await ask<{ jti: string; ip: string; asn: number }>({ op: 'sample', number: Math.floor(rows / 3) });
  const to = Math.ceil(Date.now() / MINUTE_MS / 60) * 60;
  const week = { from: to - 7 * 24 * 60, to };
  const table: Record<string, { 'median ms': number; 'slowest ms': number; target: string; answer: string }> = {};
  const time = async (name: string, target: string, question: object): Promise<void> => {
    const took: number[] = [];
    let answer: object = {};
    for (let turn = 0; turn < QUESTIONS_TIMED; turn++) {
      const started = performance.now();
      // oxlint-disable-next-line no-await-in-loop -- one reader
      answer = await ask<object>(question);
      took.push(performance.now() - started);
    }
    took.sort((a, b) => a - b);
    table[name] = {
      'median ms': Math.round((took[took.length >> 1] ?? 0) * 10) / 10,
      'slowest ms': Math.round((took.at(-1) ?? 0) * 10) / 10,
      target,
      answer: JSON.stringify(answer),
    };
  };
  await time('an empty call (floor)', '', { op: 'sample', number: 1 });
  await time('first page', '≤ 50', { op: 'page', filter: {} });
  await time('first page of blocks', '≤ 50', { op: 'page', filter: { outcomes: [2] } });
  await time('one session', '≤ 20', { op: 'page', filter: { jti: sample.jti } });
  await time('one address', '', { op: 'page', filter: { ip: sample.ip } });
  await time('one network', '', { op: 'page', filter: { asns: [sample.asn] } });
  await time('summary of a week by the hour', '≤ 100', { op: 'top', dimension: 'none', ...week, bucketMinutes: 60 });
  await time('summary of a week by the minute', '≤ 100', { op: 'top', dimension: 'none', ...week, bucketMinutes: 1 });
  for (const dimension of dimensions) {
    // oxlint-disable-next-line no-await-in-loop -- one reader
    await time(`top 10 of a week by ${dimension}`, '≤ 300', { op: 'top', dimension, ...week, bucketMinutes: 60 });
  }
  console.table(table);
  console.table(await ask<object>({ op: 'statistics' }));
}
