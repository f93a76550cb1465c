/** The networks that operators of bots publish, and when each list is read again. */
import type { StoreEnv } from '../binding.ts';

/** What a conditional request sends. */
export interface RangeValidators {
  etag: string | null;
  lastModified: string | null;
}

/** When a list is read again, and when it was read. */
export interface RangeTimes {
  dueAt: number;
  nowMs: number;
}

export interface KnownRange extends RangeValidators {
  url: string;
  networks: string[];
  /** Failed readings in a row. */
  failures: number;
}

interface RangeRow extends RangeValidators {
  url: string;
  networks: string;
  failures: number;
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.split('\n'));

/**
 * The lists among `urls` that are to be read now, those that wait longest first. Each is put off until `retryAt`, so that
 * a run that ends early leaves its lists to a later one.
 */
export async function takeDueRanges(
  env: StoreEnv,
  urls: readonly string[],
  limit: number,
  nowMs: number,
  retryAt: number,
): Promise<KnownRange[]> {
  const { results } = await env.DB.prepare('SELECT url, due_at AS dueAt FROM bot_ranges').all<{
    url: string;
    dueAt: number;
  }>();
  const dueAt = new Map(results.map((row) => [row.url, row.dueAt]));
  const due = urls
    .filter((url) => (dueAt.get(url) ?? 0) <= nowMs)
    .toSorted((a, b) => (dueAt.get(a) ?? 0) - (dueAt.get(b) ?? 0))
    .slice(0, limit);
  if (due.length === 0) return [];
  const taken = await env.DB.batch<RangeRow>(
    due.map((url) =>
      env.DB.prepare(
        `INSERT INTO bot_ranges (url, due_at) VALUES (?, ?) ON CONFLICT (url) DO UPDATE SET due_at = excluded.due_at
         RETURNING url, networks, etag, last_modified AS lastModified, failures`,
      ).bind(url, retryAt),
    ),
  );
  return taken.flatMap(({ results: rows }) => rows).map((row) => ({ ...row, networks: linesOf(row.networks) }));
}

/** The list is as it was. */
export async function noteUnchanged(env: StoreEnv, url: string, dueAt: number, nowMs: number): Promise<void> {
  await env.DB.prepare(
    'UPDATE bot_ranges SET due_at = ?1, confirmed_at = ?2, tried_at = ?2, failures = 0, error = NULL, pending = NULL WHERE url = ?3',
  )
    .bind(dueAt, nowMs, url)
    .run();
}

/** The list was read. `changed_at` moves only when it is another one. */
export async function keepNetworks(
  env: StoreEnv,
  url: string,
  networks: readonly string[],
  { etag, lastModified }: RangeValidators,
  times: RangeTimes,
): Promise<void> {
  await env.DB.prepare(
    `UPDATE bot_ranges SET due_at = ?1, confirmed_at = ?2, tried_at = ?2, failures = 0, error = NULL, pending = NULL, etag = ?3,
       last_modified = ?4,
       changed_at = CASE WHEN networks = ?5 THEN changed_at ELSE ?2 END, networks = ?5, network_count = ?6
     WHERE url = ?7`,
  )
    .bind(times.dueAt, times.nowMs, etag, lastModified, networks.join('\n'), networks.length, url)
    .run();
}

/** The last good list stays. */
export async function noteFailure(env: StoreEnv, url: string, error: string, times: RangeTimes): Promise<void> {
  await env.DB.prepare(
    'UPDATE bot_ranges SET due_at = ?, tried_at = ?, failures = failures + 1, error = ? WHERE url = ?',
  )
    .bind(times.dueAt, times.nowMs, error, url)
    .run();
}

/** The list changed too much. It waits until somebody accepts it; the last good one stays. */
export async function notePending(
  env: StoreEnv,
  url: string,
  networks: readonly string[],
  error: string,
  times: RangeTimes,
): Promise<void> {
  await env.DB.prepare(
    'UPDATE bot_ranges SET due_at = ?, tried_at = ?, failures = failures + 1, error = ?, pending = ? WHERE url = ?',
  )
    .bind(times.dueAt, times.nowMs, error, networks.join('\n'), url)
    .run();
}

/** Puts a list in force that changed too much. Returns whether there was one. It is read anew without a condition. */
export async function acceptPending(env: StoreEnv, url: string, nowMs: number): Promise<boolean> {
  const { meta } = await env.DB.prepare(
    `UPDATE bot_ranges SET networks = pending, pending = NULL, confirmed_at = ?1, changed_at = ?1, failures = 0,
       error = NULL, etag = NULL, last_modified = NULL,
       network_count = length(pending) - length(replace(pending, char(10), '')) + 1
     WHERE url = ?2 AND pending IS NOT NULL`,
  )
    .bind(nowMs, url)
    .run();
  return meta.changes === 1;
}

/** Lets the next scheduled run read the list. */
export async function readSoon(env: StoreEnv, url: string): Promise<void> {
  await env.DB.prepare('INSERT INTO bot_ranges (url, due_at) VALUES (?, 0) ON CONFLICT (url) DO UPDATE SET due_at = 0')
    .bind(url)
    .run();
}

export interface RangeState {
  url: string;
  networkCount: number;
  confirmedAt: number | null;
  triedAt: number | null;
  changedAt: number | null;
  error: string | null;
  isPending: number;
}

export async function rangeStates(env: StoreEnv): Promise<RangeState[]> {
  const { results } = await env.DB.prepare(
    `SELECT url, network_count AS networkCount, confirmed_at AS confirmedAt, tried_at AS triedAt, changed_at AS changedAt,
       error,
       pending IS NOT NULL AS isPending FROM bot_ranges`,
  ).all<RangeState>();
  return results;
}

/** When each list changed last. A list that was never read is not in it. */
export async function rangeVersions(env: StoreEnv): Promise<{ url: string; changedAt: number }[]> {
  const { results } = await env.DB.prepare(
    'SELECT url, changed_at AS changedAt FROM bot_ranges WHERE changed_at IS NOT NULL ORDER BY url',
  ).all<{ url: string; changedAt: number }>();
  return results;
}

/** Every list that was read, by its address. */
export async function readRanges(env: StoreEnv): Promise<Map<string, string[]>> {
  const { results } = await env.DB.prepare('SELECT url, networks FROM bot_ranges WHERE changed_at IS NOT NULL').all<{
    url: string;
    networks: string;
  }>();
  return new Map(results.map(({ url, networks }) => [url, linesOf(networks)]));
}
