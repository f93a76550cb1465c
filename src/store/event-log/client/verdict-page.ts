/**
 * One page of the log, merged over shards and over unsealed and sealed rows. Row groups are opened newest first, and
 * only while one of their rows can still belong on the page. A page that reaches its limit of row groups ends early
 * with a cursor, so that no read grows without bound.
 */
import { inWindow, readFrom, type SealedRead, SealedRowReader, StalePlanError } from './sealed-row-reader.ts';
import { UnreadableSegmentError } from '../parquet/byte-cursor.ts';
import type { RowFilter } from '../row-filter.ts';
import { PAGE_ROW_GROUPS_MAX, type ReadPlan, type PlanRequest } from '../shard-rpc.ts';
import { compareNewestFirst, newestOf, type RowKey, type StoredRow } from '../log-row.ts';
import { type LogName, shard, type ShardEnv, shardNames } from './shards.ts';

/**
 * Rows per response of a shard: the largest rows have 30 kB, and a message holds 32 MiB. A large offset is read in such
 * parts, and only the page itself is kept.
 */
const ROWS_AT_ONCE = 1000;
/** An erasure rewrites a segment during a read. After several in a row the read fails instead of planning again. */
const PLANS_MAX = 4;

export interface PageRequest {
  filter: RowFilter;
  before: RowKey | null;
  offset: number;
  limit: number;
  wantTotal: boolean;
}

export interface VerdictPage {
  rows: StoredRow[];
  total: number;
  totalIsExact: boolean;
  /** Where the next page starts, or `null` at the end. */
  next: PageStart | null;
}

export interface PageStart extends RowKey {
  /** Rows that the offset still has to skip where the search ended. */
  skip: number;
}

export async function readPage(env: ShardEnv, log: LogName, request: PageRequest): Promise<VerdictPage> {
  const { offset, limit } = request;
  if (offset + limit <= ROWS_AT_ONCE) return readNearPage(env, log, request);
  let { before } = request;
  let first: VerdictPage | null = null;
  for (let passed = 0; passed < offset; passed += ROWS_AT_ONCE) {
    const rows = Math.min(ROWS_AT_ONCE, offset - passed);
    const wantTotal = request.wantTotal && first === null;
    const part = await readNearPage(env, log, { ...request, before, offset: 0, limit: rows, wantTotal });
    first ??= part;
    // The end of the log, or of what one page may search: this page ends there too.
    if (part.next === null || part.rows.length < rows) {
      const skip = offset - passed - part.rows.length;
      return { ...first, rows: [], next: part.next && { ...part.next, skip } };
    }
    before = part.next;
  }
  const page = await readNearPage(env, log, {
    ...request,
    before,
    offset: 0,
    wantTotal: request.wantTotal && first === null,
  });
  return first === null ? page : { ...page, total: first.total, totalIsExact: first.totalIsExact };
}

async function readNearPage(env: ShardEnv, log: LogName, request: PageRequest): Promise<VerdictPage> {
  for (let turn = 1; ; turn++) {
    try {
      return await readPlanned(env, log, request);
    } catch (error) {
      if (!(error instanceof StalePlanError)) throw error;
      if (turn === PLANS_MAX) throw new UnreadableSegmentError(error.message, { cause: error });
    }
  }
}

async function readPlanned(env: ShardEnv, log: LogName, request: PageRequest): Promise<VerdictPage> {
  const { offset, limit } = request;
  const names = shardNames(env, log, request.filter);
  // One row more than the page needs shows whether there is a next page.
  const wanted = offset + limit + 1;
  const planRequest: PlanRequest = { ...request, limit: wanted };
  const plans = await Promise.all(names.map((name) => shard(env, name).plan(planRequest)));
  const reader = new SealedRowReader(env.SEGMENTS, log.stream, request.filter);
  const merged = await mergeRows(plans, reader, request.before, wanted);
  const rows = merged.rows.slice(offset, offset + limit);
  const counted = request.wantTotal ? await countAll(plans, reader) : { total: 0, isExact: false };
  const last = merged.rows.length === wanted ? rows.at(-1) : undefined;
  const skip = Math.max(offset - merged.rows.length, 0);
  const next = last
    ? { timestamp: last.timestamp, id: last.id, skip: 0 }
    : merged.stoppedAt && { ...merged.stoppedAt, skip };
  return { rows, total: counted.total, totalIsExact: counted.isExact, next };
}

interface Merged {
  rows: StoredRow[];
  /** The search ended here before the end of the log. */
  stoppedAt: RowKey | null;
}

async function mergeRows(
  plans: readonly ReadPlan[],
  reader: SealedRowReader,
  before: RowKey | null,
  wanted: number,
): Promise<Merged> {
  const rowGroups = plans
    .flatMap((plan) => plan.rowGroups)
    .sort((a, b) => compareNewestFirst(newestOf(a), newestOf(b)));
  const unlisted = plans.some((plan) => plan.rowGroupsCut);
  const across =
    before === null ? 0 : rowGroups.filter((rowGroup) => compareNewestFirst(newestOf(rowGroup), before) <= 0).length;
  const readable = rowGroups.slice(0, across + PAGE_ROW_GROUPS_MAX);
  const edge = readable.at(-1);
  const cut = unlisted || readable.length < rowGroups.length;
  let found = plans.flatMap((plan) => plan.hot).sort(compareNewestFirst);
  let at = 0;
  // Rows that the reads which have begun can still return.
  let awaited = 0;
  const open = async (read: SealedRead, matching: number): Promise<void> => {
    const opened = await reader.rows(read);
    const fresh = opened.filter((row) => before === null || compareNewestFirst(before, row) < 0);
    found = [...found, ...fresh].sort(compareNewestFirst).slice(0, wanted);
    awaited -= matching;
  };
  await inWindow(() => {
    const newest = readable[at];
    const last = found[wanted - 1];
    // Row groups are sorted newest first: once one starts below the page's last row, all that follow do.
    if (!newest || (last && compareNewestFirst(last, newestOf(newest)) < 0)) return null;
    const missing = wanted - found.length - awaited;
    if (!last && missing <= 0) return null;
    const read = readFrom(readable, at, missing);
    if (read === null) return null;
    const matching = read.reduce((sum, rowGroup) => sum + rowGroup.matching, 0);
    at += read.length;
    awaited += matching;
    return open(read, matching);
  });
  found = found.slice(0, wanted);
  if (!cut || edge === undefined) return { rows: found, stoppedAt: null };
  // Rows below the newest row of the last open row group may interleave with row groups that stay closed.
  const stop = newestOf(edge);
  const last = found[wanted - 1];
  if (last && compareNewestFirst(last, stop) <= 0) return { rows: found, stoppedAt: null };
  return { rows: found.filter((row) => compareNewestFirst(row, stop) <= 0), stoppedAt: stop };
}

async function countAll(
  plans: readonly ReadPlan[],
  reader: SealedRowReader,
): Promise<{ total: number; isExact: boolean }> {
  let total = 0;
  let isExact = true;
  for (const { total: planned } of plans) {
    if (planned === null) continue;
    total += planned.counted;
    if (planned.openCut) isExact = false;
    total += await reader.count(planned.open);
  }
  return { total, isExact };
}
