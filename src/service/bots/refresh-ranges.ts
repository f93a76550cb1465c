/**
 * The scheduled reading of published networks: a few lists in each run, each about once a day. A list that cannot be
 * read leaves the last good one in force, and so does one that changed by more than half until somebody accepts it.
 */
import type { RangeSource } from '../../bots/catalogue.ts';
import { isLargeChange } from '../../bots/ranges/read-networks.ts';
import {
  keepNetworks,
  type KnownRange,
  noteFailure,
  notePending,
  noteUnchanged,
  type RangeTimes,
  takeDueRanges,
} from '../../store/d1/bot-ranges.ts';
import type { ServiceStore } from '../environment.ts';
import { botCatalogue } from './bot-catalogue.ts';
import { fetchNetworks } from './fetch-networks.ts';

/** One task must not use up the subrequests of the whole run. */
const LISTS_PER_RUN = 8;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Publishers are not asked by every deployment at once. */
const JITTER_MS = 2 * HOUR_MS;
const RETRY_MS = 10 * 60_000;

export async function refreshRanges(store: ServiceStore, nowMs: number): Promise<void> {
  const { rangeSources } = botCatalogue;
  const sources = new Map(rangeSources.map((source) => [source.url, source]));
  const due = await takeDueRanges(store, [...sources.keys()], LISTS_PER_RUN, nowMs, nowMs + RETRY_MS);
  await Promise.all(
    due.map(async (known) => {
      const source = sources.get(known.url);
      if (source !== undefined) await refresh(store, source, known, nowMs);
    }),
  );
}

async function refresh(store: ServiceStore, source: RangeSource, known: KnownRange, nowMs: number): Promise<void> {
  const { url, failures } = known;
  const read = await fetchNetworks(source, known, store.BOT_RANGES_BASE ?? null);
  const soon = nowMs + Math.min(DAY_MS, RETRY_MS * 2 ** Math.min(failures, 10));
  if (!read.ok) return fail(store, known, read.error, { dueAt: soon, nowMs });
  const dueAt = nowMs + DAY_MS + Math.floor(Math.random() * JITTER_MS);
  if (read.value.kind === 'unchanged') return noteUnchanged(store, url, dueAt, nowMs);
  const { networks, ...validators } = read.value;
  if (isLargeChange(known.networks, networks)) {
    const sizes = `${known.networks.length} networks before, ${networks.length} now`;
    const error = `More than half of the list changed: ${sizes}`;
    warn(url, error);
    return notePending(store, url, networks, error, { dueAt, nowMs });
  }
  return keepNetworks(store, url, networks, validators, { dueAt, nowMs });
}

async function fail(
  store: ServiceStore,
  { url, networks }: KnownRange,
  error: string,
  times: RangeTimes,
): Promise<void> {
  // A list that was good and no longer is. One that never was proves nothing, before as after.
  if (networks.length > 0) warn(url, error);
  await noteFailure(store, url, error, times);
}

function warn(url: string, message: string): void {
  console.warn(JSON.stringify({ event: 'bot-ranges-failed', url, message }));
}
