/** `POST /protect/instances`: every instance of the account; a deleted instance is inactive. */
import * as z from 'zod/mini';
import { instancesOfAccount } from '../../../../store/d1/instances.ts';
import { operation } from '../../define-operation.ts';
import { instanceResponse, instanceSchema } from './instance-response.ts';

export const listInstances = operation({
  name: 'list-instances',
  method: 'POST',
  path: '/protect/instances',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List Protect instances',
  body: z.strictObject({}),
  response: z.array(instanceSchema),
  async handler({ store, account }) {
    return (await instancesOfAccount(store, account.id)).map(instanceResponse);
  },
});
