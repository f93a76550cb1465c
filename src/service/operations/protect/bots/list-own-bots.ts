/** `POST /protect/bots/own`: the bots that the account has added, each in a form that can be sent back. */
import * as z from 'zod/mini';
import { ownBotsOf } from '../../../../store/d1/own-bots.ts';
import { operation } from '../../define-operation.ts';
import { ownBotResponse } from './bot-response.ts';

export const listOwnBots = operation({
  name: 'list-own-bots',
  method: 'POST',
  path: '/protect/bots/own',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List the bots that the account has added',
  body: z.strictObject({}),
  response: z.object({ bots: z.array(ownBotResponse) }),
  async handler({ store, account }) {
    return { bots: await ownBotsOf(store, account.id) };
  },
});
