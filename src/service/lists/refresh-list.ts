/**
 * One refresh of a list: fetch, read, compare, put in force, and note what became of it. Whatever goes wrong, the last
 * good reading stays in force and the list says why.
 */
import type { ListSettings } from '../../contract/management/lists.ts';
import type { ChangeBounds } from '../../lists/difference.ts';
import { listErrorText } from '../../lists/list-format.ts';
import { readDecisionStream } from '../../lists/read-decisions.ts';
import { failed, ok, type Result } from '../../result.ts';
import {
  beginReading,
  dueLists,
  type GoodReading,
  listsThatExpire,
  lostReadings,
  noteExpired,
  noteListFailure,
  noteReading,
} from '../../store/d1/rule-list-readings.ts';
import { authorizationOf, type StoredList } from '../../store/d1/rule-lists.ts';
import { ruleBook } from '../../store/rule-book/client.ts';
import type { ServiceStore } from '../environment.ts';
import type { OutboundSettings } from '../outbound-variables.ts';
import { applyEntries, applyTold, type NotApplied } from './apply-entries.ts';
import { fetchList, streamUrl } from './fetch-list.ts';
import { followChanges } from './follow-changes.ts';
import { readPlainList } from './read-once.ts';

const MINUTE_MS = 60_000;
/** Longer than a reading takes: a run that has not ended by then was stopped. */
export const READING_MS = 10 * MINUTE_MS;
const HOUR_MS = 3_600_000;
const RETRY_MS = 5 * MINUTE_MS;
const RETRY_MAX_MS = 6 * HOUR_MS;
/** CrowdSec forgets what it deleted, so changes alone are asked for only while none can have been missed. */
const CHANGES_KNOWN_MS = HOUR_MS;
const SYNC_EVERY_MS = 24 * HOUR_MS;
/**
 * Changes that no publisher has to ask for. CrowdSec's are decisions of the operator's own system, which come and go by
 * the thousand.
 */
const CHANGE_FLOOR = 10;
const DECISIONS_FLOOR = 10_000;
/** Subscribers do not ask a publisher all at once. A share of the interval. */
const JITTER = 0.1;

interface RefreshContext {
  store: ServiceStore;
  outbound: OutboundSettings;
  now: () => number;
}

/** `list`: as `beginReading` returned it. `acceptChange`: a change of any size. The list has been noted as good or failing. */
export async function refreshList(
  context: RefreshContext,
  list: StoredList,
  acceptChange = false,
): Promise<Result<null, string>> {
  const startedAt = context.now();
  const outcome = await readAndApply(context, list, acceptChange).catch((error: unknown) => {
    console.error(
      JSON.stringify({ level: 'error', event: 'list-refresh-failed', list: list.name, message: String(error) }),
    );
    return failed({ message: 'The list could not be stored', hasChanged: true });
  });
  if (outcome.ok) {
    const interval = list.settings.intervalMinutes * MINUTE_MS;
    const dueAt = startedAt + interval + Math.floor(Math.random() * JITTER * interval);
    await noteReading(context.store, list, { ...outcome.value, dueAt }, context.now());
  } else await noteFailed(context, list, outcome.error.message, outcome.error.hasChanged);
  await followChanges(context.store, list, context.now());
  return outcome.ok ? ok(null) : failed(outcome.error.message);
}

/** The run that has the list could not read it, or was stopped. It is tried again after growing pauses. */
async function noteFailed(
  { store, now }: RefreshContext,
  list: StoredList,
  message: string,
  hasChanged: boolean,
): Promise<void> {
  const { settings, failures } = list;
  const wait = Math.min(RETRY_MS * 2 ** Math.min(failures, 10), RETRY_MAX_MS);
  console.warn(JSON.stringify({ event: 'list-failed', instance: list.instanceId, list: list.name, message }));
  const dueAt = settings.url === null ? null : now() + wait;
  await noteListFailure(store, list, message, { dueAt, nowMs: now(), mustSync: hasChanged });
}

/** What a reading may change without being asked about. */
export function changeBounds({ format, maxChangePercent }: ListSettings): ChangeBounds {
  return { maxPercent: maxChangePercent, floor: format === 'crowdsec' ? DECISIONS_FLOOR : CHANGE_FLOOR };
}

type Reading = Omit<GoodReading, 'dueAt'>;

async function readAndApply(
  context: RefreshContext,
  list: StoredList,
  acceptChange: boolean,
): Promise<Result<Reading, NotApplied>> {
  const { store, outbound, now } = context;
  const { settings } = list;
  if (settings.url === null) return notRead('The list is a file. Replace it');
  const authorization = list.hasAuthorization ? await authorizationOf(store, list) : null;
  const book = ruleBook(store, list.instanceId);
  const inForce = (await book.lists()).find(({ name }) => name === list.name);
  // A run that was stopped, or a book that was restored, has other entries than the last good reading.
  const isIntact = (inForce?.entries ?? 0) === list.entries;
  const isStream = settings.format === 'crowdsec';
  const isOtherVerdict = isStream && inForce !== undefined && inForce.verdict !== settings.verdict;
  const isWhole = !isStream || !isIntact || isOtherVerdict || mustSync(list, now());
  const url = isStream ? streamUrl(settings.url, isWhole) : settings.url;
  // With a new choice of size, what the publisher has not changed has to be read all the same.
  const known = isStream || acceptChange || !isIntact ? { etag: null, lastModified: null } : list;
  const answer = await fetchList(url, authorization, known, outbound);
  if (!answer.ok) return notRead(answer.error);
  const kept = { etag: list.etag, lastModified: list.lastModified, syncedAt: list.syncedAt };
  const layer = { name: list.name, verdict: settings.verdict, mode: settings.mode };
  // The other decisions of another verdict are what the operator asked for.
  const bounds = acceptChange || isOtherVerdict ? null : changeBounds(settings);
  if (answer.value.kind === 'unchanged') {
    const put = await book.putList(layer, now());
    return put.ok ? ok({ change: null, ...kept }) : notRead('The instance has too many lists');
  }
  const { body, etag, lastModified } = answer.value;
  if (!isStream) {
    const read = await readPlainList(body, settings);
    if (!read.ok) return notRead(listErrorText(read.error));
    const applied = await applyEntries(book, layer, read.value.entries, bounds, now);
    if (!applied.ok) return applied;
    return ok({ change: { ...applied.value, report: read.value.report }, etag, lastModified, syncedAt: null });
  }
  const read = await readDecisionStream(body, settings.verdict, settings.includeReserved);
  if (!read.ok) return notRead(listErrorText(read.error));
  const { added, deleted, report } = read.value;
  const applied = isWhole
    ? await applyEntries(book, layer, added, bounds, now)
    : await applyTold(book, layer, { present: list.entries, deleted, added }, bounds, now);
  if (!applied.ok) return applied;
  const syncedAt = isWhole ? now() : list.syncedAt;
  return ok({ change: { ...applied.value, report }, etag: null, lastModified: null, syncedAt });
}

function mustSync({ settings, syncedAt, confirmedAt, failures }: StoredList, nowMs: number): boolean {
  // A value may be banned and have to solve a captcha, and a deletion does not say whether the other one is left.
  if (settings.verdict !== 'block') return true;
  if (syncedAt === null || confirmedAt === null || failures > 0) return true;
  return nowMs - syncedAt > SYNC_EVERY_MS || nowMs - confirmedAt > CHANGES_KNOWN_MS;
}

function notRead(message: string): Result<never, NotApplied> {
  return failed({ message, hasChanged: false });
}

/** One task must not use up the time and the subrequests of the whole run. */
const LISTS_PER_RUN = 4;
const RUN_MS = 4 * 60_000;
const LOST_PER_RUN = 20;
const EXPIRED_PER_RUN = 20;

/**
 * The scheduled reading of lists: a few in each run, one after the other, because a list of a million entries takes
 * much of an isolate's memory. A list that was not read well for longer than it may be loses its effect. `nowMs`: which
 * lists are due. What a reading holds and notes is by the clock, because readings before it take time.
 */
export async function refreshDueLists(store: ServiceStore, nowMs: number, outbound: OutboundSettings): Promise<void> {
  const context = { store, outbound, now: Date.now };
  for (const lost of await lostReadings(store, LOST_PER_RUN, nowMs)) {
    await noteFailed(context, lost, 'The last reading did not end. The list may be too large', true);
  }
  const endsAt = Date.now() + RUN_MS;
  for (const due of await dueLists(store, LISTS_PER_RUN, nowMs)) {
    if (Date.now() > endsAt) break;
    const list = await beginReading(store, due, Date.now() + READING_MS, Date.now());
    if (list !== null) await refreshList(context, list);
  }
  for (const due of await listsThatExpire(store, EXPIRED_PER_RUN, nowMs)) {
    const list = await beginReading(store, due, Date.now() + READING_MS, Date.now());
    if (list === null) continue;
    await ruleBook(store, list.instanceId).removeList(list.name, nowMs);
    await noteExpired(store, list);
    console.warn(JSON.stringify({ event: 'list-expired', instance: list.instanceId, list: list.name }));
  }
}
