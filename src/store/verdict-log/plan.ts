/**
 * A shard's answer to a reader: hot rows, the sealed blocks worth opening, and what it can count
 * without opening any. Taken in one synchronous step, so hot and sealed never overlap or miss a row.
 */
import { decisions } from '../../contract/vocabulary.ts';
import { cut } from './dimensions.ts';
import { hotCount, hotRows } from './filter.ts';
import type { RowFilter, SqlCondition } from './filter.ts';
import type { HotKeys } from './hot-keys.ts';
import type { RollupReader } from './rollup-reader.ts';
import type { RowKey, StoredRow } from './row.ts';
import { blocksWithKey } from './segment-index.ts';
import type { BlockPosition, IndexKind } from './segment-index.ts';
import type { BlockReference } from './segments.ts';

/** 100,000 rows: what a page may search before it returns what it has, with a cursor. */
export const PAGE_BLOCKS_MAX = 200;
/** Blocks of rows that arrived late and so lie across one moment; a bound for the impossible. */
const ACROSS_BLOCKS_MAX = 5000;
/** Blocks opened for the sake of `total` alone: 20,000 rows, about 100 ms. */
export const COUNT_BLOCKS_MAX = 40;
/** An index that names more blocks than this saves nothing. */
const INDEX_POSITIONS_MAX = 5000;
/** Look-ups per listed filter; longer lists are scanned for. */
const INDEX_KEYS_MAX = 8;

export interface PlanRequest {
  filter: RowFilter;
  before: RowKey | null;
  /** Rows wanted from this shard at most. */
  limit: number;
  wantTotal: boolean;
}

export interface Plan {
  hot: StoredRow[];
  /** Newest first; rows of them may lie outside the filter. */
  blocks: BlockReference[];
  /** More blocks match than are listed. */
  blocksCut: boolean;
  total: PlannedTotal | null;
}

/** `counted` rows are known; rows of `open` blocks within `windows` are still to be counted. */
export interface PlannedTotal {
  counted: number;
  open: BlockReference[];
  windows: { since: number; until: number }[];
  openCut: boolean;
}

export function planRead(sql: SqlStorage, keys: HotKeys, rollups: RollupReader, request: PlanRequest): Plan {
  const { filter, before, limit } = request;
  const older = candidateBlocks(sql, filter, olderThan(before), PAGE_BLOCKS_MAX + 1);
  // Blocks that reach across the cursor come on top of a page's share: else a page might not get past them.
  const across = before ? candidateBlocks(sql, filter, reachingAcross(before), ACROSS_BLOCKS_MAX) : [];
  return {
    hot: hotRows(sql, keys, filter, before, limit),
    blocks: [...across, ...older.slice(0, PAGE_BLOCKS_MAX)],
    blocksCut: older.length > PAGE_BLOCKS_MAX,
    total: request.wantTotal ? planTotal(sql, keys, rollups, filter) : null,
  };
}

const MINUTE_MS = 60_000;

function planTotal(sql: SqlStorage, keys: HotKeys, rollups: RollupReader, filter: RowFilter): PlannedTotal {
  const from = Math.ceil(filter.since / MINUTE_MS);
  const to = Math.floor(Math.min(filter.until, Number.MAX_SAFE_INTEGER) / MINUTE_MS);
  const whole = from < to ? rollupTotal(rollups, filter, from, to) : null;
  if (whole === null) return scanTotal(sql, keys, filter, 0, [filter]);
  const edges = [
    { since: filter.since, until: Math.min(from * MINUTE_MS, filter.until) },
    { since: to * MINUTE_MS, until: filter.until },
  ].filter((edge) => edge.since < edge.until);
  return scanTotal(sql, keys, filter, whole, edges);
}

function scanTotal(
  sql: SqlStorage,
  keys: HotKeys,
  filter: RowFilter,
  counted: number,
  windows: readonly { since: number; until: number }[],
): PlannedTotal {
  let total = counted;
  const open: BlockReference[] = [];
  for (const { since, until } of windows) {
    const part = { ...filter, since, until };
    total += hotCount(sql, keys, part);
    open.push(...candidateBlocks(sql, part, anywhere, COUNT_BLOCKS_MAX + 1));
  }
  return {
    counted: total,
    open: open.slice(0, COUNT_BLOCKS_MAX),
    windows: windows.map(({ since, until }) => ({ since, until })),
    openCut: open.length > COUNT_BLOCKS_MAX,
  };
}

/** Exact count from the rollups, or `null` when they do not keep this combination apart. */
function rollupTotal(rollups: RollupReader, filter: RowFilter, from: number, to: number): number | null {
  if (filter.ip !== null || filter.jti !== null || filter.minRulesFired > 0 || filter.path?.prefix) return null;
  if (rollups.hidesRows(from, to)) return null;
  const { sources, asns, devices, path, firedRules } = filter;
  const keyed = [sources, asns, devices, path, firedRules].filter((part) => part !== null);
  if (keyed.length > 1) return null;
  const count = (dimension: Parameters<RollupReader['countOf']>[0], values: readonly string[]): number | null =>
    rollups.countOf(dimension, values, from, to, filter.outcomes);
  if (sources) return count('source', [...new Set(sources)]);
  if (asns) return count('asn', [...new Set(asns.map(String))]);
  if (devices) return count('device_type', [...new Set(devices)]);
  // A text that was cut, or two rules of one verdict, would be counted together.
  if (path) return cut(path.text) === path.text ? count('request_path', [path.text]) : null;
  if (firedRules) return firedRules.length === 1 ? count('fired_rule', firedRules) : null;
  return count('none', ['']);
}

interface BlockRow extends Record<string, SqlStorageValue> {
  object: string;
  start: number;
  length: number;
  rows: number;
  minTs: number;
  maxTs: number;
  maxId: string;
}

/** Where a block must lie; over the alias `b`. */
const anywhere: SqlCondition = { where: '1 = 1', bindings: [] };

function olderThan(before: RowKey | null): SqlCondition {
  if (before === null) return anywhere;
  return { where: '(b.max_ts, b.max_id) < (?, ?)', bindings: [before.timestamp, before.id] };
}

function reachingAcross(before: RowKey): SqlCondition {
  return {
    where: '(b.max_ts, b.max_id) >= (?, ?) AND b.min_ts <= ?',
    bindings: [before.timestamp, before.id, before.timestamp],
  };
}

function candidateBlocks(sql: SqlStorage, filter: RowFilter, place: SqlCondition, limit: number): BlockReference[] {
  const parts = [place.where, 'b.max_ts >= ?', 'b.min_ts < ?', 'b.max_fired >= ?'];
  const bindings = [...place.bindings, filter.since, filter.until, filter.minRulesFired];
  const lists = (column: string, values: readonly string[] | null): void => {
    if (values === null) return;
    parts.push(`EXISTS (SELECT 1 FROM json_each(?) WHERE instr(b.${column}, ',' || value || ',') > 0)`);
    bindings.push(JSON.stringify(values));
  };
  lists('outcomes', filter.outcomes && filter.outcomes.map((outcome) => decisions[outcome] ?? ''));
  lists('sources', filter.sources);
  lists('devices', filter.devices);
  const positions = indexedPositions(sql, filter);
  if (positions) {
    parts.push(`(b.segment, b.no) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`);
    bindings.push(JSON.stringify(positions.map(({ segment, block }) => [segment, block])));
  }
  return sql
    .exec<BlockRow>(
      `SELECT s.object, b.start, b.length, b.rows, b.min_ts AS minTs, b.max_ts AS maxTs, b.max_id AS maxId
       FROM blocks AS b JOIN segments AS s ON s.no = b.segment
       WHERE ${parts.join(' AND ')} ORDER BY b.max_ts DESC, b.max_id DESC LIMIT ?`,
      ...bindings,
      limit,
    )
    .toArray();
}

/** The shortest list of blocks that any index gives, or `null` when none helps. */
function indexedPositions(sql: SqlStorage, filter: RowFilter): BlockPosition[] | null {
  const keyed: [IndexKind, readonly string[]][] = [];
  if (filter.jti !== null) keyed.push(['jti', [filter.jti]]);
  if (filter.ip !== null) keyed.push(['ip', [filter.ip]]);
  if (filter.asns) keyed.push(['asn', filter.asns.map(String)]);
  if (filter.path && !filter.path.prefix) keyed.push(['path', [filter.path.text]]);
  if (filter.firedRules) keyed.push(['rule', filter.firedRules]);
  let best: BlockPosition[] | null = null;
  for (const [kind, keys] of keyed) {
    if (keys.length > INDEX_KEYS_MAX) continue;
    const positions = keys.flatMap((key) => blocksWithKey(sql, kind, key));
    if (positions.length <= INDEX_POSITIONS_MAX && (best === null || positions.length < best.length)) best = positions;
  }
  return best;
}
