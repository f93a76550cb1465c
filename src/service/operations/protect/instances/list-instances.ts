/** `POST /protect/instances` (interface document 4.8): every instance of the account, deleted ones as inactive. */
import * as z from 'zod/mini';
import { instancesOfAccount } from '../../../../store/d1/instances.ts';
import { operation } from '../../define-operation.ts';
import { answerOf, instanceAnswer } from './instance-response.ts';

export const listInstances = operation({
  name: 'list-instances',
  method: 'POST',
  path: '/protect/instances',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List Protect instances',
  body: z.strictObject({}),
  response: z.array(instanceAnswer),
  async handler({ store, account }) {
    return (await instancesOfAccount(store, account.id)).map(answerOf);
  },
});
