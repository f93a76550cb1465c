/**
 * `POST /protect/bots/lists`: the lists of networks that operators of bots publish, and how old each is. All accounts of
 * the service share them, so no account can change them: the command line of the service can.
 */
import * as z from 'zod/mini';
import { rangeStates } from '../../../../store/d1/bot-ranges.ts';
import { publishedLists } from '../../../bots/known-bots.ts';
import { operation } from '../../define-operation.ts';

export const listBotLists = operation({
  name: 'list-bot-lists',
  method: 'POST',
  path: '/protect/bots/lists',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List the networks that operators of bots publish',
  body: z.strictObject({}),
  response: z.object({
    lists: z.array(
      z.object({
        url: z.string(),
        bots: z.array(z.string()),
        networkCount: z.int(),
        confirmedAt: z.nullable(z.int()),
        triedAt: z.nullable(z.int()),
        changedAt: z.nullable(z.int()),
        error: z.nullable(z.string()),
        waitsForAccept: z.boolean(),
      }),
    ),
  }),
  async handler({ store }) {
    return { lists: publishedLists(await rangeStates(store)) };
  },
});
