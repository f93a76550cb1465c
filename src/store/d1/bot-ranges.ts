/** The networks that operators of bots publish, and when each list is read again. */
import { statement } from '../sql.ts';
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
  const { results } = await statement(env)`SELECT url, due_at AS dueAt
  FROM bot_ranges`.all<{ url: string; dueAt: number }>();
  const dueAt = new Map(results.map((row) => [row.url, row.dueAt]));
  const due = urls
    .filter((url) => (dueAt.get(url) ?? 0) <= nowMs)
    .toSorted((a, b) => (dueAt.get(a) ?? 0) - (dueAt.get(b) ?? 0))
    .slice(0, limit);
  if (due.length === 0) return [];
  const taken = await env.DB.batch<RangeRow>(
    due.map(
      (url) =>
        statement(env)`
        INSERT INTO bot_ranges (url, due_at) VALUES (${url}, ${retryAt}) ON CONFLICT (url) DO UPDATE
          SET due_at = excluded.due_at
        RETURNING url, networks, etag, last_modified AS lastModified, failures`,
    ),
  );
  return taken.flatMap(({ results: rows }) => rows).map((row) => ({ ...row, networks: linesOf(row.networks) }));
}

/** The list is as it was. */
export async function noteUnchanged(env: StoreEnv, url: string, dueAt: number, nowMs: number): Promise<void> {
  await statement(env)`
    UPDATE bot_ranges SET due_at = ${dueAt}, confirmed_at = ${nowMs}, tried_at = ${nowMs}, failures = 0, error = NULL,
      pending = NULL WHERE url = ${url}`.run();
}

/** The list was read. `changed_at` moves only when it is another one. */
export async function keepNetworks(
  env: StoreEnv,
  url: string,
  networks: readonly string[],
  { etag, lastModified }: RangeValidators,
  times: RangeTimes,
): Promise<void> {
  await statement(env)`
    UPDATE bot_ranges SET due_at = ${times.dueAt}, confirmed_at = ${times.nowMs}, tried_at = ${times.nowMs},
      failures = 0, error = NULL, pending = NULL, etag = ${etag},
      last_modified = ${lastModified},
      changed_at = CASE WHEN networks = ${networks.join('\n')} THEN changed_at ELSE ${times.nowMs} END,
      networks = ${networks.join('\n')}, network_count = ${networks.length}
    WHERE url = ${url}`.run();
}

/** The last good list stays. */
export async function noteFailure(env: StoreEnv, url: string, error: string, times: RangeTimes): Promise<void> {
  await statement(env)`
    UPDATE bot_ranges SET due_at = ${times.dueAt}, tried_at = ${times.nowMs}, failures = failures + 1,
      error = ${error} WHERE url = ${url}`.run();
}

/** The list changed too much. It waits until somebody accepts it; the last good one stays. */
export async function notePending(
  env: StoreEnv,
  url: string,
  networks: readonly string[],
  error: string,
  times: RangeTimes,
): Promise<void> {
  await statement(env)`
    UPDATE bot_ranges SET due_at = ${times.dueAt}, tried_at = ${times.nowMs}, failures = failures + 1,
      error = ${error}, pending = ${networks.join('\n')} WHERE url = ${url}`.run();
}

/** Puts a list in force that changed too much. Returns whether there was one. It is read anew without a condition. */
export async function acceptPending(env: StoreEnv, url: string, nowMs: number): Promise<boolean> {
  const { meta } = await statement(env)`
    UPDATE bot_ranges SET networks = pending, pending = NULL, confirmed_at = ${nowMs}, changed_at = ${nowMs},
      failures = 0,
      error = NULL, etag = NULL, last_modified = NULL,
      network_count = length(pending) - length(replace(pending, char(10), '')) + 1
    WHERE url = ${url} AND pending IS NOT NULL`.run();
  return meta.changes === 1;
}

/** Lets the next scheduled run read the list. */
export async function readSoon(env: StoreEnv, url: string): Promise<void> {
  await statement(env)`
    INSERT INTO bot_ranges (url, due_at) VALUES (${url}, 0) ON CONFLICT (url) DO UPDATE SET due_at = 0`.run();
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
  const { results } = await statement(env)`
    SELECT url, network_count AS networkCount, confirmed_at AS confirmedAt, tried_at AS triedAt,
      changed_at AS changedAt,
    error,
    pending IS NOT NULL AS isPending FROM bot_ranges`.all<RangeState>();
  return results;
}

/** When each list changed last. A list that was never read is not in it. */
export async function rangeVersions(env: StoreEnv): Promise<{ url: string; changedAt: number }[]> {
  const { results } = await statement(env)`
    SELECT url, changed_at AS changedAt FROM bot_ranges
    WHERE changed_at IS NOT NULL ORDER BY url`.all<{ url: string; changedAt: number }>();
  return results;
}

/** Every list that was read, by its address. */
export async function readRanges(env: StoreEnv): Promise<Map<string, string[]>> {
  const { results } = await statement(env)`SELECT url, networks FROM bot_ranges
  WHERE changed_at IS NOT NULL`.all<{ url: string; networks: string }>();
  return new Map(results.map(({ url, networks }) => [url, linesOf(networks)]));
}
