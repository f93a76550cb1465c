/** `POST /protect/bots`: one page of the catalogue and of the bots that the account has added. */
import * as z from 'zod/mini';
import { botBehaviours } from '../../../../contract/vocabulary.ts';
import { ownBotsOf } from '../../../../store/d1/own-bots.ts';
import { filteredBots, knownBots, provedBy } from '../../../bots/known-bots.ts';
import { operation } from '../../define-operation.ts';
import { knownBot } from './bot-response.ts';

const PAGE_BOTS_DEFAULT = 100;
const PAGE_BOTS_MAX = 1000;
const PAGE_MAX = 1_000_000;
const SEARCH_MAX_CHARS = 128;

export const listBots = operation({
  name: 'list-bots',
  method: 'POST',
  path: '/protect/bots',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List and search bots',
  body: z.strictObject({
    search: z.optional(z.string().check(z.maxLength(SEARCH_MAX_CHARS))),
    behaviour: z.optional(z.enum(botBehaviours)),
    proof: z.optional(z.enum(provedBy)),
    isOwn: z.optional(z.boolean()),
    /** From 1. */
    page: z._default(z.int().check(z.gte(1), z.lte(PAGE_MAX)), 1),
    limit: z._default(z.int().check(z.gte(1), z.lte(PAGE_BOTS_MAX)), PAGE_BOTS_DEFAULT),
  }),
  response: z.object({
    bots: z.array(knownBot),
    /** Bots that match, on all pages. */
    botCount: z.int(),
    page: z.int(),
    pages: z.int(),
  }),
  async handler({ store, account, body: { page, limit, ...filter } }) {
    const found = filteredBots(knownBots(await ownBotsOf(store, account.id)), filter);
    return {
      bots: found.slice((page - 1) * limit, page * limit),
      botCount: found.length,
      page,
      pages: Math.ceil(found.length / limit),
    };
  },
});
