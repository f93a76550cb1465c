/**
 * `POST /protect/bots/own/add`: adds a bot to the account's catalogue, or replaces it. The account's table is compiled in
 * the same call, so that edges have it with their next poll.
 */
import { ownBot } from '../../../../bots/own-bot.ts';
import { OWN_BOTS_MAX, putOwnBot } from '../../../../store/d1/own-bots.ts';
import { offerAccountTable } from '../../../bots/build-bot-table.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { ownBotResponse } from './bot-response.ts';

export const addOwnBot = operation({
  name: 'add-own-bot',
  method: 'POST',
  path: '/protect/bots/own/add',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'write',
  summary: 'Add or replace a bot of the account',
  body: ownBot,
  response: ownBotResponse,
  async handler({ store, account, body, nowMs }) {
    if (!(await putOwnBot(store, account.id, body))) {
      throw new OperationError(
        'API.TOO_MANY_ITEMS',
        `The account has ${OWN_BOTS_MAX} bots of its own. Remove one first`,
      );
    }
    await offerAccountTable(store, account.id, nowMs);
    return body;
  },
});
