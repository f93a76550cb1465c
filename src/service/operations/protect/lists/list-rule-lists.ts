/** `POST /protect/lists`: the lists of an instance, by name, with their state. */
import * as z from 'zod/mini';
import { listStatus } from '../../../../contract/management/lists.ts';
import { listsOf } from '../../../../store/d1/rule-lists.ts';
import { operation } from '../../define-operation.ts';
import { siteKey } from '../access-rules/instance-rule-book.ts';
import { chosenInstance } from '../chosen-instance.ts';
import { listResponse } from './list-response.ts';

export const listRuleLists = operation({
  name: 'list-rule-lists',
  method: 'POST',
  path: '/protect/lists',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List the blocklists and allowlists of an instance',
  body: z.strictObject({ siteKey }),
  response: z.object({ lists: z.array(listStatus) }),
  async handler({ body, ...context }) {
    const instance = await chosenInstance(context, body.siteKey);
    return { lists: (await listsOf(context.store, instance.id)).map(listResponse) };
  },
});
