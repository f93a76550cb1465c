/** `POST /protect/lists/delete`: unsubscribes. Exactly the entries of this list lose their effect. */
import * as z from 'zod/mini';
import { listName } from '../../../../contract/management/lists.ts';
import { deleteList, findList } from '../../../../store/d1/rule-lists.ts';
import { operation } from '../../define-operation.ts';
import { instanceRuleBook, siteKey } from '../access-rules/instance-rule-book.ts';
import { noSuchList } from './list-response.ts';

export const deleteRuleList = operation({
  name: 'delete-rule-list',
  method: 'POST',
  path: '/protect/lists/delete',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Unsubscribe from a list and remove its entries',
  body: z.strictObject({ siteKey, name: listName }),
  response: z.object({ success: z.literal(true), name: z.string() }),
  async handler({ body: { siteKey: wanted, name }, ...context }) {
    const { instance, book } = await instanceRuleBook(context, wanted);
    const known = await findList(context.store, instance.id, name);
    // Entries first: a list that is still listed can be deleted again.
    const wasInForce = await book.removeList(name, context.nowMs);
    // A refresh that was stopped while the list was deleted may have left entries, which nothing else removes.
    if (known === null && !wasInForce) throw noSuchList();
    if (known !== null) await deleteList(context.store, known);
    // A refresh that was under way may have put it in force again.
    await book.removeList(name, context.nowMs);
    return { success: true, name };
  },
});
