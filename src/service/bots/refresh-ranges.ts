/**
 * The scheduled reading of published networks: a few lists in each run, each about once a day. A list that cannot be
 * read leaves the last good one in force, and so does one that changed by more than half until somebody accepts it.
 */
import type { RangeSource } from '../../bots/catalogue.ts';
import { isLargeChange, networksErrorText, readNetworks } from '../../bots/ranges/read-networks.ts';
import {
  keepNetworks,
  type KnownRange,
  noteFailure,
  notePending,
  noteUnchanged,
  type RangeTimes,
  type RangeValidators,
  takeDueRanges,
} from '../../store/d1/bot-ranges.ts';
import type { ServiceStore } from '../environment.ts';
import { botCatalogue } from './bot-catalogue.ts';
import { readBounded } from '../../bytes/read-bounded.ts';
import { failed, ok, type Result } from '../../result.ts';

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
  if (read.value.kind === 'absent') {
    const error = 'The mirror no longer has this list';
    return known.networks.length === 0 ? undefined : fail(store, known, error, { dueAt: soon, nowMs });
  }
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

const TIMEOUT_MS = 15_000;
/** The longest list has some thousand lines. */
const BODY_MAX_BYTES = 2 * 1024 * 1024;
const REDIRECTS_MAX = 3;
const VALIDATOR_MAX_CHARS = 256;
/** Lists are sent as JSON, as text, or as bytes without a type. */
const LIST_TYPE =
  /^(application\/([\w.-]+\+)?json|application\/octet-stream|binary\/octet-stream|text\/(plain|csv|json))\s*(;|$)/i;

/** `absent`: a mirror need not have every list. */
type NetworksReading =
  | { kind: 'unchanged' }
  | { kind: 'absent' }
  | ({ kind: 'read'; networks: string[] } & RangeValidators);

/**
 * Reads a list of networks from its publisher: within bounds of size and time, only from the host that the catalogue
 * names, and conditionally, because most lists change a few times a year. `base`: where copies of the lists are, under
 * `/host/path`; `null` for the publishers themselves.
 */
async function fetchNetworks(
  source: RangeSource,
  known: RangeValidators,
  base: string | null,
): Promise<Result<NetworksReading, string>> {
  const address = new URL(base === null ? source.url : `${base}/${source.url.slice('https://'.length)}`);
  const headers = new Headers({ accept: 'application/json, text/plain, text/csv', 'user-agent': 'gatehouse-ranges/1' });
  if (known.etag !== null) headers.set('if-none-match', known.etag);
  if (known.lastModified !== null) headers.set('if-modified-since', known.lastModified);
  const answer = await ask(address, { headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) return answer;
  const response = answer.value;
  if (response.status === 304 && (known.etag ?? known.lastModified) !== null) return ok({ kind: 'unchanged' });
  if (response.status === 404 && base !== null) {
    await response.body?.cancel();
    return ok({ kind: 'absent' });
  }
  const refusal = refusalOf(response);
  if (refusal !== null || response.body === null) {
    await response.body?.cancel();
    return failed(refusal ?? 'The answer names no network');
  }
  const body = await readBounded(response.body, BODY_MAX_BYTES, { timeoutMs: TIMEOUT_MS });
  if (!body.ok) return failed(body.error.kind === 'too-large' ? 'The answer is too long' : 'The answer broke off');
  const networks = readNetworks(new TextDecoder().decode(body.value), source);
  if (!networks.ok) return failed(networksErrorText(networks.error));
  return ok({
    kind: 'read',
    networks: networks.value,
    etag: validator(response, 'etag'),
    lastModified: validator(response, 'last-modified'),
  });
}

function refusalOf({ status, headers }: Response): string | null {
  if (status !== 200) return `The publisher answers with status ${status}`;
  const type = headers.get('content-type');
  if (type !== null && !LIST_TYPE.test(type)) {
    return /html/i.test(type) ? 'The answer is a web page' : 'The answer is no text';
  }
  return Number(headers.get('content-length')) > BODY_MAX_BYTES ? 'The answer is too long' : null;
}

/** Follows redirects that stay on their host. Another host may be anybody's, or inside a network. */
async function ask(address: URL, init: RequestInit): Promise<Result<Response, string>> {
  let url = address;
  for (let step = 0; step <= REDIRECTS_MAX; step++) {
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (error) {
      return failed(error instanceof Error && error.name === 'TimeoutError' ? 'No answer in time' : 'No connection');
    }
    const location = response.status >= 301 && response.status <= 308 ? response.headers.get('location') : null;
    if (location === null || response.status === 304) return ok(response);
    await response.body?.cancel();
    if (!URL.canParse(location, url.href)) return failed('The redirect has no address');
    const next = new URL(location, url);
    if (next.origin !== url.origin) return failed('The publisher redirects to another host');
    url = next;
  }
  return failed('The publisher redirects too often');
}

function validator({ headers }: Response, name: string): string | null {
  const value = headers.get(name);
  return value !== null && value.length <= VALIDATOR_MAX_CHARS ? value : null;
}
