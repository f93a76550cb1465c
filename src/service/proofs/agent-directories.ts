/**
 * The keys of an agent, from its directory or as they were last fetched. A directory that cannot be fetched takes no key
 * away; one that was fetched without a key does. What strangers can make the service fetch is bounded: each instance
 * may name so many new agents an hour, a directory is fetched once at a time, and not again soon after a failure.
 */
import { polled, type WaitUntil } from '../../bytes/polled.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { parseJson } from '../../bytes/json.ts';
import { readKeySet } from '../../bots/signatures/key-set.ts';
import type { BotKeys } from '../../contract/edge/bot-calls.ts';
import { failed, ok, type Result } from '../../result.ts';
import {
  noteDirectoryFailure,
  type StoredDirectory,
  storedDirectory,
  storeDirectory,
} from '../../store/d1/bot-directories.ts';
import { countUses } from '../../store/spend-ledger/client/count-uses.ts';
import type { ServiceEnvironment } from '../environment.ts';
import { fetchPublic, type OutboundFault } from './outbound.ts';

interface DirectoryCall extends Pick<ServiceEnvironment, 'store' | 'outbound'> {
  instance: { id: string };
  nowMs: number;
  waitUntil: WaitUntil;
}

const ACCEPT = 'application/http-message-signatures-directory+json, application/jwk-set+json, application/json';
const DIRECTORY_MAX_BYTES = 64 * 1024;
/** What a directory may ask for with `max-age`, and what counts without it. */
const MAX_AGE_SECONDS = { least: 300, most: 86_400, usual: 3600 };
/** As long as a failure counts at most, by the profile. */
const FAILURE_MS = 300_000;
/** A key that is not listed may be new: the directory is then fetched before its time. */
const MISSING_KEY_REFETCH_MS = 60_000;
const NEW_AGENTS_PER_HOUR = 100;
const HOUR_MS = 3_600_000;
/** Longer than a fetch takes. Then the call that fetches is gone, and its result does not come. */
const SHARED_FETCH_MS = 15_000;

/** Of agents without a stored directory. An isolate remembers so many. */
const failures = new BoundedMap<number>(1000);
/** What a call that fetches leaves for the others, which await no promise of it (`bytes/polled.ts`). */
const underWay = new Map<string, { fetched?: Fetched }>();

type Fetched = Result<
  Omit<StoredDirectory, 'failedUntil'>,
  { kind: OutboundFault['kind'] | 'no-key-set' | 'no-result' }
>;

export async function agentKeys(call: DirectoryCall, directory: string, keyid: string | null): Promise<BotKeys> {
  const { store, nowMs } = call;
  const known = await storedDirectory(store, directory);
  if (known !== null && !isDue(known, keyid, nowMs)) return answerOf(known, nowMs);
  const failedUntil = failures.get(directory) ?? 0;
  if (failedUntil > nowMs) return nothing(failedUntil - nowMs);
  if (known === null && !(await mayFetchNew(call))) return nothing(MISSING_KEY_REFETCH_MS);

  const fetched = await fetchOnce(call, directory);
  if (fetched.ok) return answerOf({ ...fetched.value, failedUntil: 0 }, nowMs);
  const again = nowMs + FAILURE_MS;
  if (known === null) {
    failures.set(directory, again);
    return nothing(FAILURE_MS);
  }
  await noteDirectoryFailure(store, directory, again);
  return answerOf({ ...known, failedUntil: again }, nowMs);
}

function isDue({ keys, fetchedAt, freshUntil, failedUntil }: StoredDirectory, keyid: string | null, nowMs: number) {
  if (failedUntil > nowMs) return false;
  const isListed = keyid === null || keys.some((key) => key.keyid === keyid);
  return freshUntil <= nowMs || (!isListed && fetchedAt + MISSING_KEY_REFETCH_MS <= nowMs);
}

function answerOf({ keys, freshUntil, failedUntil }: StoredDirectory, nowMs: number): BotKeys {
  const isFetched = freshUntil > nowMs;
  const untilMs = isFetched ? freshUntil : failedUntil;
  return { isFetched, keys: [...keys], maxAgeSeconds: secondsOf(untilMs - nowMs) };
}

function nothing(forMs: number): BotKeys {
  return { isFetched: false, keys: [], maxAgeSeconds: secondsOf(forMs) };
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}

function mayFetchNew({ store, instance }: DirectoryCall): Promise<boolean> {
  const together = { purpose: 'agents', site: instance.id, group: '', windowMs: HOUR_MS };
  return countUses(store, together, [{ key: 'new', limit: NEW_AGENTS_PER_HOUR }]);
}

/** Calls of one isolate for one directory share a fetch. It goes on when the call that began it is gone. */
async function fetchOnce(call: DirectoryCall, directory: string): Promise<Fetched> {
  const shared = underWay.get(directory);
  if (shared !== undefined)
    return (await polled(() => shared.fetched, SHARED_FETCH_MS)) ?? failed({ kind: 'no-result' });
  const own: { fetched?: Fetched } = {};
  underWay.set(directory, own);
  const work = fetchDirectory(call, directory)
    .then((fetched) => (own.fetched = fetched))
    .finally(() => underWay.delete(directory));
  call.waitUntil(work);
  return work;
}

async function fetchDirectory({ store, outbound, nowMs }: DirectoryCall, directory: string): Promise<Fetched> {
  const answer = await fetchPublic(directory, ACCEPT, DIRECTORY_MAX_BYTES, outbound);
  const keys = answer.ok ? await readKeySet(parseJson(answer.value.body), nowMs) : null;
  if (!answer.ok || keys === null) {
    const why = answer.ok ? 'no-key-set' : answer.error.kind;
    console.warn(JSON.stringify({ event: 'agent-directory-failed', directory, why }));
    return failed({ kind: why });
  }
  const found = { keys, fetchedAt: nowMs, freshUntil: nowMs + maxAgeOf(answer.value.headers) * 1000 };
  await storeDirectory(store, directory, found);
  return ok(found);
}

function maxAgeOf(headers: Headers): number {
  const { least, most, usual } = MAX_AGE_SECONDS;
  const control = headers.get('cache-control') ?? '';
  if (/\bno-(store|cache)\b/i.test(control)) return least;
  const asked = /\bmax-age="?(\d{1,9})/i.exec(control)?.[1];
  return asked === undefined ? usual : Math.min(most, Math.max(least, Number(asked)));
}
