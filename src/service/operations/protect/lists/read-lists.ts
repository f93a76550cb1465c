/**
 * Readings of lists that a caller asks for. Each is a fetch from a third party and much work, so their number is
 * bounded.
 */
import { RateLimit } from '../../../http/rate-limit.ts';
import { type Operation, type OperationContext, protectOperation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import * as z from 'zod/mini';
import { listName, listStatus } from '../../../../contract/management/lists.ts';
import { beginReading, endReading, noteListFailure, noteReading } from '../../../../store/d1/rule-list-readings.ts';
import { findList } from '../../../../store/d1/rule-lists.ts';
import { changeBounds, READING_MS, refreshList } from '../../../lists/refresh-list.ts';
import { instanceOfCall, chosenSiteKey, instanceRuleBook } from '../chosen-instance.ts';
import { beingRead, listResponse, noSuchList } from './lists.ts';
import { listErrorText } from '../../../../lists/list-format.ts';
import { applyEntries } from '../../../lists/apply-entries.ts';
import { followChanges } from '../../../lists/follow-changes.ts';
import { readContent } from '../../../lists/read-once.ts';
import { failed } from '../../../../result.ts';

/** Per account, in one isolate. */
const READINGS_PER_MINUTE = 60;
const readings = new RateLimit(READINGS_PER_MINUTE);

/** @throws OperationError 429. */
export function checkReadings({ account, nowMs }: Pick<OperationContext<unknown>, 'account' | 'nowMs'>): void {
  if (readings.take(account.id, nowMs) === null) return;
  throw new OperationError('API.RATE_LIMITED', `At most ${READINGS_PER_MINUTE} readings a minute. Try again later`);
}

/** A million addresses, one in a line. */
export const CONTENT_MAX_BODY_BYTES = 17 * 1024 * 1024;

export const listReadingOperations: readonly Operation[] = [
  /** Reads a list now. What went wrong is in the list's `error`, and the last good reading stays in force. */
  protectOperation({
    name: 'refresh-rule-list',
    path: '/protect/lists/refresh',
    access: 'write',
    summary: 'Read a list now',
    body: z.strictObject({
      siteKey: chosenSiteKey,
      name: listName,
      /** Once, a change of any size. */
      acceptChange: z._default(z.boolean(), false),
    }),
    response: z.object({ isRead: z.boolean(), list: listStatus }),
    async handler({ body: { siteKey: wanted, name, acceptChange }, ...context }) {
      const { store, outbound } = context;
      const instance = await instanceOfCall(context, wanted);
      const list = await findList(store, instance.id, name);
      if (list === null) throw noSuchList();
      if (list.settings.url === null) {
        throw new OperationError('API.CONFLICT', 'This list is a file. Send its content to /protect/lists/replace');
      }
      checkReadings(context);
      context.changes.name('list', name);
      const held = await beginReading(store, list, Date.now() + READING_MS, Date.now());
      if (held === null) throw beingRead();
      const refreshed = await refreshList({ store, outbound, now: Date.now }, held, acceptChange);
      const now = await findList(store, instance.id, name);
      if (now === null) throw noSuchList();
      return { isRead: refreshed.ok, list: listResponse(now) };
    },
  }),
  /**
   * Makes a file the whole content of a list. Entries that are not in the file leave the list; a file with mistakes is
   * taken without them, and the report names them.
   */
  protectOperation({
    name: 'replace-rule-list',
    path: '/protect/lists/replace',
    access: 'write',
    summary: 'Replace the content of a list with a file',
    maxBodyBytes: CONTENT_MAX_BODY_BYTES,
    body: z.strictObject({
      siteKey: chosenSiteKey,
      name: listName,
      /** In the format of the list. */
      content: z.string(),
      /** A change of any size. */
      acceptChange: z._default(z.boolean(), false),
    }),
    response: listStatus,
    async handler({ body: { siteKey: wanted, name, content, acceptChange }, ...context }) {
      const { store } = context;
      const { instance, book } = await instanceRuleBook(context, wanted);
      const list = await findList(store, instance.id, name);
      if (list === null) throw noSuchList();
      const { settings } = list;
      context.changes.name('list', name);
      if (settings.url !== null) {
        throw new OperationError('API.CONFLICT', 'This list is a subscription. Its publisher replaces it');
      }
      const read = await readContent(content, settings);
      if (!read.ok)
        throw new OperationError('API.INVALID_BODY', listErrorText(read.error), [
          { path: 'content', message: 'is no list in this format' },
        ]);
      const layer = { name, verdict: settings.verdict, mode: settings.mode };
      const bounds = acceptChange ? null : changeBounds(settings);
      const held = await beginReading(store, list, Date.now() + READING_MS, Date.now());
      if (held === null) throw beingRead();
      const applied = await applyEntries(book, layer, read.value.entries, bounds, Date.now).catch((error: unknown) => {
        console.error(
          JSON.stringify({ level: 'error', event: 'list-replace-failed', list: name, message: String(error) }),
        );
        return failed({ message: 'The list could not be stored', hasChanged: true });
      });
      if (!applied.ok) {
        const { message, hasChanged } = applied.error;
        if (hasChanged) await noteListFailure(store, held, message, { dueAt: null, nowMs: Date.now(), mustSync: true });
        else await endReading(store, held);
        throw new OperationError('API.CONFLICT', message);
      }
      const reading = { etag: null, lastModified: null, syncedAt: null, dueAt: null };
      await noteReading(
        store,
        held,
        { change: { ...applied.value, report: read.value.report }, ...reading },
        Date.now(),
      );
      const now = await followChanges(store, held, Date.now());
      if (now === null) throw noSuchList();
      return listResponse(now);
    },
  }),
];
