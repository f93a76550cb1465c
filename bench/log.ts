/**
 * `npm run bench -- log [--rows N]`: one shard of the verdict log in workerd, N verdicts (1,000,000) over a week. The older
 * ones are laid down as sealing leaves them, by sealing's own code; the newest go through the real append, which
 * seals as it goes; then readers ask. Two floors, in the same object: the same bytes into a plain table, without ids,
 * indexes or counts, and a plain `SELECT … LIMIT` of it. The count of all rows is checked before anything is timed.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Miniflare } from 'miniflare';
import { runtimeOptions } from '../src/cli/runtime-options.ts';
import { bundleWorker, readWranglerFile, workerConfig } from '../src/cli/worker-config.ts';

const ROWS_DEFAULT = 1_000_000;
/** Enough for the shard to seal fifteen times while it is appended to. */
const APPENDED_ROWS_MAX = 300_000;
/** As many as sealing puts into one segment. */
const SEGMENT_ROWS = 20_000;
const FLOOR_ROWS = 60_000;
/** Sent as batches that the service checks: enough to be sealed meanwhile too. */
const CHECKED_ROWS = 60_000;
const ROWS_MIN = 400_000;
const WEEK_MS = 7 * 86_400_000;
const MINUTE_MS = 60_000;
const QUESTIONS_TIMED = 15;
/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

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

interface Filled {
  accepted: number;
  duplicates: number;
  ms: number;
}

interface Span {
  total: number;
  since: number;
  until: number;
}

type Ask = <Answer>(question: object) => Promise<Answer>;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { rows: { type: 'string' } } });
  const total = Number(values.rows ?? ROWS_DEFAULT);
  if (!Number.isSafeInteger(total) || total < ROWS_MIN) throw new Error(`--rows wants ${ROWS_MIN} or more`);
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-log-'));
  const file = readWranglerFile('wrangler.service.toml');
  const config = workerConfig(
    { ...file, durable_objects: { bindings: [{ name: 'VERDICT_SHARD', class_name: 'VerdictShard' }] } },
    await bundleWorker('bench/log-driver.mjs'),
    { MASTER_KEY: '' },
  );
  const miniflare = new Miniflare({ ...runtimeOptions('bench', stateDir, true), workers: [{ config }] });
  const ask: Ask = async <Answer>(question: object): Promise<Answer> => {
    const response = await miniflare.dispatchFetch('http://bench/', { method: 'POST', body: JSON.stringify(question) });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Answer;
  };
  try {
    const until = Date.now() - MINUTE_MS;
    const span = { total, since: until - WEEK_MS + 60 * MINUTE_MS, until };
    const appended = Math.min(APPENDED_ROWS_MAX, Math.floor(total / 4 / SEGMENT_ROWS) * SEGMENT_ROWS);
    const floor = await bareTable(ask, span);
    await load(ask, span, total - appended);
    await append(ask, span, total - appended, floor);
    await checkCount(ask, total);
    await readers(ask, total);
    console.table(await ask<object>({ op: 'statistics' }));
  } finally {
    await miniflare.dispose();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Processor time of the workerd below this process: unlike the clock, other work hardly slows it. */
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

interface Cost {
  rows: number;
  ms: number;
  cpuMs: number;
}

/** Sends records `first` … in calls of one segment's size. */
async function send(ask: Ask, span: Span, first: number, rows: number, way: string): Promise<Cost> {
  const cost: Cost = { rows: 0, ms: 0, cpuMs: 0 };
  const cpuBefore = workerdCpuMs();
  for (let at = first; at < first + rows; at += SEGMENT_ROWS) {
    const filled = await ask<Filled>({
      op: 'fill',
      way,
      first: at,
      rows: Math.min(SEGMENT_ROWS, first + rows - at),
      ...span,
    });
    cost.rows += filled.accepted;
    cost.ms += filled.ms;
  }
  cost.cpuMs = workerdCpuMs() - cpuBefore;
  return cost;
}

const microseconds = ({ cpuMs, rows }: Cost): number => (cpuMs / rows) * 1000;
const rounded = (value: number, digits = 1): number => Math.round(value * 10 ** digits) / 10 ** digits;

interface Floor {
  /** Processor time of making one record, µs. */
  making: number;
  bare: Cost;
}

async function bareTable(ask: Ask, span: Span): Promise<Floor> {
  await send(ask, span, 0, SEGMENT_ROWS, 'make');
  const making = microseconds(await send(ask, span, 0, FLOOR_ROWS, 'make'));
  return { making, bare: await send(ask, span, 0, FLOOR_ROWS, 'bare') };
}

async function load(ask: Ask, span: Span, rows: number): Promise<void> {
  const started = performance.now();
  const cpuBefore = workerdCpuMs();
  for (let first = 0; first < rows; first += SEGMENT_ROWS) {
    await ask<object>({ op: 'load', first, rows: Math.min(SEGMENT_ROWS, rows - first), ...span });
  }
  await ask<object>({ op: 'restart' });
  const seconds = (performance.now() - started) / 1000;
  const cpuSeconds = (workerdCpuMs() - cpuBefore) / 1000;
  console.log(`laid down ${rows} sealed rows in ${rounded(seconds)} s, ${rounded(cpuSeconds)} s of processor time`);
}

async function append(ask: Ask, span: Span, loaded: number, { making, bare }: Floor): Promise<void> {
  const rows = span.total - loaded;
  const plain = rows - CHECKED_ROWS - SEGMENT_ROWS;
  const appended = await send(ask, span, loaded, plain, 'append');
  const validated = await send(ask, span, loaded + plain, CHECKED_ROWS, 'accept');
  const last = { ...span, first: span.total - SEGMENT_ROWS, rows: SEGMENT_ROWS };
  const twice = await ask<Filled>({ op: 'fill', way: 'append', twice: true, ...last });
  const floor = microseconds(bare) - making;
  const table: Record<string, object> = {};
  const line = (name: string, cost: Cost): void => {
    const cpu = microseconds(cost) - making;
    table[name] = {
      'verdicts/s': Math.round((cost.rows / cost.ms) * 1000),
      'CPU µs a verdict': rounded(cpu),
      'verdicts/s of CPU': Math.round(1_000_000 / cpu),
      '× floor': rounded(cpu / floor, 2),
    };
  };
  line('floor: a plain table, no ids, counts or sealing', bare);
  line('append to the shard, sealing included (≥ 10,000)', appended);
  line('the same with every record checked in the Worker', validated);
  console.table(table);
  console.log(`${SEGMENT_ROWS} rows sent twice: ${twice.accepted} stored, ${twice.duplicates} known already`);
}

async function checkCount(ask: Ask, rows: number): Promise<void> {
  const { total, totalIsExact } = await ask<{ total: number; totalIsExact: boolean }>({ op: 'page', filter: {} });
  const { hotRows, sealedRows } = await ask<{ hotRows: number; sealedRows: number }>({ op: 'statistics' });
  if (total !== rows || !totalIsExact || hotRows + sealedRows !== rows) {
    throw new Error(`${rows} rows were sent; counted ${total}, stored ${hotRows} + ${sealedRows}`);
  }
  console.log(`counted ${total} of ${rows} rows: ${sealedRows} sealed, ${hotRows} not yet`);
}

async function readers(ask: Ask, rows: number): Promise<void> {
  const sample = await ask<{ jti: string; ip: string; asn: number; request_path: string }>({
    op: 'sample',
    number: Math.floor(rows / 3),
  });
  const to = Math.ceil(Date.now() / MINUTE_MS / 60) * 60;
  const week = { from: to - 7 * 24 * 60, to };
  const table: Record<string, object> = {};
  let floorCpuMs = Number.NaN;
  const time = async (name: string, target: string, question: object): Promise<void> => {
    const took: number[] = [];
    let answer: object = {};
    const cpuBefore = workerdCpuMs();
    for (let turn = 0; turn < QUESTIONS_TIMED; turn++) {
      const started = performance.now();
      answer = await ask<object>(question);
      took.push(performance.now() - started);
    }
    const cpuMs = (workerdCpuMs() - cpuBefore) / QUESTIONS_TIMED;
    took.sort((a, b) => a - b);
    if (Number.isNaN(floorCpuMs)) floorCpuMs = cpuMs;
    table[name] = {
      'median ms': rounded(took[took.length >> 1] ?? 0),
      'slowest ms': rounded(took.at(-1) ?? 0),
      'CPU ms': rounded(cpuMs),
      '× floor': rounded(cpuMs / floorCpuMs),
      'target ms': target,
      answer: JSON.stringify(answer),
    };
  };
  await time('floor: SELECT … LIMIT 50 of a plain table', '', { op: 'barePage' });
  await time('an empty call', '', { op: 'nothing' });
  await time('first page', '50', { op: 'page', filter: {} });
  await time('first page of blocks', '50', { op: 'page', filter: { outcomes: [2] } });
  await time('first page of a path', '50', {
    op: 'page',
    filter: { path: { text: sample.request_path, prefix: false } },
  });
  await time('first page of blocks on mobile', '50', { op: 'page', filter: { outcomes: [2], devices: ['mobile'] } });
  await time('first page of one network', '50', { op: 'page', filter: { asns: [sample.asn] } });
  await time('first page of one address', '50', { op: 'page', filter: { ip: sample.ip } });
  await time('first page of a path’s beginning', '50', {
    op: 'page',
    filter: { path: { text: sample.request_path.slice(0, -1), prefix: true } },
  });
  await time('first page of one address, blocked', '50', { op: 'page', filter: { ip: sample.ip, outcomes: [2] } });
  await time('first page of a network, a path’s beginning, desktop', '50', {
    op: 'page',
    filter: { asns: [sample.asn], path: { text: '/shop/items/', prefix: true }, devices: ['desktop'] },
  });
  await time('first page of half a week, blocked by policy', '50', {
    op: 'page',
    filter: {
      since: week.from * MINUTE_MS + 12_345,
      until: (week.to - 5000) * MINUTE_MS,
      outcomes: [2],
      sources: ['policy'],
    },
  });
  await time('one session by its jti', '20', { op: 'page', filter: { jti: sample.jti } });
  await time('summary of a week by the hour', '100', { op: 'top', dimension: 'none', ...week, bucketMinutes: 60 });
  await time('summary of a week by the minute', '100', { op: 'top', dimension: 'none', ...week, bucketMinutes: 1 });
  for (const dimension of dimensions) {
    await time(`top 10 of a week by ${dimension}`, '300', { op: 'top', dimension, ...week, bucketMinutes: 60 });
  }
  console.table(table);
}
