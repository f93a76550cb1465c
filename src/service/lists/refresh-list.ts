/**
 * One refresh of a list: fetch, read, compare, put in force, and note what became of it. Whatever goes wrong, the last
 * good reading stays in force and the list says why.
 */
import { entryChangesOf } from '../../lists/difference.ts';
import { listErrorText } from '../../lists/list-format.ts';
import { readDecisions } from '../../lists/read-decisions.ts';
import { failed, ok } from '../../result.ts';
import type { Result } from '../../result.ts';
import { authorizationOf, noteListFailure, noteReading } from '../../store/d1/rule-lists.ts';
import type { GoodReading, StoredList } from '../../store/d1/rule-lists.ts';
import { ruleBook } from '../../store/rule-book/client.ts';
import type { ServiceStore } from '../environment.ts';
import type { OutboundSettings } from '../outbound-variables.ts';
import { applyChanges, applyEntries, refusedChange } from './apply-entries.ts';
import type { NotApplied } from './apply-entries.ts';
import { fetchList, streamUrl } from './fetch-list.ts';
import { followChanges } from './follow-changes.ts';
import { readPlainList } from './read-content.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const RETRY_MS = 5 * MINUTE_MS;
const RETRY_MAX_MS = 6 * HOUR_MS;
/** CrowdSec forgets what it deleted, so changes alone are asked for only while none can have been missed. */
const CHANGES_KNOWN_MS = HOUR_MS;
const SYNC_EVERY_MS = 24 * HOUR_MS;
/** Subscribers do not ask a publisher all at once. A share of the interval. */
const JITTER = 0.1;

export interface RefreshContext {
  store: ServiceStore;
  outbound: OutboundSettings;
  now: () => number;
}

/** `acceptChange`: a change of any size. The list has been noted as good or as failing. */
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
  const { settings, failures } = list;
  if (!outcome.ok) {
    const { message, hasChanged } = outcome.error;
    const wait = Math.min(
      RETRY_MS * 2 ** Math.min(failures, 10),
      Math.max(RETRY_MAX_MS, settings.intervalMinutes * MINUTE_MS),
    );
    console.warn(JSON.stringify({ event: 'list-failed', instance: list.instanceId, list: list.name, message }));
    await noteListFailure(context.store, list, message, {
      dueAt: settings.url === null ? null : context.now() + wait,
      nowMs: context.now(),
      mustSync: hasChanged,
    });
    if (hasChanged) await followChanges(context.store, list, context.now());
    return failed(message);
  }
  const interval = settings.intervalMinutes * MINUTE_MS;
  const dueAt = settings.url === null ? null : startedAt + interval + Math.floor(Math.random() * JITTER * interval);
  await noteReading(context.store, list, { ...outcome.value, dueAt }, context.now());
  await followChanges(context.store, list, context.now());
  return ok(null);
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
  const inForce = (await book.lists()).find(({ name }) => name === list.name)?.entries ?? 0;
  // A run that ended early, or a book that was restored, has other entries than the last good reading.
  const isIntact = inForce === list.entries;
  const isStream = settings.format === 'crowdsec';
  const isWhole = !isStream || !isIntact || mustSync(list, now());
  const url = isStream ? streamUrl(settings.url, isWhole) : settings.url;
  // With a new choice of size, what the publisher has not changed has to be read all the same.
  const known = isStream || acceptChange || !isIntact ? { etag: null, lastModified: null } : list;
  const answer = await fetchList(url, authorization, known, outbound);
  if (!answer.ok) return notRead(answer.error);
  const kept = { etag: list.etag, lastModified: list.lastModified, syncedAt: list.syncedAt };
  const layer = { name: list.name, verdict: settings.verdict, mode: settings.mode };
  const maxChange = acceptChange ? null : settings.maxChangePercent;
  if (answer.value.kind === 'unchanged') {
    const put = await book.putList(layer, now());
    return put.ok ? ok({ change: null, ...kept }) : notRead('The instance has too many lists');
  }
  const { body, etag, lastModified } = answer.value;
  if (!isStream) {
    const read = await readPlainList(body, settings);
    if (!read.ok) return notRead(listErrorText(read.error));
    const applied = await applyEntries(book, layer, read.value.entries, maxChange, now);
    if (!applied.ok) return applied;
    return ok({ change: { ...applied.value, report: read.value.report }, etag, lastModified, syncedAt: null });
  }
  const read = await readDecisions(body, settings.verdict, settings.includeReserved);
  if (!read.ok) return notRead(listErrorText(read.error));
  const { added, deleted, report } = read.value;
  const isTooLarge = refusedChange({ present: list.entries, added: added.length, removed: deleted.length }, maxChange);
  if (!isWhole && isTooLarge !== null) return notRead(isTooLarge);
  const applied = isWhole
    ? await applyEntries(book, layer, added, maxChange, now)
    : await applyChanges(book, layer, entryChangesOf(deleted, added), now);
  if (!applied.ok) return applied;
  const syncedAt = isWhole ? now() : list.syncedAt;
  return ok({ change: { ...applied.value, report }, etag: null, lastModified: null, syncedAt });
}

function mustSync({ syncedAt, confirmedAt, failures }: StoredList, nowMs: number): boolean {
  if (syncedAt === null || confirmedAt === null || failures > 0) return true;
  return nowMs - syncedAt > SYNC_EVERY_MS || nowMs - confirmedAt > CHANGES_KNOWN_MS;
}

function notRead(message: string): Result<never, NotApplied> {
  return failed({ message, hasChanged: false });
}
