/** `POST /protect/bots/get`: one bot of the catalogue, or one that the account has added. */
import * as z from 'zod/mini';
import { botId } from '../../../../bots/catalogue.ts';
import { ownBotsOf } from '../../../../store/d1/own-bots.ts';
import { knownBots } from '../../../bots/known-bots.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { knownBot } from './bot-response.ts';

export const getBot = operation({
  name: 'get-bot',
  method: 'POST',
  path: '/protect/bots/get',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Get a bot',
  body: z.strictObject({ id: botId }),
  response: knownBot,
  async handler({ store, account, body: { id } }) {
    const bot = knownBots(await ownBotsOf(store, account.id)).find((one) => one.id === id);
    if (bot === undefined)
      throw new OperationError('API.NOT_FOUND', 'No bot of the catalogue or the account has this id');
    return bot;
  },
});
