/**
 * The audit search over all shards of an account: steps through hot rows and columns until the page is
 * full and everything is counted, or the search has looked at its share of rows. Then the total is
 * not exact and the cursor says where to go on; no row is skipped or shown twice.
 */
import { compareNewestFirst } from '../verdict-log/row.ts';
import type { RowKey, StoredRow } from '../verdict-log/row.ts';
import { shard } from '../verdict-log/shards.ts';
import type { ShardEnv } from '../verdict-log/shards.ts';
import type { CaptchaScan, ScanPlace } from './scan.ts';

/** Rows of one shard one search looks at: by a column or two about 100 ms, */
const SEARCHED_ROWS_MAX = 1_000_000;
/** and by the text of every field about 350 ms. */
const TEXT_SEARCHED_ROWS_MAX = 300_000;

export interface CaptchaSearch extends Pick<CaptchaScan, 'conditions' | 'since' | 'until'> {
  /** A smaller share of rows than the usual one. */
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
  // One row more than the page needs tells whether there is a next one.
  const wanted = limit + 1;
  const search = { conditions, since, until };
  const byText = conditions.some((condition) => 'fields' in condition);
  const max = searchedRowsMax ?? (byText ? TEXT_SEARCHED_ROWS_MAX : SEARCHED_ROWS_MAX);
  // The total does not depend on the page: it is counted from the newest row every time.
  const counting = Promise.all(
    names.map((name) => walk(env, name, { ...search, before: null, limit: before ? 0 : wanted, counts: true }, max)),
  );
  const paging = before
    ? Promise.all(names.map((name) => walk(env, name, { ...search, before, limit: wanted, counts: false }, max)))
    : counting;
  const [counted, pages] = await Promise.all([counting, paging]);
  const stops = pages.flatMap(({ stop }) => (stop ? [stop] : [])).sort(compareNewestFirst);
  const stop = stops[0] ?? null;
  const found = pages
    .flatMap(({ rows }) => rows)
    .sort(compareNewestFirst)
    .filter((row) => stop === null || compareNewestFirst(row, stop) <= 0);
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    rows: found.slice(0, limit),
    total: counted.reduce((sum, { counted: share }) => sum + share, 0),
    totalIsExact: counted.every(({ stop: early }) => early === null),
    next: last ? { timestamp: last.timestamp, id: last.id } : stop,
  };
}

interface Walked {
  rows: StoredRow[];
  counted: number;
  /** Rows newer than this, and this one, were all looked at; `null`: so were the older ones. */
  stop: RowKey | null;
}

async function walk(env: ShardEnv, name: string, scan: Omit<CaptchaScan, 'from'>, max: number): Promise<Walked> {
  const { before, limit } = scan;
  let rows: StoredRow[] = [];
  let counted = 0;
  let seen = 0;
  let hotEdge: RowKey | null = null;
  let from: ScanPlace | null = null;
  for (;;) {
    const oldest: StoredRow | undefined = rows[limit - 1];
    const place: RowKey | null | undefined = from?.after;
    const isFull = limit > 0 && oldest && place && compareNewestFirst(oldest, place) < 0;
    if (isFull && !scan.counts) return { rows, counted, stop: hotEdge };
    const step = { ...scan, limit: isFull ? 0 : limit, from };
    // oxlint-disable-next-line no-await-in-loop -- each step begins where the last one ended
    const answer = await shard(env, name).scanCaptchas(step);
    rows = [...rows, ...answer.rows].sort(compareNewestFirst).slice(0, limit);
    counted += answer.counted;
    seen += answer.seen;
    hotEdge ??= answer.hotEdge;
    from = answer.next;
    if (from === null) return { rows, counted, stop: hotEdge };
    // Always past the cursor: else the next page would begin where this one did.
    const isPast = before === null || (from.after !== null && compareNewestFirst(before, from.after) < 0);
    if (seen >= max && isPast) return { rows, counted, stop: hotEdge ?? from.after };
  }
}
