/**
 * `POST /protect/lists/refresh`: reads a list now. What went wrong is in the list's `error`, and the last good reading
 * stays in force.
 */
import * as z from 'zod/mini';
import { listName, listStatus } from '../../../../contract/management/lists.ts';
import { beginReading } from '../../../../store/d1/rule-list-readings.ts';
import { findList } from '../../../../store/d1/rule-lists.ts';
import { READING_MS, refreshList } from '../../../lists/refresh-list.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { siteKey } from '../access-rules/instance-rule-book.ts';
import { chosenInstance } from '../chosen-instance.ts';
import { beingRead, listResponse, noSuchList } from './list-response.ts';
import { checkReadings } from './reading-limit.ts';

export const refreshRuleList = operation({
  name: 'refresh-rule-list',
  method: 'POST',
  path: '/protect/lists/refresh',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Read a list now',
  body: z.strictObject({
    siteKey,
    name: listName,
    /** Once, a change of any size. */
    acceptChange: z._default(z.boolean(), false),
  }),
  response: z.object({ isRead: z.boolean(), list: listStatus }),
  async handler({ body: { siteKey: wanted, name, acceptChange }, ...context }) {
    const { store, outbound } = context;
    const instance = await chosenInstance(context, wanted);
    const list = await findList(store, instance.id, name);
    if (list === null) throw noSuchList();
    if (list.settings.url === null) {
      throw new OperationError('API.CONFLICT', 'This list is a file. Send its content to /protect/lists/replace');
    }
    checkReadings(context);
    const held = await beginReading(store, list, Date.now() + READING_MS, Date.now());
    if (held === null) throw beingRead();
    const refreshed = await refreshList({ store, outbound, now: Date.now }, held, acceptChange);
    const now = await findList(store, instance.id, name);
    if (now === null) throw noSuchList();
    return { isRead: refreshed.ok, list: listResponse(now) };
  },
});
