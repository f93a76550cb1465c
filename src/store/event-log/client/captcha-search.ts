/**
 * The audit search over all shards of an account. It steps through unsealed rows and runs of sealed ones until the page
 * is full and everything is counted, or until it reaches its limit of rows. At the limit the total is not exact, and
 * the cursor marks where to continue. No row is skipped or shown twice.
 */
import { compareNewestFirst, type RowKey, type StoredRow } from '../log-row.ts';
import { shard, type ShardEnv } from './shards.ts';
import { byColumn } from '../captcha-condition.ts';
import type { CaptchaScan, ScanPosition } from '../shard-rpc.ts';

/** Rows of one shard that one search reads when keys alone count them: about 100 ms. */
const KEYS_SEARCHED_ROWS_MAX = 20_000_000;
/** The same when it reads the places of one or two columns. */
const SEARCHED_ROWS_MAX = 2_000_000;
/** The same when it reads the text of every field: about 350 ms. */
const TEXT_SEARCHED_ROWS_MAX = 300_000;
/** An erasure during a search is rare. After several in a row the search fails instead of starting again. */
const STARTS_MAX = 4;

export interface CaptchaSearch extends Pick<CaptchaScan, 'conditions' | 'since' | 'until'> {
  /** A smaller limit of rows than the default. */
  searchedRowsMax?: number;
}

export interface FoundCaptchas {
  /** Newest first. */
  rows: StoredRow[];
  total: number;
  totalIsExact: boolean;
  next: RowKey | null;
}

export async function scanShards(
  env: ShardEnv,
  names: readonly string[],
  { conditions, since, until, searchedRowsMax }: CaptchaSearch,
  before: RowKey | null,
  limit: number,
): Promise<FoundCaptchas> {
  // One row more than the page needs shows whether there is a next page.
  const search = { conditions, since, until, before, limit: limit + 1 };
  const max = searchedRowsMax ?? shareOf(conditions);
  const walks = await Promise.all(names.map((name) => walk(env, name, search, max)));
  const stops = walks.flatMap(({ stop }) => (stop ? [stop] : [])).sort(compareNewestFirst);
  const stop = stops[0] ?? null;
  const found = walks
    .flatMap(({ rows }) => rows)
    .sort(compareNewestFirst)
    .filter((row) => stop === null || compareNewestFirst(row, stop) <= 0);
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    rows: found.slice(0, limit),
    total: walks.reduce((sum, { counted }) => sum + counted, 0),
    totalIsExact: walks.every(({ isExact }) => isExact),
    next: last ? { timestamp: last.timestamp, id: last.id } : stop,
  };
}

function shareOf(conditions: CaptchaSearch['conditions']): number {
  if (conditions.some((condition) => !byColumn(condition))) return TEXT_SEARCHED_ROWS_MAX;
  return conditions.length > 1 ? SEARCHED_ROWS_MAX : KEYS_SEARCHED_ROWS_MAX;
}

interface Walked {
  rows: StoredRow[];
  /** Matches among the newest rows, up to the limit: the same for every page. */
  counted: number;
  isExact: boolean;
  /** This row and every newer row was searched; `null`: the older rows were searched too. */
  stop: RowKey | null;
}

type WalkScan = Omit<CaptchaScan, 'from' | 'counts'>;

async function walk(env: ShardEnv, name: string, scan: WalkScan, max: number): Promise<Walked> {
  for (let start = 1; start < STARTS_MAX; start += 1) {
    const walked = await walkOnce(env, name, scan, max);
    if (walked !== 'stale') return walked;
  }
  throw new Error(`Rows of ${name} were erased several times during one search`);
}

async function walkOnce(env: ShardEnv, name: string, scan: WalkScan, max: number): Promise<Walked | 'stale'> {
  const { before, limit } = scan;
  let rows: StoredRow[] = [];
  let counted = 0;
  let counts = true;
  let seen = 0;
  let from: ScanPosition | null = null;
  for (;;) {
    const oldest: StoredRow | undefined = rows[limit - 1];
    const reached: RowKey | null | undefined = from?.after;
    const isFull = oldest && reached && compareNewestFirst(oldest, reached) < 0;
    if (isFull && !counts) return { rows, counted, isExact: false, stop: null };
    const step: CaptchaScan = { ...scan, counts, limit: isFull ? 0 : limit, from };
    const result = await shard(env, name).scanCaptchas(step);
    if (result.isStale) return 'stale';
    rows = [...rows, ...result.rows].sort(compareNewestFirst).slice(0, limit);
    counted += result.counted;
    seen += result.seen;
    from = result.next;
    if (from === null) return { rows, counted, isExact: counts, stop: null };
    if (seen < max) continue;
    counts = false;
    // Always go past the cursor, or the next page would start where this one did.
    const isPast = before === null || (from.after !== null && compareNewestFirst(before, from.after) < 0);
    if (isPast) return { rows, counted, isExact: false, stop: from.after };
  }
}
