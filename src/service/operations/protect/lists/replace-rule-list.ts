/**
 * `POST /protect/lists/replace`: makes a file the whole content of a list. Entries that are not in the file leave the
 * list; a file with mistakes is taken without them, and the report names them.
 */
import * as z from 'zod/mini';
import { listName, listStatus } from '../../../../contract/management/lists.ts';
import { listErrorText } from '../../../../lists/list-format.ts';
import { beginReading, endReading, noteListFailure, noteReading } from '../../../../store/d1/rule-list-readings.ts';
import { findList } from '../../../../store/d1/rule-lists.ts';
import { applyEntries } from '../../../lists/apply-entries.ts';
import { followChanges } from '../../../lists/follow-changes.ts';
import { readContent } from '../../../lists/read-content.ts';
import { changeBounds, READING_MS } from '../../../lists/refresh-list.ts';
import { failed } from '../../../../result.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { instanceRuleBook, siteKey } from '../access-rules/instance-rule-book.ts';
import { beingRead, listResponse, noSuchList } from './list-response.ts';

/** A million addresses, one in a line. */
export const CONTENT_MAX_BODY_BYTES = 17 * 1024 * 1024;

export const replaceRuleList = operation({
  name: 'replace-rule-list',
  method: 'POST',
  path: '/protect/lists/replace',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Replace the content of a list with a file',
  maxBodyBytes: CONTENT_MAX_BODY_BYTES,
  body: z.strictObject({
    siteKey,
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
    await noteReading(store, held, { change: { ...applied.value, report: read.value.report }, ...reading }, Date.now());
    const now = await followChanges(store, held, Date.now());
    if (now === null) throw noSuchList();
    return listResponse(now);
  },
});
