/** Bots that the gate knows: those of the catalogue, and those that the account has added. */
import * as z from 'zod/mini';
import { pageLimit, pageNumber } from '../../pages.ts';
import { namedBehaviours } from '../../../../contract/vocabulary.ts';
import { OWN_BOTS_MAX, ownBotsOf, putOwnBot, removeOwnBot } from '../../../../store/d1/own-bots.ts';
import { filteredBots, knownBots, provedBy, publishedLists } from '../../../bots/known-bots.ts';
import { type Operation, protectOperation } from '../../define-operation.ts';
import { catalogueBotId } from '../../../../bots/catalogue.ts';
import { OperationError } from '../../operation-error.ts';
import { rangeStates } from '../../../../store/d1/bot-ranges.ts';
import { type OwnBot, ownBot } from '../../../../bots/own-bot.ts';
import { offerAccountTable } from '../../../bots/build-bot-table.ts';

const knownBot = z.object({
  id: z.string(),
  name: z.string(),
  operator: z.nullable(z.string()),
  behaviours: z.array(z.enum(namedBehaviours)),
  patterns: z.array(z.string()),
  tokens: z.array(z.string()),
  ranges: z.array(z.string()),
  networks: z.array(z.string()),
  dns: z.array(z.string()),
  agents: z.array(z.string()),
  isComplete: z.boolean(),
  isOwn: z.boolean(),
});

/** A bot that the account has added, in the form in which it is added. */
const ownBotResponse = z.object({
  id: z.string(),
  behaviours: z.array(z.enum(namedBehaviours)),
  patterns: z.array(z.string()),
  tokens: z.array(z.string()),
  networks: z.array(z.string()),
  isComplete: z.boolean(),
});

const PAGE_BOTS_DEFAULT = 100;
const PAGE_BOTS_MAX = 1000;
const SEARCH_MAX_CHARS = 128;

export const botOperations: readonly Operation[] = [
  /** One page of the catalogue and of the bots that the account has added. */
  protectOperation({
    name: 'list-bots',
    path: '/protect/bots',
    access: 'read',
    summary: 'List and search bots',
    body: z.strictObject({
      search: z.optional(z.string().check(z.maxLength(SEARCH_MAX_CHARS))),
      behaviour: z.optional(z.enum(namedBehaviours)),
      proof: z.optional(z.enum(provedBy)),
      isOwn: z.optional(z.boolean()),
      page: pageNumber,
      limit: pageLimit(PAGE_BOTS_MAX, PAGE_BOTS_DEFAULT),
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
  }),
  /** One bot of the catalogue, or one that the account has added. */
  protectOperation({
    name: 'get-bot',
    path: '/protect/bots/get',
    access: 'read',
    summary: 'Get a bot',
    body: z.strictObject({ id: catalogueBotId }),
    response: knownBot,
    async handler({ store, account, body: { id } }) {
      const bot = knownBots(await ownBotsOf(store, account.id)).find((one) => one.id === id);
      if (bot === undefined)
        throw new OperationError('API.NOT_FOUND', 'No bot of the catalogue or the account has this id');
      return bot;
    },
  }),
  /**
   * The lists of networks that operators of bots publish, and how old each is. All accounts of the service share them,
   * so no account can change them: the command line of the service can.
   */
  protectOperation({
    name: 'list-bot-lists',
    path: '/protect/bots/lists',
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
  }),
  /** The bots that the account has added, each in a form that can be sent back. */
  protectOperation({
    name: 'list-own-bots',
    path: '/protect/bots/own',
    access: 'read',
    summary: 'List the bots that the account has added',
    body: z.strictObject({}),
    response: z.object({ bots: z.array(ownBotResponse) }),
    async handler({ store, account }) {
      return { bots: await ownBotsOf(store, account.id) };
    },
  }),
  /**
   * Adds a bot to the account's catalogue, or replaces it. The account's table is compiled in the same call, so that
   * edges have it with their next poll.
   */
  protectOperation({
    name: 'add-own-bot',
    path: '/protect/bots/own/add',
    access: 'write',
    summary: 'Add or replace a bot of the account',
    body: ownBot,
    response: ownBotResponse,
    async handler({ store, account, body, nowMs, changes }) {
      const before = (await ownBotsOf(store, account.id)).find(({ id }) => id === body.id) ?? null;
      if (!(await putOwnBot(store, account.id, body))) {
        throw new OperationError(
          'API.TOO_MANY_ITEMS',
          `The account has ${OWN_BOTS_MAX} bots of its own. Remove one first`,
        );
      }
      changes.note('bot', [{ name: body.id, before: before && botFields(before), after: botFields(body) }]);
      await offerAccountTable(store, account.id, nowMs);
      return body;
    },
  }),
  /** Removes a bot that the account has added. One of the catalogue returns in its place. */
  protectOperation({
    name: 'remove-own-bot',
    path: '/protect/bots/own/remove',
    access: 'write',
    summary: 'Remove a bot of the account',
    body: z.strictObject({ id: catalogueBotId }),
    response: z.object({ success: z.literal(true), id: z.string() }),
    async handler({ store, account, body: { id }, nowMs, changes }) {
      if (!(await removeOwnBot(store, account.id, id))) {
        throw new OperationError('API.NOT_FOUND', 'The account has added no bot with this id');
      }
      changes.note('bot', [{ name: id, before: {}, after: null }]);
      await offerAccountTable(store, account.id, nowMs);
      return { success: true, id };
    },
  }),
];

function botFields({ id: _id, ...fields }: OwnBot): object {
  return fields;
}
