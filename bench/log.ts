/**
 * `npm run bench -- log [--rows N]`: one shard of the verdict log in workerd, with N verdicts (1,000,000) over a week.
 * The older ones are written as sealing leaves them, the newest go through the real append, which seals meanwhile. Then
 * readers query them. There are three floors: in the same object the same bytes in a plain table without ids, indexes or
 * counts, and a plain `SELECT … LIMIT` of it; and in the same bucket fifty bare range reads, which a page of fifty rows
 * from as many row groups cannot do without. The count of all rows is checked before reads are timed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Miniflare } from 'miniflare';
import { runtimeOptions } from '../src/cli/runtime-options.ts';
import { bundleWorker, readWranglerFile, workerConfig } from '../src/cli/worker-config.ts';
import { storedDimensions } from '../src/store/event-log/count-dimensions.ts';
import { filterCombinations, type SampleRecord } from './log/filter-combinations.ts';
import { processorMs, workerdPids } from './measure/processor-time.ts';
import { median, rounded } from './measure/statistics.ts';

const ROWS_DEFAULT = 1_000_000;
/** Enough for the shard to seal fifteen times during the appends. */
const APPENDED_ROWS_MAX = 300_000;
/** Rows of one segment. */
const SEGMENT_ROWS = 20_000;
const FLOOR_ROWS = 60_000;
/** Sent as batches that the service checks. Enough that sealing happens meanwhile. */
const CHECKED_ROWS = 60_000;
/** Of each turn. One more before them warms the code up. */
const ALONE_ROWS = 30_000;
const SEALING_CHECK_MS = 50;
const ALONE_TURNS = 3;
const ROWS_MIN = 400_000;
const WEEK_MS = 7 * 86_400_000;
const MINUTE_MS = 60_000;
const CALLS_TIMED = 15;
/** Of each combination of filters. */
const COMBINATION_CALLS_TIMED = 5;
const SLOWEST_SHOWN = 15;
const PAGE_TARGET_MS = 50;
/** As many as a page has rows, six at a time like the reader's, each as long as a row group. */
const RANGE_READS = { reads: 50, atOnce: 6, bytes: 85_000 };
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

type Call = <Answer>(request: object) => Promise<Answer>;

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { rows: { type: 'string' } } });
  const total = Number(values.rows ?? ROWS_DEFAULT);
  if (!Number.isSafeInteger(total) || total < ROWS_MIN) throw new Error(`--rows must be ${ROWS_MIN} or more`);
  const stateDir = mkdtempSync(join(tmpdir(), 'gatehouse-bench-log-'));
  const file = readWranglerFile('src/service/wrangler.toml');
  const config = workerConfig(
    { ...file, durable_objects: { bindings: [{ name: 'VERDICT_SHARD', class_name: 'VerdictShard' }] } },
    await bundleWorker('bench/workers/log-worker.ts'),
    { MASTER_KEY: '' },
  );
  const miniflare = new Miniflare({ ...runtimeOptions('bench', stateDir, true), workers: [{ config }] });
  const call: Call = async <Answer>(request: object): Promise<Answer> => {
    const response = await miniflare.dispatchFetch('http://bench/', { method: 'POST', body: JSON.stringify(request) });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Answer;
  };
  try {
    const until = Date.now() - MINUTE_MS;
    const span = { total, since: until - WEEK_MS + 60 * MINUTE_MS, until };
    const appended = Math.min(APPENDED_ROWS_MAX, Math.floor(total / 4 / SEGMENT_ROWS) * SEGMENT_ROWS);
    const floor = await bareTable(call, span);
    await costing(call, 'loaded as sealing leaves them', total - appended, () => load(call, span, total - appended));
    await costing(call, 'appended and sealed', appended, () => append(call, span, total - appended, floor));
    await checkCount(call, total);
    await readers(call, total);
    await combinations(call, span);
    console.table(await call<object>({ op: 'statistics' }));
  } finally {
    await miniflare.dispose();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

/** Of the one workerd that this process has started. */
const workerdMs = (): number => processorMs(workerdPids());

interface Cost {
  rows: number;
  ms: number;
  cpuMs: number;
}

const noCost = (): Cost => ({ rows: 0, ms: 0, cpuMs: 0 });

/** Waits until the shard has nothing to seal: it begins with two segments of rows. */
async function sealed(call: Call): Promise<void> {
  for (;;) {
    const { hotRows } = await call<{ hotRows: number }>({ op: 'statistics' });
    if (hotRows < 2 * SEGMENT_ROWS) return;
    await setTimeout(SEALING_CHECK_MS);
  }
}

/** Sends records and waits until they are sealed. Both count. */
async function sendAndSeal(call: Call, span: Span, first: number, rows: number, way: string): Promise<Cost> {
  const started = performance.now();
  const cpuBefore = workerdMs();
  const { rows: accepted } = await send(call, span, first, rows, way);
  await sealed(call);
  return { rows: accepted, ms: performance.now() - started, cpuMs: workerdMs() - cpuBefore };
}

/** Sends `rows` records from `first` on, in calls of one segment each. */
async function send(call: Call, span: Span, first: number, rows: number, way: string): Promise<Cost> {
  const cost = noCost();
  const cpuBefore = workerdMs();
  for (let at = first; at < first + rows; at += SEGMENT_ROWS) {
    const filled = await call<Filled>({
      op: 'fill',
      way,
      first: at,
      rows: Math.min(SEGMENT_ROWS, first + rows - at),
      ...span,
    });
    cost.rows += filled.accepted;
    cost.ms += filled.ms;
  }
  cost.cpuMs = workerdMs() - cpuBefore;
  return cost;
}

const microseconds = ({ cpuMs, rows }: Cost): number => (cpuMs / rows) * 1000;

interface Floor {
  /** Microseconds of processor time to make one record. */
  making: number;
  bare: Cost;
}

async function bareTable(call: Call, span: Span): Promise<Floor> {
  await send(call, span, 0, SEGMENT_ROWS, 'make');
  const making = microseconds(await send(call, span, 0, FLOOR_ROWS, 'make'));
  return { making, bare: await send(call, span, 0, FLOOR_ROWS, 'bare') };
}

async function load(call: Call, span: Span, rows: number): Promise<void> {
  const started = performance.now();
  const cpuBefore = workerdMs();
  for (let first = 0; first < rows; first += SEGMENT_ROWS) {
    await call<object>({ op: 'load', first, rows: Math.min(SEGMENT_ROWS, rows - first), ...span });
  }
  await call<object>({ op: 'restart' });
  const seconds = (performance.now() - started) / 1000;
  const cpuSeconds = (workerdMs() - cpuBefore) / 1000;
  console.log(`${rows} sealed rows written in ${rounded(seconds)} s, ${rounded(cpuSeconds)} s of processor time`);
}

interface Held {
  writtenRows: number;
  databaseBytes: number;
  sealedBytes: number;
}

/** Prints what the platform bills for these rows. The database keeps the pages of deleted rows. */
async function costing(call: Call, name: string, rows: number, work: () => Promise<void>): Promise<void> {
  const before = await call<Held>({ op: 'cost' });
  await work();
  const after = await call<Held>({ op: 'cost' });
  const each = (field: keyof Held): number => (after[field] - before[field]) / rows;
  console.log(
    `${rows} verdicts ${name}: ${rounded(each('writtenRows'), 4)} rows written a verdict, ` +
      `${rounded(each('databaseBytes'))} bytes in the database, ${rounded(each('sealedBytes'))} in R2`,
  );
}

async function append(call: Call, span: Span, loaded: number, { making, bare }: Floor): Promise<void> {
  const rows = span.total - loaded;
  const plain = rows - CHECKED_ROWS - SEGMENT_ROWS;
  const appended = await sendAndSeal(call, span, loaded, plain, 'append');
  const validated = await sendAndSeal(call, span, loaded + plain, CHECKED_ROWS, 'accept');
  const last = { ...span, first: span.total - SEGMENT_ROWS, rows: SEGMENT_ROWS };
  const twice = await call<Filled>({ op: 'fill', way: 'append', twice: true, ...last });
  await sealed(call);
  const { stored, sent } = await shardAlone(call, span);
  const floor = microseconds(bare) - making;
  const table: Record<string, object> = {};
  const line = (name: string, cost: Cost, others = making): void => {
    const cpu = microseconds(cost) - others;
    table[name] = {
      'verdicts/s': Math.round((cost.rows / cost.ms) * 1000),
      'CPU µs a verdict': rounded(cpu),
      'verdicts/s of CPU': Math.round(1_000_000 / cpu),
      '× floor': rounded(cpu / floor, 2),
    };
  };
  line('floor: a plain table, no ids, counts or sealing', bare);
  line('the shard alone: packed batches, no calls, no sealing (≥ 100,000)', stored, 0);
  line('the same over RPC, with what sending costs the Worker', sent, 0);
  line('append to the shard, sealing included (≥ 10,000)', appended);
  line('the same with every record checked in the Worker', validated);
  console.table(table);
  console.log(`${SEGMENT_ROWS} rows sent twice: ${twice.accepted} stored, ${twice.duplicates} duplicates`);
}

/** Of batches that were packed before: stored by the shard itself, and sent to it. */
async function shardAlone(call: Call, { until }: Span): Promise<{ stored: Cost; sent: Cost }> {
  // Traffic that comes at such a rate: all of it is of the same minutes.
  const span = { total: 2 * (1 + ALONE_TURNS) * ALONE_ROWS, since: until - MINUTE_MS, until };
  let first = 0;
  const held = async (op: 'storeHeld' | 'sendHeld', into: Cost): Promise<void> => {
    await call<object>({ op: 'hold', first, rows: ALONE_ROWS, ...span });
    first += ALONE_ROWS;
    const cpuBefore = workerdMs();
    const { accepted, ms } = await call<Filled>({ op });
    if (accepted !== ALONE_ROWS) throw new Error(`${accepted} of ${ALONE_ROWS} were stored`);
    into.rows += accepted;
    into.ms += ms;
    into.cpuMs += workerdMs() - cpuBefore;
  };
  await call<object>({ op: 'sealNothing' });
  for (const op of ['storeHeld', 'sendHeld'] as const) await held(op, noCost());
  const [stored, sent] = [noCost(), noCost()];
  for (let turn = 0; turn < ALONE_TURNS; turn++) {
    await held('storeHeld', stored);
    await held('sendHeld', sent);
  }
  return { stored, sent };
}

async function checkCount(call: Call, rows: number): Promise<void> {
  const { total, totalIsExact } = await call<{ total: number; totalIsExact: boolean }>({ op: 'page', filter: {} });
  const { hotRows, sealedRows } = await call<{ hotRows: number; sealedRows: number }>({ op: 'statistics' });
  if (total !== rows || !totalIsExact || hotRows + sealedRows !== rows) {
    throw new Error(`${rows} rows were sent; counted ${total}, stored ${hotRows} + ${sealedRows}`);
  }
  console.log(`${total} of ${rows} rows counted: ${sealedRows} sealed, ${hotRows} not sealed`);
}

/** The first page and the exact total of every combination of up to three filters. */
async function combinations(call: Call, { total, since, until }: Span): Promise<void> {
  const sample = await call<SampleRecord>({ op: 'sample', number: Math.floor(total / 3) });
  const part = { since: since + 12_345, until: until - 5000 * MINUTE_MS };
  const floors: number[] = [];
  const lines: { filters: string; medianMs: number; slowestMs: number; result: string }[] = [];
  for (const { name, filter } of filterCombinations(sample, part)) {
    const took: number[] = [];
    let result: object = {};
    for (let turn = 0; turn < COMBINATION_CALLS_TIMED; turn++) {
      const started = performance.now();
      result = await call<object>({ op: 'page', filter });
      took.push(performance.now() - started);
    }
    const floorStarted = performance.now();
    await call<object>({ op: 'rangeReads', ...RANGE_READS });
    floors.push(performance.now() - floorStarted);
    const medianMs = rounded(median(took));
    lines.push({ filters: name, medianMs, slowestMs: rounded(Math.max(...took)), result: JSON.stringify(result) });
  }
  lines.sort((a, b) => b.medianMs - a.medianMs);
  const over = lines.filter(({ medianMs }) => medianMs > PAGE_TARGET_MS).length;
  const typical = rounded(median(lines.map(({ medianMs }) => medianMs)));
  console.log(
    `${lines.length} combinations of filters: ${typical} ms in the median, ${over} above ${PAGE_TARGET_MS} ms`,
  );
  const { reads, atOnce } = RANGE_READS;
  console.log(
    `floor of a page from ${reads} row groups: ${reads} R2 range reads, ${atOnce} at a time, ` +
      `take ${rounded(median(floors))} ms in the median of ${floors.length}`,
  );
  console.table(lines.slice(0, SLOWEST_SHOWN));
}

async function readers(call: Call, rows: number): Promise<void> {
  const sample = await call<SampleRecord>({ op: 'sample', number: Math.floor(rows / 3) });
  const to = Math.ceil(Date.now() / MINUTE_MS / 60) * 60;
  const week = { from: to - 7 * 24 * 60, to };
  const table: Record<string, object> = {};
  let floorCpuMs = Number.NaN;
  const time = async (name: string, target: string, request: object): Promise<void> => {
    const took: number[] = [];
    let result: object = {};
    const cpuBefore = workerdMs();
    for (let turn = 0; turn < CALLS_TIMED; turn++) {
      const started = performance.now();
      result = await call<object>(request);
      took.push(performance.now() - started);
    }
    const cpuMs = (workerdMs() - cpuBefore) / CALLS_TIMED;
    if (Number.isNaN(floorCpuMs)) floorCpuMs = cpuMs;
    table[name] = {
      'median ms': rounded(median(took)),
      'slowest ms': rounded(Math.max(...took)),
      'CPU ms': rounded(cpuMs),
      '× floor': rounded(cpuMs / floorCpuMs),
      'target ms': target,
      result: JSON.stringify(result),
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
  const reference = await call<{ requestId: string }>({ op: 'referenceAt', timestamp: Date.now() - WEEK_MS / 2 });
  await time('one verdict by its reference', '20', { op: 'byReference', ...reference });
  await time('one session by its jti', '20', { op: 'page', filter: { jti: sample.jti } });
  await time('summary of a week by the hour', '100', { op: 'top', dimension: 'none', ...week, bucketMinutes: 60 });
  await time('summary of a week by the minute', '100', { op: 'top', dimension: 'none', ...week, bucketMinutes: 1 });
  for (const dimension of storedDimensions) {
    await time(`top 10 of a week by ${dimension}`, '300', { op: 'top', dimension, ...week, bucketMinutes: 60 });
  }
  console.table(table);
}
