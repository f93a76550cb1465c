/**
 * `POST /protect/lists/replace`: makes a file the whole content of a list. Entries that are not in the file leave the
 * list; a file with mistakes is taken without them, and the report names them.
 */
import * as z from 'zod/mini';
import { listName, listStatus } from '../../../../contract/management/lists.ts';
import { listErrorText } from '../../../../lists/list-format.ts';
import { findList, noteReading } from '../../../../store/d1/rule-lists.ts';
import { applyEntries } from '../../../lists/apply-entries.ts';
import { followChanges } from '../../../lists/follow-changes.ts';
import { readContent } from '../../../lists/read-content.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { instanceRuleBook, siteKey } from '../access-rules/instance-rule-book.ts';
import { listResponse, noSuchList } from './list-response.ts';

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
    const maxChange = acceptChange ? null : settings.maxChangePercent;
    const applied = await applyEntries(book, layer, read.value.entries, maxChange, Date.now);
    if (!applied.ok) throw new OperationError('API.CONFLICT', applied.error.message);
    const reading = { etag: null, lastModified: null, syncedAt: null, dueAt: null };
    await noteReading(store, list, { change: { ...applied.value, report: read.value.report }, ...reading }, Date.now());
    const now = await followChanges(store, list, Date.now());
    if (now === null) throw noSuchList();
    return listResponse(now);
  },
});
