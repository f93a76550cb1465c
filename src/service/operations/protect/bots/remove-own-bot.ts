/** `POST /protect/bots/own/remove`: removes a bot that the account has added. One of the catalogue returns in its place. */
import * as z from 'zod/mini';
import { botId } from '../../../../bots/catalogue.ts';
import { removeOwnBot as removeStored } from '../../../../store/d1/own-bots.ts';
import { offerAccountTable } from '../../../bots/build-bot-table.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';

export const removeOwnBot = operation({
  name: 'remove-own-bot',
  method: 'POST',
  path: '/protect/bots/own/remove',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Remove a bot of the account',
  body: z.strictObject({ id: botId }),
  response: z.object({ success: z.literal(true), id: z.string() }),
  async handler({ store, account, body: { id }, nowMs }) {
    if (!(await removeStored(store, account.id, id))) {
      throw new OperationError('API.NOT_FOUND', 'The account has added no bot with this id');
    }
    await offerAccountTable(store, account.id, nowMs);
    return { success: true, id };
  },
});
