/**
 * `POST /protect/lists/create`: subscribes to a list, or makes room for a file. It is monitored unless the caller says
 * otherwise, and read with the next scheduled run, or with `refresh`.
 */
import * as z from 'zod/mini';
import { listDefaults } from '../../../../contract/management/list-defaults.ts';
import { listFields, listName, listStatus } from '../../../../contract/management/lists.ts';
import { createList, deleteList } from '../../../../store/d1/rule-lists.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { instanceRuleBook, siteKey } from '../access-rules/instance-rule-book.ts';
import { listResponse } from './list-response.ts';
import { checkedSettings } from './list-settings.ts';

export const createRuleList = operation({
  name: 'create-rule-list',
  method: 'POST',
  path: '/protect/lists/create',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Subscribe to a list, or create one that is a file',
  body: z.strictObject({
    siteKey,
    name: listName,
    url: z._default(listFields.url, listDefaults.url),
    format: z._default(listFields.format, listDefaults.format),
    column: z._default(listFields.column, listDefaults.column),
    selector: z._default(listFields.selector, listDefaults.selector),
    authorization: z._default(listFields.authorization, listDefaults.authorization),
    verdict: z._default(listFields.verdict, listDefaults.verdict),
    mode: z._default(listFields.mode, listDefaults.mode),
    intervalMinutes: z._default(listFields.intervalMinutes, listDefaults.intervalMinutes),
    expirySeconds: z._default(listFields.expirySeconds, listDefaults.expirySeconds),
    maxChangePercent: z._default(listFields.maxChangePercent, listDefaults.maxChangePercent),
    includeReserved: z._default(listFields.includeReserved, listDefaults.includeReserved),
  }),
  response: listStatus,
  async handler({ body: { siteKey: wanted, name, authorization, ...given }, ...context }) {
    const { instance, book } = await instanceRuleBook(context, wanted);
    const settings = checkedSettings(given);
    const key = { instanceId: instance.id, name };
    const created = await createList(context.store, key, settings, authorization, context.nowMs);
    if (created === null) throw new OperationError('API.CONFLICT', 'The instance has a list with this name');
    const { verdict, mode } = settings;
    // What a stopped refresh of a deleted list has left is not this list.
    await book.removeList(name, context.nowMs);
    const put = await book.putList({ name, verdict, mode }, context.nowMs);
    if (put.ok) return listResponse(created);
    await deleteList(context.store, key);
    throw new OperationError(
      'API.TOO_MANY_ITEMS',
      `An instance holds at most ${put.error.limit} lists. Delete one first, or try again later if you have deleted many`,
    );
  },
});
